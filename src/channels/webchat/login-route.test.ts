import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hashKey } from '../../http/access-key.ts';
import { createKeyRing } from '../../http/key-ring.ts';
import { createRouter } from '../../http/router.ts';
import { loginPath, loginRoute } from './login-route.ts';

test('a browser gets a cookie for the key of the owner, and none for the key of a program', async () => {
  const hashes = [{ name: 'laptop', sha256: hashKey('key of laptop') }];
  const route = createRouter([loginRoute(createKeyRing({ hashes: () => hashes, plain: () => 'key of the owner' }))]);
  const login = (key: string) =>
    route({
      method: 'POST',
      path: loginPath,
      query: new URLSearchParams(),
      header: (name) => (name === 'content-type' ? 'application/json' : undefined),
      signal: new AbortController().signal,
      body: (async function* () {
        yield Buffer.from(JSON.stringify({ key }));
      })(),
    });
  const { status, headers = {} } = await login('key of the owner');
  assert.equal(status, 204);
  assert.match(headers['set-cookie'] ?? '', /^talaria_login=[0-9a-f]{64}; .*HttpOnly/);
  await assert.rejects(login('key of laptop'), { status: 401 });
  await assert.rejects(login('wrong'), { status: 401 });
});
