import assert from 'node:assert/strict';
import { test } from 'node:test';
import { json, type HttpRequest } from './http-message.ts';
import { createRouter } from './router.ts';

const router = createRouter([
  { method: 'GET', path: '/things', handle: () => json('all') },
  { method: 'GET', path: '/things/:ref', handle: (request) => json(request.params) },
  { method: 'DELETE', path: '/things/:ref', handle: () => json('gone') },
]);

function ask(method: string, path: string) {
  const request: Omit<HttpRequest, 'params'> = {
    method,
    path,
    query: new URLSearchParams(),
    header: () => undefined,
    signal: new AbortController().signal,
    body: (async function* () {})(),
  };
  return router(request);
}

test('a segment of the pattern becomes a decoded parameter', async () => {
  assert.equal((await ask('GET', '/things/a%2Fb%20c')).body, '{"ref":"a/b c"}\n');
});

test('HEAD is served like GET', async () => {
  assert.equal((await ask('HEAD', '/things')).status, 200);
});

test('another method of a known path is named as the mistake', async () => {
  const response = await ask('POST', '/things/x');
  assert.equal(response.status, 405);
  assert.equal(response.headers?.['allow'], 'GET, DELETE, HEAD');
});

test('unknown paths, empty segments and broken escapes are not found', async () => {
  for (const path of ['/', '/thing', '/things/', '/things/a/b', '/things/%E0%A4%A']) {
    assert.equal((await ask('GET', path)).status, 404, path);
  }
});
