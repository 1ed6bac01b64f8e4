import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HttpRequest } from '../../http/http-message.ts';
import { contentRoutes } from './content-routes.ts';

const [png, svg, html] = [
  Buffer.from('\x89PNG\r\n\x1a\n rest', 'latin1'),
  Buffer.from('<svg onload="alert(1)"/>'),
  Buffer.from('<script>alert(1)</script>'),
];
const hashes = { png: 'a'.repeat(64), svg: 'b'.repeat(64), html: 'c'.repeat(64) };
const stored = new Map([
  [hashes.png, png],
  [hashes.svg, svg],
  [hashes.html, html],
]);

async function get(sha256: string, name: string | null = null, headers: Record<string, string> = {}) {
  const [route] = contentRoutes({ content: (hash) => Promise.resolve(stored.get(hash) ?? null) });
  assert.ok(route);
  const request: HttpRequest = {
    method: 'GET',
    path: '',
    params: { sha256 },
    query: new URLSearchParams(name === null ? {} : { name }),
    header: (wanted) => headers[wanted],
    signal: new AbortController().signal,
    body: (async function* () {})(),
  };
  return route.handle(request);
}

test('a picture is shown in place, all else is for saving, and nothing can run', async () => {
  const picture = await get(hashes.png, 'cat.png');
  assert.deepEqual(picture, {
    status: 200,
    headers: {
      'content-type': 'image/png',
      'content-disposition': `inline; filename="cat.png"; filename*=UTF-8''cat.png`,
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
      'cross-origin-resource-policy': 'same-origin',
      'cache-control': 'private, max-age=3600, immutable',
      etag: `"${hashes.png}"`,
    },
    body: png,
  });
  for (const hash of [hashes.svg, hashes.html]) {
    const { headers } = await get(hash, 'cat.png');
    assert.equal(headers?.['content-type'], 'application/octet-stream');
    assert.match(headers['content-disposition'] ?? '', /^attachment;/);
  }
});

test('no name gets out of its header', async () => {
  const { headers } = await get(hashes.html, 'a"; b\r\nset-cookie: x=1/../é’.pdf');
  assert.equal(
    headers?.['content-disposition'],
    `attachment; filename="a__ b__set-cookie: x=1_..___.pdf"; filename*=UTF-8''a%22%3B%20b__set-cookie%3A%20x%3D1_.._%C3%A9%E2%80%99.pdf`,
  );
  assert.equal((await get(hashes.html)).headers?.['content-disposition'], 'attachment');
});

test('what is not there, or is no hash, is not found; what is known is not sent again', async () => {
  for (const wanted of ['d'.repeat(64), '', '../etc/passwd', hashes.png.toUpperCase()]) {
    await assert.rejects(get(wanted), { status: 404 });
  }
  const again = await get(hashes.png, null, { 'if-none-match': `"${hashes.png}"` });
  assert.deepEqual([again.status, again.body], [304, undefined]);
});
