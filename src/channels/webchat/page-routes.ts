/** The web page itself: three files, read once when first asked for, with a policy that lets nothing in from outside. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { problem, type HttpResponse } from '../../http/http-message.ts';
import type { Route } from '../../http/router.ts';

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

const files = [
  { path: '/', file: 'index.html', type: 'text/html; charset=utf-8' },
  { path: '/assets/app.js', file: 'app.js', type: 'text/javascript; charset=utf-8' },
  { path: '/assets/app.css', file: 'app.css', type: 'text/css; charset=utf-8' },
  { path: '/assets/icon.svg', file: 'icon.svg', type: 'image/svg+xml' },
  { path: '/favicon.ico', file: 'icon.svg', type: 'image/svg+xml' },
];

export function pageRoutes(folder: string): Route[] {
  const cache = new Map<string, Loaded>();
  return files.map(({ path, file, type }) => ({
    method: 'GET',
    path,
    async handle(request) {
      const known = cache.get(path) ?? (await load(join(folder, file), type));
      if (known === null) return problem(404, 'not-found', 'The web page is not built. Run: npm run build');
      cache.set(path, known);
      if (request.header('if-none-match') === known.headers['etag']) return { status: 304, headers: known.headers };
      return known;
    },
  }));
}

interface Loaded extends HttpResponse {
  readonly headers: Record<string, string>;
}

async function load(path: string, type: string): Promise<Loaded | null> {
  let body: Buffer;
  try {
    body = await readFile(path);
  } catch {
    return null;
  }
  const headers = {
    'content-type': type,
    'content-security-policy': policy,
    'referrer-policy': 'no-referrer',
    // Asked for again each time, and not sent again unless it changed.
    'cache-control': 'no-cache',
    etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`,
    'x-frame-options': 'DENY',
    'cross-origin-opener-policy': 'same-origin',
  };
  return { status: 200, headers, body };
}
