/** The gateway from outside: probes, who is let in, configuration while running, and its end. */
import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import type { StatusReport } from '../src/protocol/api.ts';
import { ask, follow, isClosed, post, say, told } from './support/http.ts';
import { freshHome, runTalaria, startGateway, startTalaria } from './support/talaria-process.ts';

async function homeWith(t: TestContext, config: string): Promise<string> {
  const home = await freshHome(t);
  await mkdir(home, { mode: 0o700 });
  await writeFile(join(home, 'config.yaml'), config);
  return home;
}

async function statusOf(url: string): Promise<StatusReport> {
  return JSON.parse((await ask(`${url}/api/status`)).text) as StatusReport;
}

/** Looks until it is as expected. The limit is the test runner's. */
async function until<T>(look: () => Promise<T>, isRight: (value: T) => boolean): Promise<T> {
  for (;;) {
    const value = await look();
    if (isRight(value)) return value;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

test('the probes, the status and the metrics of a fresh gateway', async (t) => {
  const { url } = await startGateway(t, { home: await freshHome(t) });
  assert.deepEqual((await ask(`${url}/healthz`)).status, 200);
  assert.deepEqual(JSON.parse((await ask(`${url}/readyz`)).text), { ready: true, state: 'ready' });
  const { version, pid, uptime_s, store, config, sandbox, ...rest } = await statusOf(url);
  // It is proved in the background.
  assert.match(sandbox, /^(?:not yet proved|refused|bubblewrap|namespaces)$/);
  assert.match(version, /^\d+\.\d+\.\d+/);
  assert.ok(pid > 0 && uptime_s >= 0 && store.includes('state.db') && config.problems.length === 0);
  assert.deepEqual(rest, {
    sessions: 0,
    agent_cache: { size: 0, cap: 128, active: 0, hits: 0, misses: 0, evictions: 0, sweeps: 0, releases: 0 },
    turns: { running: 0, queued: 0, done: 0, failed: 0, parked: 0 },
    outbox: { pending: 0 },
    held: [],
    mcp_servers: [],
    usage: {
      input_tokens: 0,
      cached_tokens: 0,
      output_tokens: 0,
      reasoning_tokens: 0,
      usd: 0,
      unpriced_calls: 0,
      today_usd: 0,
    },
    model: { provider: 'offline', name: 'rehearsal' },
    fallback: [],
    keys: [],
    prefix_breaks: 0,
  });
  const metrics = await ask(`${url}/metrics`);
  assert.match(metrics.headers['content-type'] ?? '', /^text\/plain/);
  assert.match(
    metrics.text,
    /^# HELP talaria_turns_running .+\n# TYPE talaria_turns_running gauge\ntalaria_turns_running 0$/m,
  );
});

test('a turn is counted, and its reply has left the outbox', async (t) => {
  const { url } = await startGateway(t, { home: await freshHome(t) });
  await say(url, 'x', 'hello', 'm1');
  await follow(url, 'x', isClosed);
  const { turns, sessions, usage } = await until(
    () => statusOf(url),
    (status) => status.outbox.pending === 0,
  );
  assert.deepEqual([turns.done, sessions], [1, 1]);
  assert.ok(usage.input_tokens > 0 && usage.output_tokens > 0);
});

test('the page comes with a policy that lets nothing in from outside, and is not sent twice', async (t) => {
  const { url } = await startGateway(t, { home: await freshHome(t) });
  const page = await ask(url);
  assert.equal(page.status, 200);
  assert.match(String(page.headers['content-security-policy']), /default-src 'none'; script-src 'self'/);
  const again = await ask(url, { headers: { 'if-none-match': String(page.headers.etag) } });
  assert.deepEqual([again.status, again.text], [304, '']);
});

test('other hosts and other origins are refused', async (t) => {
  const { url } = await startGateway(t, { home: await freshHome(t) });
  const rebound = await ask(`${url}/api/status`, { headers: { host: 'evil.example' } });
  assert.equal(rebound.status, 403);
  const body = { session: 'x', text: 'run touch hacked', externalId: 'm1' };
  assert.equal((await post(`${url}/api/messages`, body, { origin: 'https://evil.example' })).status, 403);
  const form = await ask(`${url}/api/messages`, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'text/plain' },
  });
  assert.equal(form.status, 415);
  assert.equal((await statusOf(url)).sessions, 0);
});

test('bad requests are answered with a reason and change nothing', async (t) => {
  const { url } = await startGateway(t, { home: await freshHome(t) });
  const message = { session: 'x', text: 'hello', externalId: 'm1' };
  const tries: [unknown, number][] = [
    [{ ...message, text: '' }, 400],
    [{ ...message, text: 7 }, 400],
    [{ ...message, text: 'x'.repeat(2_000_000) }, 413],
    [{ ...message, text: 'x'.repeat(20_000_000) }, 413],
    [{ ...message, session: '../x' }, 400],
    [{ ...message, externalId: '' }, 400],
    [{ ...message, channel: 'telegram' }, 400],
    [[], 400],
    [null, 400],
  ];
  for (const [body, status] of tries) {
    const answer = await post(`${url}/api/messages`, body);
    assert.equal(answer.status, status, JSON.stringify(body).slice(0, 60));
    const { error } = JSON.parse(answer.text) as { error: { reason: string; message: string } };
    assert.ok(error.reason !== '' && error.message !== '');
  }
  assert.equal((await ask(`${url}/api/sessions/nobody`)).status, 404);
  assert.equal((await ask(`${url}/api/sessions/nobody/events`)).status, 404);
  assert.equal((await ask(`${url}/api/sessions?limit=many`)).status, 400);
  assert.equal((await ask(`${url}/nowhere`)).status, 404);
  assert.equal((await statusOf(url)).sessions, 0);
});

test('a lone surrogate in JSON is stored as the replacement character', async (t) => {
  const { url } = await startGateway(t, { home: await freshHome(t) });
  const body = String.raw`{"session":"x","text":"say a\ud800b","externalId":"m1"}`;
  const sent = await ask(`${url}/api/messages`, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json' },
  });
  assert.equal(sent.status, 200);
  const log = told(await follow(url, 'x', isClosed));
  assert.deepEqual(log.slice(0, 2), ['user: say a\ufffdb', 'assistant: a\ufffdb']);
});

test('an address that others can reach is refused without a key, and with one every request must carry it', async (t) => {
  const home = await freshHome(t);
  const open = await runTalaria(t, ['gateway', '--host', '0.0.0.0', '--port', '0'], { home });
  assert.deepEqual([open.code, open.stdout], [1, '']);
  assert.match(open.stderr, /key is needed first: talaria config set channels\.api\.key/);

  await writeFile(join(home, 'config.yaml'), 'channels: { api: { key: a-long-enough-key } }\n');
  const { url } = await startGateway(t, { home });
  assert.equal((await ask(`${url}/api/status`)).status, 401);
  assert.equal((await ask(`${url}/metrics`)).status, 401);
  assert.equal((await ask(`${url}/api/status`, { headers: { authorization: 'Bearer wrong' } })).status, 401);
  assert.equal(
    (await ask(`${url}/api/status`, { headers: { authorization: 'Bearer a-long-enough-key' } })).status,
    200,
  );
  assert.equal((await ask(`${url}/healthz`)).status, 200);
  const login = await post(`${url}/api/login`, { key: 'a-long-enough-key' });
  assert.equal(login.status, 204);
  const cookie = String(login.headers['set-cookie']);
  assert.match(cookie, /HttpOnly; SameSite=Strict/);
  assert.doesNotMatch(cookie, /a-long-enough-key/);
  assert.equal((await ask(`${url}/api/status`, { headers: { cookie: cookie.split(';')[0] ?? '' } })).status, 200);
});

test('a changed configuration is picked up; a broken one leaves the last good one in force and is told', async (t) => {
  const home = await homeWith(t, 'model: { provider: offline, name: rehearsal }\n');
  const { url } = await startGateway(t, { home });
  await writeFile(join(home, 'config.yaml'), 'model: { provider: offline, name: rehearsal-instant }\n');
  await until(
    () => statusOf(url),
    (status) => status.model.name === 'rehearsal-instant',
  );
  await writeFile(join(home, 'config.yaml'), 'model: { provider: offline, nmae: x }\n');
  const broken = await until(
    () => statusOf(url),
    (status) => status.config.problems.length > 0,
  );
  assert.match(broken.config.problems[0] ?? '', /^config\.yaml:1:29: .*`name`/);
  assert.equal(broken.model.name, 'rehearsal-instant');
  await say(url, 'x', 'say still here', 'm1');
  assert.ok(told(await follow(url, 'x', isClosed)).includes('assistant: still here'));
  await writeFile(join(home, 'config.yaml'), '');
  await until(
    () => statusOf(url),
    (status) => status.config.problems.length === 0 && status.model.name === 'rehearsal',
  );
});

test('a port in use is one line and exit code 1, and the home is free again', async (t) => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  t.after(() => other.close());
  const { port } = other.address() as AddressInfo;
  const home = await freshHome(t);
  const refused = await runTalaria(t, ['gateway', '--port', String(port)], { home });
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /^talaria: .*Another program uses 127\.0\.0\.1:\d+ already.*--port N.*\n$/);
  await startGateway(t, { home });
});

test('secrets are not in the log, and the log is one JSON object a line', async (t) => {
  const home = await homeWith(t, 'channels: { api: { key: "${MY_KEY}" } }\nlog: { level: debug }\n');
  await writeFile(join(home, '.env'), 'MY_KEY=very-secret-value-1234\n', { mode: 0o600 });
  const gateway = startTalaria(t, ['gateway', '--port', '0', '--verbose'], { home });
  const [, url = ''] = await gateway.printed(/listening on (\S+)/);
  await ask(`${url}/api/very-secret-value-1234`, { headers: { authorization: 'Bearer very-secret-value-1234' } });
  gateway.kill('SIGTERM');
  const { code, stderr } = await gateway.ended;
  assert.equal(code, 0);
  const log = await readFile(join(home, 'logs', 'talaria.log'), 'utf8');
  for (const line of log.trim().split('\n')) JSON.parse(line);
  assert.match(log, /gateway ready/);
  assert.doesNotMatch(log + stderr, /very-secret-value-1234/);
});

test('while it drains it is alive but not ready, and messages are refused with a reason', async (t) => {
  const { url, process: gateway } = await startGateway(t, { home: await freshHome(t) });
  await say(url, 'x', 'run sleep 1.5', 'm1');
  await follow(url, 'x', (event) => event.kind === 'call-started');
  gateway.kill('SIGTERM');
  const ready = await until(
    () => ask(`${url}/readyz`),
    (answer) => answer.status === 503,
  );
  assert.deepEqual(JSON.parse(ready.text), { ready: false, state: 'draining' });
  const late = await post(`${url}/api/messages`, { session: 'x', text: 'late', externalId: 'm2' });
  assert.equal(late.status, 503);
  assert.equal((await gateway.ended).code, 0);
});
