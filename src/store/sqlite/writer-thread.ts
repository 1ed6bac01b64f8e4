/** Entry of the writer thread: the one connection that writes `state.db` while a gateway runs. */
import { parentPort, workerData } from 'node:worker_threads';
import { present } from '../../lib/assert.ts';
import { commitTogether } from './group-commit.ts';
import { openDatabase, useWriteAheadLog } from './open-database.ts';
import { serveThread } from './serve-thread.ts';
import type { WriteRequest } from './verbs.ts';

/** Bounds how long the first of a batch waits for the last. */
const batchMax = 500;

const { path } = workerData as { readonly path: string };
const database = openDatabase(path);
useWriteAheadLog(database, 'FULL');

serveThread<WriteRequest>(present(parentPort, 'the parent of the writer thread'), {
  batchMax,
  handle: (requests) => commitTogether(database, requests),
  end: () => database.close(),
});
