/**
 * The home's lock and its database, for the two commands that work on them rather than on conversations: `restore`
 * and `doctor`; and who holds the home, for `status`. Everything else goes through the API.
 */
import { systemClock } from '../lib/clock.ts';
import { createIdSource } from '../lib/ids.ts';
import { silentLog } from '../lib/log.ts';
import { systemRandom } from '../lib/random.ts';
import { acquireHomeLock, readHolder, type Holder, type HomeLockResult } from '../store/sqlite/home-lock.ts';
import { openSqliteStore } from '../store/sqlite/sqlite-store.ts';

/** Who said last that it holds the home; it may have died since. */
export function lastHolder(home: string): Holder | null {
  return readHolder(home);
}

/** The home must exist. */
export function lockHome(home: string, purpose: string): HomeLockResult {
  return acquireHomeLock(home, { pid: process.pid, purpose, url: null, startedAt: systemClock.now() });
}

export interface StoreFindings {
  /** What is wrong with the stored data. */
  readonly damage: readonly string[];
  readonly sessions: number;
  /** Why the search index does not answer; null if it does. */
  readonly searchProblem: string | null;
}

/** Opens the database (an older one is brought up to date), reads all of it, and closes it. The caller holds the lock. */
export async function inspectStore(path: string): Promise<StoreFindings> {
  const owner = createIdSource({ clock: systemClock, random: systemRandom }).next('nod');
  const store = await openSqliteStore({ path, clock: systemClock, log: silentLog, owner, writer: 'inline' });
  try {
    const damage = await store.checkIntegrity();
    const { sessions } = await store.read.totals();
    const searchProblem = await store.search('talaria', 1).then(
      () => null,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
    return { damage, sessions, searchProblem };
  } finally {
    await store.close();
  }
}
