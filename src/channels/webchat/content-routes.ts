/**
 * Bytes that sessions refer to, by their hash. Whatever they are, they do nothing here: only pictures of harmless kinds,
 * told by their own bytes, are shown in place; all else is for saving.
 */
import { HttpProblem, type HttpRequest, type HttpResponse } from '../../http/http-message.ts';
import type { Route } from '../../http/router.ts';
import { imageKind } from '../../lib/image-kind.ts';
import type { TalariaApi } from '../../protocol/api.ts';

const nameCharsMax = 200;
/** The bytes behind a hash never change, but they may go with their session. */
const cacheSeconds = 3_600;

export function contentRoutes(api: Pick<TalariaApi, 'content'>): Route[] {
  return [{ method: 'GET', path: '/api/contents/:sha256', handle: (request) => giveContent(api, request) }];
}

async function giveContent(api: Pick<TalariaApi, 'content'>, request: HttpRequest): Promise<HttpResponse> {
  const sha256 = request.params['sha256'] ?? '';
  const bytes = /^[0-9a-f]{64}$/.test(sha256) ? await api.content(sha256) : null;
  if (bytes === null) {
    throw new HttpProblem(404, 'not-found', 'There is no such file any more: its session may have been deleted.');
  }
  // No SVG among them: that is a program.
  const picture = imageKind(bytes);
  const name = request.query.get('name') ?? '';
  const headers = {
    'content-type': picture ?? 'application/octet-stream',
    'content-disposition': `${picture === null ? 'attachment' : 'inline'}${fileName(name)}`,
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; sandbox",
    'cross-origin-resource-policy': 'same-origin',
    'cache-control': `private, max-age=${cacheSeconds}, immutable`,
    etag: `"${sha256}"`,
  };
  if (request.header('if-none-match') === headers.etag) return { status: 304, headers };
  return { status: 200, headers, body: bytes };
}

/** As RFC 6266 has it: plain for those who know no better, and exactly. */
function fileName(name: string): string {
  const clean = name
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Cf}/\\]/gu, '_')
    .slice(0, nameCharsMax)
    .toWellFormed();
  if (clean.trim() === '') return '';
  const plain = clean.replaceAll(/[^ -~]|["%;]/g, '_');
  const exact = encodeURIComponent(clean).replaceAll(/['()*!]/g, (char) => `%${char.charCodeAt(0).toString(16)}`);
  return `; filename="${plain}"; filename*=UTF-8''${exact}`;
}
