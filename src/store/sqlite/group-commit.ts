/**
 * Group commit: many verbs, one transaction, one wait for the disk. Each verb has a savepoint of its own, so that one
 * that fails rolls back alone; if the transaction itself fails, every verb in it failed and nothing was written.
 */
import type { Database } from './open-database.ts';
import { perform, type WriteRequest } from './verbs.ts';

export type WriteOutcome =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: unknown };

/** Outcomes stand in the order of the requests. Never throws. */
export function commitTogether(database: Database, requests: readonly WriteRequest[]): WriteOutcome[] {
  try {
    return database.transaction(() => requests.map((request) => attempt(database, request)));
  } catch (error) {
    return requests.map(() => ({ ok: false, error }));
  }
}

function attempt(database: Database, request: WriteRequest): WriteOutcome {
  database.run('SAVEPOINT verb');
  try {
    const value = perform(database, request);
    database.run('RELEASE verb');
    return { ok: true, value };
  } catch (error) {
    // On a full disk and the like SQLite gives up the whole transaction: what came before is gone too.
    if (!database.inTransaction) throw error;
    database.run('ROLLBACK TO verb');
    database.run('RELEASE verb');
    return { ok: false, error };
  }
}
