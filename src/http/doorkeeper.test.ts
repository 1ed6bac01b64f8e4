import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '../lib/fake-clock.ts';
import { hashKey, loginCookie } from './access-key.ts';
import { createDoorkeeper } from './doorkeeper.ts';
import { HttpProblem, json, type HttpResponse } from './http-message.ts';
import { createKeyRing, type KeyHash } from './key-ring.ts';
import { eventStream } from './server-sent-events.ts';
import { createWrongKeyLimit } from './wrong-key-limit.ts';

const headersOfKey = (key: string) => ({ authorization: `Bearer ${key}` });

function setUp(names: readonly string[], loopback = true) {
  const clock = new FakeClock();
  const hashes: KeyHash[] = names.map((name) => ({ name, sha256: hashKey(`key of ${name}`) }));
  const door = createDoorkeeper(
    {
      ring: createKeyRing({ hashes: () => hashes, plain: () => null }),
      wrongKeys: createWrongKeyLimit(clock),
      loopback,
      isOpen: (path) => path === '/open',
      loginPath: '/login',
      keyWanted: 'Show the key.',
    },
    async ({ path, principal = null, signal }) => {
      if (path === '/silent') {
        const events = (async function* () {
          yield { data: 'once' };
          await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
        })();
        return eventStream(clock, events);
      }
      if (path === '/stream')
        return {
          status: 200,
          body: (async function* () {
            for (;;) yield 'piece';
          })(),
        };
      if (path === '/login') throw new HttpProblem(401, 'unauthorized', 'That is not the key.');
      return json({ path, principal });
    },
  );
  const ask = (path: string, headers: Record<string, string> = {}, peer = '192.0.2.1'): Promise<HttpResponse> => {
    const all: Record<string, string> = { host: 'localhost', ...headers };
    const { signal } = new AbortController();
    const body = (async function* () {})();
    return door({ method: 'GET', path, query: new URLSearchParams(), header: (name) => all[name], peer, signal, body });
  };
  const status = async (...args: Parameters<typeof ask>) => (await ask(...args)).status;
  return { clock, hashes, ask, status };
}

test('without any key the owner of this machine is let in, under the names of this machine only', async () => {
  const { ask, status } = setUp([]);
  assert.equal((await ask('/x')).body, '{"path":"/x","principal":null}\n');
  assert.equal(await status('/x', { host: 'evil.example' }), 403);
  assert.equal(await status('/open', { host: 'evil.example' }), 403);
  assert.equal(await status('/x', { origin: 'http://evil.example' }), 403);
});

test('with keys each request is passed on with the name of its key', async () => {
  const { ask, status } = setUp(['phone', 'laptop']);
  assert.equal(await status('/x'), 401);
  assert.equal((await ask('/x', headersOfKey('key of laptop'))).body, '{"path":"/x","principal":"laptop"}\n');
  const cookie = loginCookie('key of phone').split(';')[0] ?? '';
  assert.equal((await ask('/x', { cookie })).body, '{"path":"/x","principal":"phone"}\n');
  assert.equal((await ask('/open')).body, '{"path":"/open","principal":null}\n');
});

test('with keys a proxy may pass on the name that people use, but pages from elsewhere stay out', async () => {
  const { status } = setUp(['phone']);
  const proxied = { ...headersOfKey('key of phone'), host: 'talaria.example' };
  assert.equal(await status('/x', proxied), 200);
  assert.equal(await status('/x', { ...proxied, origin: 'https://talaria.example' }), 200);
  assert.equal(await status('/x', { ...proxied, origin: 'https://evil.example' }), 403);
});

test('after ten wrong keys the address waits, with a right one too, wherever they were shown', async () => {
  const { ask, status, clock } = setUp(['phone']);
  for (let time = 0; time < 5; time++) assert.equal(await status('/x', headersOfKey('wrong')), 401);
  for (let time = 0; time < 5; time++) await assert.rejects(ask('/login'), HttpProblem);
  const refused = await ask('/x', headersOfKey('key of phone'));
  assert.deepEqual([refused.status, refused.headers?.['retry-after']], [429, '60']);
  assert.equal(await status('/login'), 429);
  assert.equal(await status('/x', headersOfKey('key of phone'), '192.0.2.2'), 200);
  await clock.advance(60_000);
  assert.equal(await status('/x', headersOfKey('key of phone')), 200);
});

test('no key and an old cookie are refused but not counted, and a good cookie is good during a wait', async () => {
  const { status } = setUp(['phone']);
  for (let time = 0; time < 20; time++) {
    assert.equal(await status('/x'), 401);
    assert.equal(await status('/x', { cookie: 'talaria_login=old' }), 401);
  }
  for (let time = 0; time < 10; time++) await status('/x', headersOfKey('wrong'));
  assert.equal(await status('/x', { cookie: loginCookie('key of phone').split(';')[0] ?? '' }), 200);
});

test('without any key others get nothing from a server that they can reach: the last one may have been revoked', async () => {
  const { hashes, status } = setUp(['phone'], false);
  assert.equal(await status('/x', headersOfKey('key of phone')), 200);
  hashes.pop();
  for (const headers of [{}, headersOfKey('key of phone'), { host: 'localhost' }]) {
    assert.equal(await status('/x', headers), 401);
  }
  assert.equal(await status('/open'), 200);
});

test('a stream ends with the key that opened it, and one that needed none with the first key', async () => {
  const { hashes, ask } = setUp(['phone', 'laptop']);
  const { body: opened } = await ask('/stream', headersOfKey('key of phone'));
  const pieces = iteratorOf(opened);
  assert.deepEqual(await pieces.next(), { value: 'piece', done: false });
  const [phone, laptop] = hashes.splice(0, 2);
  assert.ok(phone !== undefined && laptop !== undefined);
  hashes.push(laptop);
  await assert.rejects(pieces.next(), HttpProblem);

  hashes.pop();
  const { body: free } = await ask('/stream');
  const freely = iteratorOf(free);
  assert.equal((await freely.next()).done, false);
  hashes.push(phone);
  await assert.rejects(freely.next(), HttpProblem);
});

test(
  'a stream on which nothing happens ends with its key too, and with it what was followed',
  { timeout: 5_000 },
  async () => {
    const { hashes, ask, clock } = setUp(['phone', 'laptop']);
    const { body } = await ask('/silent', headersOfKey('key of phone'));
    const pieces = iteratorOf(body);
    assert.deepEqual(await pieces.next(), { value: ': welcome\n\n', done: false });
    assert.deepEqual(await pieces.next(), { value: 'data: once\n\n', done: false });
    hashes.shift();
    const next = assert.rejects(pieces.next(), HttpProblem);
    await clock.advance(15_000);
    await next;
  },
);

function iteratorOf(body: HttpResponse['body']) {
  assert.ok(body !== undefined && typeof body === 'object' && Symbol.asyncIterator in body);
  return body[Symbol.asyncIterator]();
}
