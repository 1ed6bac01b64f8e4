/** The gateway's port against those who should not get in, or not so far: from outside, through the real program. */
import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import type { StatusReport } from '../src/protocol/api.ts';
import { ask, follow, isClosed, post, say } from './support/http.ts';
import { openRaw, rawRequest, sendRaw, statusOf } from './support/raw-http.ts';
import { freshHome, startGateway, startTalaria } from './support/talaria-process.ts';

const key = 'a-key-that-nobody-should-see-1234';

async function homeWith(t: TestContext, config: string): Promise<string> {
  const home = await freshHome(t);
  await mkdir(home, { mode: 0o700 });
  await writeFile(join(home, 'config.yaml'), config);
  return home;
}

const portOf = (url: string) => Number(new URL(url).port);

async function sessionsAt(url: string): Promise<number> {
  return (JSON.parse((await ask(`${url}/api/status`)).text) as StatusReport).sessions;
}

const reading = [
  '/',
  '/assets/app.js',
  '/healthz',
  '/readyz',
  '/metrics',
  '/api/status',
  '/api/sessions',
  '/api/sessions/x',
  '/api/sessions/x/events',
  '/api/sessions/x/export',
  '/api/sessions/x/model-calls',
  '/api/usage?since=2026-01-01',
  '/api/search?q=hello',
  '/v1/models',
];

const changing = [
  '/api/messages',
  '/api/import',
  '/api/backup',
  '/api/login',
  '/api/sessions/x/stop',
  '/api/sessions/x/answers',
  '/api/sessions/x/parked',
  '/api/sessions/x/settings',
  '/v1/chat/completions',
  '/v1/responses',
];

test('without a key no name but this machine’s own and no page but this server’s own gets through, on any route', async (t) => {
  const { url } = await startGateway(t, { home: await freshHome(t) });
  await say(url, 'x', 'hello', 'm1');
  await follow(url, 'x', isClosed);
  const body = JSON.stringify({ session: 'y', text: 'run touch hacked', externalId: 'm2', model: 'm', messages: [] });
  const intruders: Record<string, string>[] = [
    { host: 'evil.example' },
    { host: `evil.example:${portOf(url)}` },
    { host: '127.0.0.1.evil.example' },
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: 'http://localhost:1' },
    { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' },
    { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'cors' },
  ];
  for (const headers of intruders) {
    for (const path of reading) {
      assert.equal((await ask(`${url}${path}`, { headers })).status, 403, `GET ${path} ${JSON.stringify(headers)}`);
    }
    for (const path of changing) {
      const all = { 'content-type': 'application/json', ...headers };
      const answer = await ask(`${url}${path}`, { method: 'POST', body, headers: all });
      assert.equal(answer.status, 403, `POST ${path} ${JSON.stringify(headers)}`);
      assert.equal(answer.headers['access-control-allow-origin'], undefined);
    }
    assert.equal((await ask(`${url}/api/sessions/x`, { method: 'DELETE', headers })).status, 403);
  }
  assert.equal(await sessionsAt(url), 1);
});

test('asking permission as a browser does before a cross-site request gets none', async (t) => {
  const { url } = await startGateway(t, { home: await freshHome(t) });
  const headers = { origin: 'https://evil.example', 'access-control-request-method': 'POST' };
  const answer = await ask(`${url}/api/messages`, { method: 'OPTIONS', headers });
  assert.equal(answer.status, 403);
  assert.equal(answer.headers['access-control-allow-origin'], undefined);
});

test('a link from elsewhere shows, and changes nothing: what changes something takes no GET', async (t) => {
  const { url } = await startGateway(t, { home: await freshHome(t) });
  const headers = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' };
  assert.equal((await ask(url, { headers })).status, 200);
  for (const method of ['GET', 'HEAD']) {
    for (const path of changing) {
      const { status } = await ask(`${url}${path}`, { method, headers });
      assert.ok([403, 404, 405].includes(status), `${method} ${path} ${status}`);
    }
  }
  assert.equal(await sessionsAt(url), 0);
});

test('bodies that are too large or too deep are refused early, and the gateway goes on', async (t) => {
  const { url } = await startGateway(t, { home: await freshHome(t) });
  const port = portOf(url);
  const announced = (path: string, headers: Record<string, string | number>) =>
    rawRequest(`POST ${path}`, { 'content-type': 'application/json', 'content-length': 1_000_000_000, ...headers });
  for (const path of ['/api/messages', '/api/sessions/x/answers', '/api/sessions/x/settings']) {
    const { socket, until } = await openRaw(port);
    socket.write(announced(path, {}));
    assert.equal(statusOf((await until(/\r\n\r\n/)).input), 413, path);
    socket.destroy();
    assert.equal(statusOf(await sendRaw(port, announced(path, { expect: '100-continue' }))), 413, path);
  }
  const deep = { 'content-type': 'application/json' };
  for (const body of ['['.repeat(1_000_000), `{"text":${'['.repeat(500_000)}${']'.repeat(500_000)}}`]) {
    const answer = await ask(`${url}/api/messages`, { method: 'POST', body, headers: deep });
    assert.equal(answer.status, 400);
    assert.match(answer.text, /nested more than 100 deep/);
  }
  assert.equal(await sessionsAt(url), 0);
});

test('an import of one endless line is cut off', async (t) => {
  const { url } = await startGateway(t, { home: await freshHome(t) });
  const { socket, closed, received } = await openRaw(portOf(url));
  socket.write(rawRequest('POST /api/import', { 'transfer-encoding': 'chunked' }));
  const chunk = `100000\r\n${' '.repeat(0x100000)}\r\n`;
  let sent = 0;
  while (!socket.destroyed && sent < 1_000_000_000) {
    sent += chunk.length;
    if (!socket.write(chunk)) await Promise.race([new Promise((resolve) => socket.once('drain', resolve)), closed]);
  }
  await closed;
  assert.equal(statusOf(received()), 413);
  assert.ok(sent < 300_000_000, String(sent));
});

test('thousands of half-open requests keep nobody out', async (t) => {
  const { url } = await startGateway(t, { home: await freshHome(t) });
  const port = portOf(url);
  await say(url, 'x', 'hello', 'm1');
  await follow(url, 'x', isClosed);
  const stream = await openRaw(port);
  stream.socket.write(rawRequest('GET /api/sessions/x/events'));
  await stream.until(/live-state/);
  const halfOpen = [];
  for (let index = 0; index < 2_500; index++) {
    const connection = await openRaw(port);
    connection.socket.write('POST /api/messages HTTP/1.1\r\nhost: localhost\r\nx-half: ');
    halfOpen.push(connection);
  }
  await say(url, 'x', 'say still there', 'm2');
  await stream.until(/still there/);
  assert.equal((await ask(`${url}/api/status`)).status, 200);
  for (const { socket } of [...halfOpen, stream]) socket.destroy();
});

test('after ten wrong keys an address has to wait, also with the right one', async (t) => {
  const { url } = await startGateway(t, { home: await homeWith(t, `channels: { api: { key: ${key} } }\n`) });
  const withKey = (shown: string) => ask(`${url}/api/status`, { headers: { authorization: `Bearer ${shown}` } });
  for (let time = 0; time < 20; time++) assert.equal((await ask(`${url}/api/status`)).status, 401);
  const login = await post(`${url}/api/login`, { key });
  for (let time = 0; time < 5; time++) assert.equal((await withKey(`wrong-${time}`)).status, 401);
  for (let time = 0; time < 5; time++) assert.equal((await post(`${url}/api/login`, { key: 'wrong' })).status, 401);
  const refused = await withKey(key);
  assert.equal(refused.status, 429);
  assert.ok(Number(refused.headers['retry-after']) > 0);
  assert.equal((await post(`${url}/api/login`, { key })).status, 429);
  assert.equal((await ask(`${url}/healthz`)).status, 200);
  const cookie = String(login.headers['set-cookie']).split(';')[0] ?? '';
  assert.equal((await ask(`${url}/api/status`, { headers: { cookie } })).status, 200);
});

test('no key, and no cookie for it, is in a URL that works, a page, an answer, the log or on the screen', async (t) => {
  const home = await homeWith(t, `channels: { api: { key: ${key} } }\nlog: { level: debug }\n`);
  const gateway = startTalaria(t, ['gateway', '--port', '0', '--verbose'], { home });
  const [, url = ''] = await gateway.printed(/listening on (\S+)/);
  const login = await post(`${url}/api/login`, { key });
  const cookie = String(login.headers['set-cookie']).split(';')[0] ?? '';
  const [, token = ''] = cookie.split('=');
  assert.match(token, /^[\da-f]{64}$/);
  assert.match(String(login.headers['set-cookie']), /HttpOnly; SameSite=Strict/);

  for (const query of [
    `key=${key}`,
    `token=${key}`,
    `api_key=${key}`,
    `access_token=${key}`,
    `talaria_login=${token}`,
  ]) {
    assert.equal((await ask(`${url}/api/status?${query}`)).status, 401, query);
  }
  const seen: string[] = [];
  for (const headers of [{ authorization: `Bearer ${key}` }, { cookie }]) {
    for (const path of reading.filter((one) => !one.includes('events'))) {
      const answer = await ask(`${url}${path}`, { headers });
      seen.push(`${JSON.stringify(answer.headers)}${answer.text}`);
    }
    seen.push((await ask(`${url}/nowhere?key=${key}`, { headers })).text);
    seen.push((await post(`${url}/api/messages`, { text: 7 }, headers)).text);
  }
  gateway.kill('SIGTERM');
  const { stdout, stderr } = await gateway.ended;
  seen.push(stdout, stderr, await readFile(join(home, 'logs', 'talaria.log'), 'utf8'));
  for (const text of seen) for (const secret of [key, token]) assert.ok(!text.includes(secret), text.slice(0, 300));
});
