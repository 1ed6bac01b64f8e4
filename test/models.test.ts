/** Real models from outside: a scripted model server, the real program, the configuration as an operator writes it. */
import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import type { StatusReport } from '../src/protocol/api.ts';
import type { ModelCallRecord } from '../src/protocol/usage.ts';
import { startModelServer } from './model-server/model-server.ts';
import type { ModelServer, ModelServerOptions } from './model-server/server-contract.ts';
import { ask, follow, isClosed, post, say, told } from './support/http.ts';
import { atEnd, freshHome, runTalaria, startGateway } from './support/talaria-process.ts';

async function modelServer(t: TestContext, options: ModelServerOptions = {}): Promise<ModelServer> {
  const server = await startModelServer(options);
  atEnd(t, () => server.close());
  return server;
}

async function homeWith(t: TestContext, config: object, dotEnv = ''): Promise<string> {
  const home = await freshHome(t);
  await mkdir(home, { mode: 0o700 });
  await writeConfig(home, config);
  await writeFile(join(home, '.env'), dotEnv, { mode: 0o600 });
  return home;
}

/** JSON is YAML. */
const writeConfig = (home: string, config: object) =>
  writeFile(join(home, 'config.yaml'), JSON.stringify(config, null, 1));

const chat = (server: ModelServer, more: object = {}) => ({
  provider: 'custom',
  base_url: server.baseUrl('chat_completions'),
  name: 'scripted',
  api_key: 'key-number-one',
  ...more,
});

const statusOf = async (url: string) => JSON.parse((await ask(`${url}/api/status`)).text) as StatusReport;
const callsOf = async (url: string, session: string) =>
  (JSON.parse((await ask(`${url}/api/sessions/${session}/model-calls`)).text) as { calls: ModelCallRecord[] }).calls;

/** Says something and waits for the end of the turn; what the whole session came to. */
async function turn(url: string, session: string, words: string, id: string): Promise<string[]> {
  await say(url, session, words, `${session}-${id}`);
  let closed = 0;
  const wanted = Number(id.replaceAll(/\D/g, ''));
  return told(await follow(url, session, (event) => isClosed(event) && ++closed === wanted));
}

test('C19 edit the file, and the next message of a cached session gets a rebuilt agent', async (t) => {
  const server = await modelServer(t);
  const home = await homeWith(t, { model: chat(server) });
  const { url } = await startGateway(t, { home });
  await turn(url, 'x', 'say one', 'm1');
  await turn(url, 'x', 'say two', 'm2');
  const before = await statusOf(url);
  assert.deepEqual([before.agent_cache.hits, before.agent_cache.misses], [1, 1]);
  await writeConfig(home, { model: chat(server, { name: 'scripted-small' }) });
  while ((await statusOf(url)).model.name !== 'scripted-small') await new Promise((next) => setTimeout(next, 50));
  await turn(url, 'x', 'say three', 'm3');
  assert.deepEqual(
    server.requests().map(({ model }) => model),
    ['scripted', 'scripted', 'scripted-small'],
  );
  const after = await statusOf(url);
  assert.deepEqual([after.agent_cache.hits, after.agent_cache.misses], [1, 2]);
  const calls = await callsOf(url, 'x');
  assert.deepEqual(
    calls.map(({ prefixBreak }) => prefixBreak),
    ['first-call', null, 'other-model'],
  );
});

test('a failing primary costs one turn and a few seconds, and the user is told in one line', async (t) => {
  const server = await modelServer(t);
  const fallback = { provider: 'custom', base_url: server.baseUrl('anthropic_messages'), name: 'claude-scripted' };
  const home = await homeWith(t, {
    model: chat(server),
    fallback: { ...fallback, api_mode: 'anthropic_messages', api_key: 'key-number-two' },
  });
  const { url } = await startGateway(t, { home });
  server.inject({ name: 'status-503', model: 'scripted', times: 9 });
  const first = await turn(url, 'x', 'say hello', 'm1');
  server.reset();
  const second = await turn(url, 'x', 'say again', 'm2');
  assert.deepEqual(first.slice(-2), ['assistant: hello', 'closed: answered']);
  assert.match(first.at(-3) ?? '', /^notice: .* This turn goes on with custom\/claude-scripted\.$/);
  assert.deepEqual(second.slice(-2), ['assistant: again', 'closed: answered']);
  assert.deepEqual(
    (await callsOf(url, 'x')).map(({ model, state }) => [model, state]),
    [
      ['scripted', 'failed'],
      ['scripted', 'failed'],
      ['claude-scripted', 'completed'],
      ['scripted', 'completed'],
    ],
  );
  assert.equal((await statusOf(url)).prefix_breaks, 0);
});

test('a key that is refused rests, over a restart too, and the others of the pool go on', async (t) => {
  const server = await modelServer(t, { keys: ['key-number-two'] });
  const home = await homeWith(t, { model: chat(server, { api_key: ['key-number-one', 'key-number-two'] }) });
  const gateway = await startGateway(t, { home });
  for (const [index, name] of ['a', 'b', 'c', 'd', 'e', 'f'].entries()) {
    assert.deepEqual((await turn(gateway.url, name, `say ${index}`, 'm1')).at(-1), 'closed: answered');
  }
  const resting = (status: StatusReport) => status.keys.filter((key) => key.rests_until !== null);
  assert.deepEqual(
    resting(await statusOf(gateway.url)).map(({ provider, reason }) => [provider, reason]),
    [['custom', 'auth']],
  );
  await gateway.stop();
  const again = await startGateway(t, { home });
  assert.equal(resting(await statusOf(again.url)).length, 1);
  const { stdout } = await runTalaria(t, ['status'], { home });
  assert.match(stdout, /rest/);
});

test('what a call may cost is reserved: a spent budget refuses with a clear word, and asks no model', async (t) => {
  const server = await modelServer(t);
  const price = { input: 1_000, output: 1_000 };
  const home = await homeWith(t, { model: chat(server, { price }), budget: { session_usd: 7 } });
  const { url } = await startGateway(t, { home });
  assert.deepEqual((await turn(url, 'x', 'say one', 'm1')).at(-1), 'closed: answered');
  const second = await turn(url, 'x', 'say two', 'm2');
  assert.deepEqual(second.at(-1), 'closed: failed');
  assert.match(second.at(-2) ?? '', /^notice: .*budget/);
  assert.equal(server.requests().length, 1);
  const [first] = await callsOf(url, 'x');
  const { input_tokens, output_tokens, usd, today_usd } = (await statusOf(url)).usage;
  assert.equal(first?.usage?.usd, (input_tokens + output_tokens) / 1_000);
  assert.deepEqual([usd, today_usd], [first?.usage?.usd, first?.usage?.usd]);
});

test('no secret reaches the log, the API, an error or the conversation', async (t) => {
  const secret = 'sk-very-secret-0123456789';
  const server = await modelServer(t, { keys: ['another'] });
  const home = await homeWith(t, { model: chat(server, { api_key: '${MY_KEY}' }) }, `MY_KEY=${secret}\n`);
  const gateway = await startGateway(t, { home });
  const lines = await turn(gateway.url, 'x', 'say hello', 'm1');
  assert.equal(lines.at(-1), 'closed: failed');
  const seen = [
    lines.join('\n'),
    (await ask(`${gateway.url}/api/status`)).text,
    (await ask(`${gateway.url}/metrics`)).text,
    (await ask(`${gateway.url}/api/sessions/x/model-calls`)).text,
    (await runTalaria(t, ['model'], { home })).stdout,
    (await runTalaria(t, ['model', 'test'], { home })).stderr,
    await readFile(join(home, 'logs', 'talaria.log'), 'utf8'),
    gateway.process.stderr,
  ];
  assert.ok(!seen.join('\n').includes(secret));
  assert.match(lines.at(-2) ?? '', /talaria model set/);
});

test('a reachable Ollama is found by itself, and without one the rehearsal answers', async (t) => {
  const server = await modelServer(t);
  const home = await homeWith(t, {});
  const found = await runTalaria(t, ['-p', 'say found you'], { home, env: { OLLAMA_HOST: server.url } });
  assert.deepEqual([found.stdout, found.code], ['found you\n', 0]);
  assert.equal(server.requests().length, 1);
  const alone = await runTalaria(t, ['model'], { home, env: { OLLAMA_HOST: 'http://127.0.0.1:1' } });
  assert.match(alone.stdout, /offline\/rehearsal/);
});

test('a stop during trouble ends the turn within a second', async (t) => {
  const server = await modelServer(t);
  const home = await homeWith(t, { model: chat(server) });
  const { url } = await startGateway(t, { home });
  server.inject({ name: 'status-503', times: 99 });
  await say(url, 'x', 'say hello', 'm1');
  await follow(url, 'x', (event) => event.kind === 'status');
  const askedAt = performance.now();
  assert.equal((await post(`${url}/api/sessions/x/stop`, {})).status, 200);
  assert.deepEqual(told(await follow(url, 'x', isClosed)).at(-1), 'closed: stopped');
  assert.ok(performance.now() - askedAt < 30_000);
});

test('another model in a session says what it costs before, and changes nothing but that', async (t) => {
  const server = await modelServer(t);
  const price = { input: 3, cached_input: 0.3, output: 15 };
  const home = await homeWith(t, { model: chat(server, { price }) });
  const { url } = await startGateway(t, { home });
  await turn(url, 'x', 'say one', 'm1');
  const settings = (body: object) => post(`${url}/api/sessions/x/settings`, body);
  const quote = JSON.parse((await settings({ model: 'scripted-small', dryRun: true })).text) as {
    model: string;
    uncachedTokens: number;
  };
  assert.equal(quote.model, 'custom/scripted-small');
  assert.ok(quote.uncachedTokens > 0);
  await turn(url, 'x', 'say two', 'm2');
  await settings({ model: 'scripted-small' });
  await turn(url, 'x', 'say three', 'm3');
  await settings({ model: null });
  await turn(url, 'x', 'say four', 'm4');
  assert.deepEqual(
    (await callsOf(url, 'x')).map(({ model, prefixBreak }) => [model, prefixBreak]),
    [
      ['scripted', 'first-call'],
      ['scripted', null],
      ['scripted-small', 'other-model'],
      ['scripted', null],
    ],
  );
});
