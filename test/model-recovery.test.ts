/** The whole program when models fail: other keys, other models, another attempt, and a user who is told. */
import assert from 'node:assert/strict';
import { appendFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import type { StatusReport } from '../src/protocol/api.ts';
import type { SessionEvent } from '../src/protocol/events.ts';
import { startModelServer } from './model-server/model-server.ts';
import { fingerprint } from './model-server/seal.ts';
import type { ModelServer } from './model-server/server-contract.ts';
import { ask, follow, isClosed, post, say, told } from './support/http.ts';
import { atEnd, freshHome, startGateway } from './support/talaria-process.ts';

interface Scene {
  readonly server: ModelServer;
  readonly home: string;
}

/** A home whose model is the server's. */
async function sceneOf(test: TestContext, model: string): Promise<Scene> {
  const server = await startModelServer();
  atEnd(test, () => server.close());
  const home = await freshHome(test);
  await mkdir(home);
  const config = `model: { provider: openai, name: first, base_url: ${server.url}/v1, ${model} }\n`;
  await writeFile(join(home, 'config.yaml'), config);
  return { server, home };
}

/** True at the n-th end of a turn. */
function closedTimes(count: number): (event: SessionEvent) => boolean {
  let closed = 0;
  return (event) => isClosed(event) && ++closed === count;
}

async function statusOf(url: string): Promise<StatusReport> {
  return JSON.parse((await ask(`${url}/api/status`)).text) as StatusReport;
}

const usedKeys = (server: ModelServer) => server.requests().map(({ keyId }) => keyId);

test('a key that is limited rests, another one answers in the same turn, and a restart does not wake it', async (t) => {
  const secrets = ['key-one', 'key-two'];
  const { server, home } = await sceneOf(t, `api_key: [${secrets.join(', ')}]`);
  const gateway = await startGateway(t, { home });
  await say(gateway.url, 'x', 'say hello', 'm1');
  await follow(gateway.url, 'x', isClosed);
  // A session keeps to one key; which one that is, is its own affair.
  const [usual] = usedKeys(server);
  const limited = secrets.find((secret) => fingerprint(secret) === usual);
  const other = secrets.find((secret) => secret !== limited);
  assert.ok(limited !== undefined && other !== undefined);
  server.inject({ name: 'status-429', key: limited, times: null });
  await say(gateway.url, 'x', 'say hello again', 'm2');
  const log = told(await follow(gateway.url, 'x', closedTimes(2)));
  assert.deepEqual(log.slice(-2), ['assistant: hello again', 'closed: answered']);
  assert.deepEqual(usedKeys(server).slice(1), [limited, other].map(fingerprint));
  const { keys } = await statusOf(gateway.url);
  const resting = keys.filter(({ rests_until: until }) => until !== null);
  assert.deepEqual([keys.length, resting.map(({ reason }) => reason)], [2, ['rate-limit']]);
  await gateway.stop();

  const next = await startGateway(t, { home });
  await say(next.url, 'x', 'say goodbye', 'm3');
  assert.equal(told(await follow(next.url, 'x', closedTimes(3))).at(-1), 'closed: answered');
  assert.deepEqual(usedKeys(server).slice(3), [fingerprint(other)]);
});

test('C66 a model that fails is replaced for one turn; the user is told once, and the next turn is its own again', async (t) => {
  const { server, home } = await sceneOf(t, 'api_key: key-one');
  const address = `provider: openai, base_url: ${server.url}/v1, api_key: key-one`;
  const more = [`fallback: [{ name: second, ${address} }]`, 'agent: { api_max_retries: 0 }', ''];
  await appendFile(join(home, 'config.yaml'), more.join('\n'));
  server.inject({ name: 'status-503', model: 'first', times: 1 });
  const gateway = await startGateway(t, { home });
  await say(gateway.url, 'x', 'run echo one then run echo two', 'm1');
  await follow(gateway.url, 'x', isClosed);
  await say(gateway.url, 'x', 'say back again', 'm2');
  const log = told(await follow(gateway.url, 'x', closedTimes(2)));
  assert.deepEqual(
    server.requests().map(({ model }) => model),
    ['first', 'second', 'second', 'second', 'first'],
  );
  assert.equal(log.filter((line) => line.startsWith('notice:') && line.includes('second')).length, 1);
  assert.deepEqual(log.slice(-2), ['assistant: back again', 'closed: answered']);
});

test('a stop is heard while a failed call waits for its next attempt', async (t) => {
  const { server, home } = await sceneOf(t, 'api_key: key-one');
  server.inject({ name: 'status-429-retry-after', times: null, retryAfterS: 300 });
  const gateway = await startGateway(t, { home });
  await say(gateway.url, 'x', 'say hello', 'm1');
  let status = '';
  const log = told(
    await follow(gateway.url, 'x', (event) => {
      if (event.kind === 'status' && status === '') {
        status = event.text;
        void post(`${gateway.url}/api/sessions/x/stop`, {});
      }
      return isClosed(event);
    }),
  );
  assert.match(status, /\S/);
  assert.equal(log.at(-1), 'closed: stopped');
  assert.equal(server.requests().length, 1);
});

test('a server that is away for a while is waited for', async (t) => {
  const { server, home } = await sceneOf(t, 'api_key: key-one');
  const gateway = await startGateway(t, { home });
  server.inject({ name: 'connection-refused', delayMs: 1_500 });
  await say(gateway.url, 'x', 'say hello', 'm1');
  const log = told(await follow(gateway.url, 'x', isClosed));
  assert.deepEqual(log.slice(-2), ['assistant: hello', 'closed: answered']);
});

const hopeless: readonly [fault: string, words: RegExp][] = [
  ['status-401', /talaria model set/],
  ['status-402', /paid|balance/],
  ['status-404', /talaria model list/],
  ['status-400-context', /new session/],
];

for (const [fault, words] of hopeless) {
  test(`${fault}: what no other attempt would mend is told at once, with what to do`, async (t) => {
    const { server, home } = await sceneOf(t, 'api_key: key-one');
    server.inject({ name: fault, times: null });
    const gateway = await startGateway(t, { home });
    await say(gateway.url, 'x', 'say hello', 'm1');
    const log = told(await follow(gateway.url, 'x', isClosed));
    assert.equal(log.at(-1), 'closed: failed');
    assert.match(log.findLast((line) => line.startsWith('notice:')) ?? '', words);
    assert.equal(server.requests().length, 1);
    assert.ok(!log.join('\n').includes('key-one'));
  });
}
