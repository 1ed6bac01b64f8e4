/** Entry of the background thread: long jobs, one after the other, on connections that can't hold up a writer. */
import { parentPort, workerData } from 'node:worker_threads';
import { present } from '../../lib/assert.ts';
import { createBackgroundWork, type BackgroundJob } from './background-work.ts';
import { openDatabase } from './open-database.ts';
import { serveThread } from './serve-thread.ts';

const { path, searchPath } = workerData as { readonly path: string; readonly searchPath: string };
const state = openDatabase(path, { readOnly: true });
const work = createBackgroundWork({ state, searchPath });

serveThread<BackgroundJob>(present(parentPort, 'the parent of the background thread'), {
  // Each answer leaves before the next job begins.
  batchMax: 1,
  handle: (jobs) =>
    jobs.map((job) => {
      try {
        return { ok: true, value: work.run(job) };
      } catch (error) {
        return { ok: false, error };
      }
    }),
  end() {
    work.close();
    state.close();
  },
});
