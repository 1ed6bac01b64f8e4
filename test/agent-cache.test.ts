/** The agent cache from outside: the real gateway, a scripted model server, and what status, metrics and the log say. */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { test, type TestContext } from 'node:test';
import type { StatusReport } from '../src/protocol/api.ts';
import { allGone, isGone, pidsWith } from '../src/tools/terminal/test-processes.ts';
import { startModelServer } from './model-server/model-server.ts';
import type { ModelServer } from './model-server/server-contract.ts';
import { ask, follow, isClosed, say, told } from './support/http.ts';
import { atEnd, freshHome, startGateway } from './support/talaria-process.ts';

type Cache = StatusReport['agent_cache'];

interface Place {
  readonly server: ModelServer;
  readonly home: string;
  readonly url: string;
  /** A whole turn; the answer. */
  turn(session: string, words: string): Promise<string>;
  status(): Promise<StatusReport>;
  /** The status once no agent is in a turn and this holds. */
  rested(isIt?: (cache: Cache) => boolean): Promise<StatusReport>;
}

async function gatewayWith(t: TestContext, agentCache: object): Promise<Place> {
  const server = await startModelServer();
  atEnd(t, () => server.close());
  const home = await freshHome(t);
  await mkdir(home, { mode: 0o700 });
  const model = {
    provider: 'custom',
    base_url: server.baseUrl('chat_completions'),
    name: 'scripted',
    api_key: 'key-1',
  };
  await writeFile(join(home, 'config.yaml'), JSON.stringify({ model, gateway: { agent_cache: agentCache } }));
  const { url } = await startGateway(t, { home });
  const turns = new Map<string, number>();
  const status = async () => JSON.parse((await ask(`${url}/api/status`)).text) as StatusReport;
  return {
    server,
    home,
    url,
    status,
    async turn(session, words) {
      const number = (turns.get(session) ?? 0) + 1;
      turns.set(session, number);
      await say(url, session, words, `${session}-${number}`);
      let closed = 0;
      const lines = told(await follow(url, session, (event) => isClosed(event) && ++closed === number));
      assert.equal(lines.at(-1), 'closed: answered');
      return lines.at(-2)?.replace('assistant: ', '') ?? '';
    },
    async rested(isIt = () => true) {
      for (;;) {
        const now = await status();
        if (now.agent_cache.active === 0 && isIt(now.agent_cache)) return now;
        await sleep(50);
      }
    },
  };
}

test('C27 C43 three sessions share two places: agents come and go, answers go on, and no prompt begins otherwise', async (t) => {
  const { server, url, turn, rested } = await gatewayWith(t, { max_size: 2 });
  for (const word of ['one', 'two', 'three']) {
    for (const session of ['a', 'b', 'c']) {
      assert.equal(await turn(session, `say ${word} to ${session}`), `${word} to ${session}`);
    }
  }
  assert.equal(await turn('c', 'say four to c'), 'four to c');
  const { agent_cache: cache, prefix_breaks: breaks } = await rested();
  assert.deepEqual(cache, { size: 2, cap: 2, active: 0, hits: 1, misses: 9, evictions: 7, sweeps: 0, releases: 7 });
  assert.equal(breaks, 0);
  assert.deepEqual(
    server.requests().flatMap(({ problem }) => (problem === null ? [] : [problem])),
    [],
  );
  const metrics = (await ask(`${url}/metrics`)).text;
  for (const line of ['hits_total 1', 'misses_total 9', 'evictions_total 7', 'sweeps_total 0', 'releases_total 7']) {
    assert.match(metrics, new RegExp(`^talaria_agent_cache_${line}$`, 'm'));
  }
  // C22, C23: of a session that is gone nothing is kept, of the others everything.
  await ask(`${url}/api/sessions/c`, { method: 'DELETE' });
  const { size, evictions, releases } = (await rested()).agent_cache;
  assert.deepEqual({ size, evictions, releases }, { size: 1, evictions: 7, releases: 8 });
  assert.equal(await turn('b', 'say five to b'), 'five to b');
  assert.equal((await rested()).agent_cache.hits, 2);
});

test('C41 an agent in a turn keeps its place, the log says mid-turn, and the end of the turn makes room', async (t) => {
  const { home, turn, rested, status } = await gatewayWith(t, { max_size: 1 });
  const text = 'a word after the other '.repeat(20).trim();
  const slow = turn('slow', `slowly say ${text}`);
  while ((await status()).agent_cache.active === 0) await sleep(20);
  assert.equal(await turn('quick', 'say hello'), 'hello');
  assert.equal(await slow, text);
  const { agent_cache: cache } = await rested();
  assert.deepEqual([cache.size, cache.evictions, cache.misses], [1, 1, 2]);
  assert.match(await readFile(join(home, 'logs', 'talaria.log'), 'utf8'), /mid-turn/);
});

test('C30 C44 C47 C48 an agent idle for too long is swept, its session goes on as it was, and only deleting ends its processes', async (t) => {
  const { server, url, turn, rested } = await gatewayWith(t, { idle_ttl_s: 1 });
  // In the sandbox it has another number than outside, where it is known by how long it sleeps.
  const seconds = randomInt(100_000, 1_000_000);
  const begun = await turn('x', `run sleep ${seconds} > /dev/null 2>&1 & echo pid $! in $PWD`);
  const [, pid = 0, folder = ''] =
    /pid (\d+) in (\S+)/.exec(begun)?.map((part, index) => (index === 1 ? Number(part) : part)) ?? [];
  assert.ok(Number(pid) > 0, begun);
  const outside = await pidsWith(`sleep\0${seconds}\0`);
  assert.equal(outside.length, 1);
  atEnd(t, () => ask(`${url}/api/sessions/x`, { method: 'DELETE' }).catch(() => {}));

  const swept = await rested(({ sweeps }) => sweeps === 1);
  const { size, hits, misses, evictions, releases } = swept.agent_cache;
  assert.deepEqual(
    { size, hits, misses, evictions, releases },
    { size: 0, hits: 0, misses: 1, evictions: 0, releases: 1 },
  );
  assert.equal(await isGone(outside[0] ?? 0), false);

  assert.equal(await turn('x', `run kill -0 ${pid} && echo alive in $PWD`), `terminal gave: alive in ${folder}`);
  const bodies = server.requests().map(({ body }) => (body?.['messages'] ?? []) as unknown[]);
  assert.equal(bodies.length, 4);
  assert.deepEqual(bodies[2]?.slice(0, bodies[1]?.length), bodies[1], 'its history comes from the store');
  const after = await rested(({ sweeps }) => sweeps === 2);
  assert.deepEqual([after.agent_cache.misses, after.prefix_breaks], [2, 0]);

  await ask(`${url}/api/sessions/x`, { method: 'DELETE' });
  await allGone(outside);
});
