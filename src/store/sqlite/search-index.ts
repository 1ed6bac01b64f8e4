/**
 * Full-text search in a file of its own, `search.db`. It can be rebuilt from `state.db` at any time, so whatever is
 * wrong with it is answered by throwing it away, and nothing else depends on it. Runs off the main loop, except for
 * databases in memory.
 */
import { renameSync, rmSync } from 'node:fs';
import type { SearchHit } from '../../protocol/api.ts';
import { StoreError, type SearchScope } from '../store.ts';
import { openDatabase, useWriteAheadLog, type Database } from './open-database.ts';
import { feedNext, isFedFrom, searchTables } from './search-feed.ts';
import { mergeNext } from './search-merge.ts';
import { findMessages } from './search-query.ts';
import { toStoreError } from './to-store-error.ts';

/** Raised when the tables change; another number on the disk means a rebuild. */
const indexNumber = 7;
const hitsMax = 500;
/** Of its pages, kept while the thread lives. */
const cacheKiB = 16 * 1024;
const files = ['', '-wal', '-shm', '-journal'];

export class SearchIndex {
  readonly #state: Database;
  readonly #path: string;
  readonly #nextPath: string;
  #index: Database | null = null;
  /** The one that is being built to take the other's place. */
  #next: Database | null = null;

  constructor(state: Database, path: string) {
    this.#state = state;
    this.#path = path;
    this.#nextPath = `${path}-next`;
  }

  /** Takes in the next of what was committed since the last time; true if there may be more. */
  feed(): boolean {
    const feed = () => feedNext(this.#open(), this.#state);
    return this.#anewIfBroken(feed, feed);
  }

  /** Makes searching quicker after much was fed; true if there is more to do. */
  merge(): boolean {
    const merge = () => mergeNext(this.#open());
    return this.#anewIfBroken(merge, () => false);
  }

  /** Over what has been fed. */
  search(query: string, limit: number, scope: SearchScope): SearchHit[] {
    if (limit < 1) return [];
    const find = () => findMessages(this.#open(), this.#state, query, Math.min(limit, hitsMax), scope);
    return this.#anewIfBroken(find, () => {
      while (this.feed());
      return find();
    });
  }

  /** Builds another index beside this one, which goes on answering meanwhile, and takes it; true if there is more to do. */
  rebuild(): boolean {
    if (this.#path === ':memory:') {
      this.#discard();
      return false;
    }
    if (this.#next === null) {
      removeFiles(this.#nextPath);
      this.#next = openIndex(this.#nextPath);
      createTables(this.#next);
    }
    if (feedNext(this.#next, this.#state) || mergeNext(this.#next)) return true;
    // Closing a database takes its write-ahead log into it: one file has all of it.
    this.#next.close();
    this.#next = null;
    this.#discard();
    try {
      renameSync(this.#nextPath, this.#path);
    } catch (error) {
      throw toStoreError(error, this.#path);
    }
    return false;
  }

  close(): void {
    this.#index?.close();
    this.#index = null;
    if (this.#next === null) return;
    this.#next.close();
    this.#next = null;
    removeFiles(this.#nextPath);
  }

  /** Empty from now on, and to be fed again from the start. */
  #discard(): void {
    this.#index?.close();
    this.#index = null;
    if (this.#path !== ':memory:') removeFiles(this.#path);
  }

  #anewIfBroken<T>(work: () => T, workOnEmpty: () => T): T {
    try {
      return work();
    } catch (error) {
      if (!isIndexAtFault(error)) throw error;
      this.#discard();
      return workOnEmpty();
    }
  }

  #open(): Database {
    if (this.#index !== null) return this.#index;
    const index = openIndex(this.#path);
    try {
      if (index.get('SELECT 1 FROM sqlite_schema LIMIT 1') === undefined) createTables(index);
      else if (indexNumberOf(index) !== indexNumber || !isFedFrom(index, this.#state)) throw new OtherIndex();
    } catch (error) {
      index.close();
      throw error;
    }
    this.#index = index;
    return index;
  }
}

function openIndex(path: string): Database {
  const index = openDatabase(path);
  try {
    useWriteAheadLog(index, 'NORMAL');
    index.exec(`PRAGMA cache_size = -${cacheKiB}`);
    return index;
  } catch (error) {
    index.close();
    throw error;
  }
}

function removeFiles(path: string): void {
  try {
    for (const suffix of files) rmSync(path + suffix, { force: true });
  } catch (error) {
    throw toStoreError(error, path);
  }
}

function createTables(index: Database): void {
  index.transaction(() => index.exec(`${searchTables} PRAGMA user_version = ${indexNumber};`));
}

function indexNumberOf(index: Database): number | undefined {
  return index.get<{ user_version: number }>('PRAGMA user_version')?.user_version;
}

/** Not broken, but made from another database or by another version. */
class OtherIndex extends Error {}

/** A full or read-only disk is not cured by a rebuild; everything else may be. */
function isIndexAtFault(error: unknown): boolean {
  if (!(error instanceof StoreError)) return true;
  return error.reason === 'damaged' || error.reason === 'conflict';
}
