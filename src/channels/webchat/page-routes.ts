/** The web page itself: three files, read once when first asked for, with a policy that lets nothing in from outside. */
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
  const cache = new Map<string, HttpResponse>();
  return files.map(({ path, file, type }) => ({
    method: 'GET',
    path,
    async handle() {
      const known = cache.get(path);
      if (known !== undefined) return known;
      let body: Buffer;
      try {
        body = await readFile(join(folder, file));
      } catch {
        return problem(404, 'not-found', 'The web page is not built. Run: npm run build');
      }
      const headers = {
        'content-type': type,
        'content-security-policy': policy,
        'referrer-policy': 'no-referrer',
        'cache-control': 'no-cache',
        'x-frame-options': 'DENY',
        'cross-origin-opener-policy': 'same-origin',
      };
      const response = { status: 200, headers, body };
      cache.set(path, response);
      return response;
    },
  }));
}
