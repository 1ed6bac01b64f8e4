/** The background thread comes and goes by itself. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { Worker } from 'node:worker_threads';
import { present } from '../../lib/assert.ts';
import { FakeClock } from '../../lib/fake-clock.ts';
import { countingIdSource } from '../../lib/ids.ts';
import { silentLog } from '../../lib/log.ts';
import { FakeConversation } from '../fake-conversation.ts';
import { createThreadBackground, type Background } from './background.ts';
import { openDatabase } from './open-database.ts';
import { openSqliteStore } from './sqlite-store.ts';

interface World {
  readonly background: Background;
  readonly searchPath: string;
  /** The threads that were started, oldest first. */
  readonly threads: readonly Worker[];
  tick(byMs: number): void;
}

/** A database with one conversation in it, and time that moves when told. */
async function inWorld(context: TestContext, work: (world: World) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'talaria-background-'));
  const path = join(folder, 'state.db');
  const ids = countingIdSource();
  const options = { path, clock: new FakeClock(), owner: ids.next('nod'), log: silentLog, writer: 'inline' } as const;
  const store = await openSqliteStore(options);
  await new FakeConversation(store, ids, 'alpha').exchange('bread', 'butter');

  const threads: Worker[] = [];
  const onWorker = (worker: Worker) => threads.push(worker);
  process.on('worker', onWorker);
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const searchPath = join(folder, 'search.db');
  const background = createThreadBackground({ path, searchPath, log: silentLog });
  try {
    await work({ background, searchPath, threads, tick: (byMs) => context.mock.timers.tick(byMs) });
  } finally {
    context.mock.timers.reset();
    process.off('worker', onWorker);
    await background.close();
    await store.close();
    await rm(folder, { recursive: true });
  }
}

void describe('background thread', () => {
  void it('feeds the search index a while after it was poked, once for many pokes', async (context) => {
    await inWorld(context, async ({ background, searchPath, threads, tick }) => {
      for (let pokes = 0; pokes < 100; pokes++) background.pokeSearch();
      tick(1000);
      // Jobs run one after the other: when this one is answered, the feed is done.
      assert.deepEqual(await background.check(), []);
      assert.equal(threads.length, 1);
      const index = openDatabase(searchPath, { readOnly: true });
      assert.equal(index.all('SELECT 1 FROM places').length, 2);
      index.close();
    });
  });

  void it('ends after a minute without a job, and the next job starts another', async (context) => {
    await inWorld(context, async ({ background, threads, tick }) => {
      assert.equal(threads.length, 0);
      assert.equal((await background.search('bread', 10)).length, 1);
      tick(59_999);
      assert.equal((await background.search('bread', 10)).length, 1);
      assert.equal(threads.length, 1);
      const ended = once(present(threads[0], 'the thread'), 'exit');
      tick(60_000);
      assert.deepEqual(await ended, [0]);
      assert.equal((await background.search('bread', 10)).length, 1);
      assert.equal(threads.length, 2);
    });
  });

  void it('a poke that has not been followed does not hold up the end', async (context) => {
    await inWorld(context, async ({ background, searchPath, threads, tick }) => {
      background.pokeSearch();
      await background.close();
      background.pokeSearch();
      tick(10_000);
      assert.deepEqual([threads.length, existsSync(searchPath)], [0, false]);
    });
  });
});
