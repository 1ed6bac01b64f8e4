/** The contract suite on SQLite, in each way it runs. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLog } from '../../lib/log.ts';
import type { OpenedStore, OpenStoreOptions } from '../fake-world.ts';
import { runStoreSuite } from '../store-suite.ts';
import { openSqliteStore } from './sqlite-store.ts';

runStoreSuite('SQLite in memory', async ({ clock, owner }) => {
  const store = await openSqliteStore({ path: ':memory:', clock, owner, log: silentLog, writer: 'inline' });
  return { store, reopen: null, cleanup: () => store.close() };
});

for (const writer of ['inline', 'thread'] as const) {
  runStoreSuite(`SQLite in a file, ${writer}`, (options) => openInFile(options, writer));
}

async function openInFile({ clock, owner }: OpenStoreOptions, writer: 'inline' | 'thread'): Promise<OpenedStore> {
  const folder = await mkdtemp(join(tmpdir(), 'talaria-store-'));
  const open = (by: typeof owner) =>
    openSqliteStore({ path: join(folder, 'state.db'), clock, owner: by, log: silentLog, writer });
  let store = await open(owner);
  return {
    store,
    async reopen(by) {
      await store.close();
      store = await open(by);
      return store;
    },
    async cleanup() {
      await store.close();
      await rm(folder, { recursive: true });
    },
  };
}
