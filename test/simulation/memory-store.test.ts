/** The contract suite on the simulation's store: what the simulation proves is true of SQLite as far as both pass it. */
import { MemoryData } from './memory-data.ts';
import { openMemoryStore, takeOver } from './memory-store.ts';
import { runStoreSuite } from '../../src/store/store-suite.ts';

runStoreSuite('in memory, for the simulation', async ({ clock }) => {
  const data = new MemoryData();
  let store = openMemoryStore({ data, clock });
  return {
    store,
    async reopen() {
      await store.close();
      takeOver(data, clock.now());
      store = openMemoryStore({ data, clock });
      return store;
    },
    cleanup: () => store.close(),
  };
});
