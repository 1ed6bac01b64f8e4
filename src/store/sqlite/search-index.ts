/**
 * Full-text search in a file of its own, `search.db`. It can be rebuilt from `state.db` at any time, so whatever is
 * wrong with it is answered by throwing it away, and nothing else depends on it. Runs off the main loop, except for
 * databases in memory.
 */
import { rmSync } from 'node:fs';
import type { SearchHit } from '../../protocol/api.ts';
import { StoreError } from '../store.ts';
import { openDatabase, useWriteAheadLog, type Database } from './open-database.ts';
import { feedNext, isFedFrom, searchTables } from './search-feed.ts';
import { toSearchExpression } from './search-query.ts';
import { toStoreError } from './to-store-error.ts';

/** Raised when the tables change; another number on the disk means a rebuild. */
const indexNumber = 2;
const hitsMax = 500;
const snippetWords = 24;

export class SearchIndex {
  readonly #state: Database;
  readonly #path: string;
  #index: Database | null = null;

  constructor(state: Database, path: string) {
    this.#state = state;
    this.#path = path;
  }

  /** Takes in the next of what was committed since the last time; true if there may be more. */
  feed(): boolean {
    const feed = () => feedNext(this.#open(), this.#state);
    return this.#anewIfBroken(feed, feed);
  }

  /** Over what has been fed; with an owner, over their sessions only. */
  search(query: string, limit: number, owner: string | null): SearchHit[] {
    const expression = toSearchExpression(query);
    if (expression === null || limit < 1) return [];
    const find = () => this.#find(this.#open(), expression, Math.min(limit, hitsMax), owner);
    return this.#anewIfBroken(find, () => {
      while (this.feed());
      return find();
    });
  }

  /** Empty from now on, and to be fed again from the start. */
  discard(): void {
    this.close();
    if (this.#path === ':memory:') return;
    try {
      for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(this.#path + suffix, { force: true });
    } catch (error) {
      throw toStoreError(error, this.#path);
    }
  }

  close(): void {
    this.#index?.close();
    this.#index = null;
  }

  #anewIfBroken<T>(work: () => T, workOnEmpty: () => T): T {
    try {
      return work();
    } catch (error) {
      if (!isIndexAtFault(error)) throw error;
      this.discard();
      return workOnEmpty();
    }
  }

  #open(): Database {
    if (this.#index !== null) return this.#index;
    const index = openDatabase(this.#path);
    try {
      useWriteAheadLog(index, 'NORMAL');
      if (index.get('SELECT 1 FROM sqlite_schema LIMIT 1') === undefined) createTables(index);
      else if (indexNumberOf(index) !== indexNumber || !isFedFrom(index, this.#state)) throw new OtherIndex();
    } catch (error) {
      index.close();
      throw error;
    }
    this.#index = index;
    return index;
  }

  #find(index: Database, expression: string, limit: number, owner: string | null): SearchHit[] {
    const whose = owner === null ? null : JSON.stringify(owner);
    const found = index.all<Omit<SearchHit, 'sessionName'>>(
      `SELECT places.session_id AS sessionId, places.seq, places.at, places.role,
         snippet(texts, 0, '‹', '›', '…', ${snippetWords}) AS snippet
       FROM texts JOIN places ON places.entry_id = texts.rowid
       WHERE texts MATCH ? AND (? IS NULL OR places.owner = ?) ORDER BY rank, texts.rowid DESC LIMIT ?`,
      expression,
      whose,
      whose,
      limit,
    );
    return found.flatMap((hit) => {
      const sql = 'SELECT name, owner FROM sessions WHERE id = ?';
      const session = this.#state.get<{ name: string; owner: string }>(sql, hit.sessionId);
      // Removed a moment ago; the next search will not find it at all.
      if (session === undefined) return [];
      // Whose it is, is for the database to say: the index is only a copy.
      return whose === null || session.owner === whose ? [{ ...hit, sessionName: session.name }] : [];
    });
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
