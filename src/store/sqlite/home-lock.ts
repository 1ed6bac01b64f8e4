/**
 * One process per home. The lock is SQLite's own lock on the file `home.lock`, held in an exclusive transaction as
 * long as the process lives: the kernel drops it with the process, however that ends, so the next start takes over at
 * once and no pid is ever guessed at. `holder.json` beside it only tells people and commands who that is.
 *
 * Nothing else in the holding process may open `home.lock` (a backup leaves it out): closing it again would drop the
 * lock.
 */
import { accessSync, constants, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StoreError } from '../store.ts';
import { openDatabase, type Database } from './open-database.ts';
import { toStoreError } from './to-store-error.ts';

/** Who holds a home, and how to reach it. */
export interface Holder {
  readonly pid: number;
  /** The command it runs. */
  readonly purpose: string;
  /** Where its API listens; null if it doesn't. */
  readonly url: string | null;
  readonly startedAt: number;
}

export interface HomeLock {
  /** Describes the holder anew. */
  update(holder: Holder): void;
  /** Idempotent. */
  release(): void;
}

export type HomeLockResult =
  | { readonly kind: 'acquired'; readonly lock: HomeLock }
  /** `holder` is null if it has not said yet who it is. */
  | { readonly kind: 'held'; readonly holder: Holder | null };

/** Answers at once. Throws `StoreError` if the home can't be written. */
export function acquireHomeLock(homePath: string, holder: Holder): HomeLockResult {
  const database = lockFile(join(homePath, 'home.lock'));
  if (database === null) return { kind: 'held', holder: readHolder(homePath) };
  try {
    writeHolder(homePath, holder);
  } catch (error) {
    database.close();
    throw error;
  }
  return {
    kind: 'acquired',
    lock: {
      update: (changed) => writeHolder(homePath, changed),
      release() {
        if (!database.isOpen) return;
        // While the lock is held: a moment later the file would be the next holder's.
        rmSync(holderPath(homePath), { force: true });
        database.close();
      },
    },
  };
}

/** Who said last that it holds this home. Only `acquireHomeLock` tells whether it still does. */
export function readHolder(homePath: string): Holder | null {
  try {
    const value: unknown = JSON.parse(readFileSync(holderPath(homePath), 'utf8'));
    return isHolder(value) ? value : null;
  } catch {
    // Missing or half a file: the holder is unknown, which the result can say.
    return null;
  }
}

/** Null if somebody else has it. */
function lockFile(path: string): Database | null {
  const database = openDatabase(path, { busyTimeoutMs: 0 });
  try {
    // No journal on the disk: nothing is ever written, and a kill would leave one behind.
    database.exec('PRAGMA journal_mode = MEMORY');
    database.exec('BEGIN EXCLUSIVE');
    // What SQLite can only read it locks for reading, without a word.
    accessSync(path, constants.W_OK);
    return database;
  } catch (error) {
    database.close();
    const converted = toStoreError(error, path);
    if (isHeldElsewhere(converted)) return null;
    if (!(converted instanceof StoreError) || converted.reason !== 'damaged') throw converted;
    // Somebody wrote into it, and nobody holds it, or its content would not have been looked at. Emptied in place: a
    // new file would be another lock than the one that a process starting at this moment takes.
    emptyFile(path);
    return lockFile(path);
  }
}

function isHeldElsewhere(error: unknown): boolean {
  const sqliteBusy = 5;
  if (!(error instanceof StoreError) || !(error.cause instanceof Error) || !('errcode' in error.cause)) return false;
  return (Number(error.cause.errcode) & 0xff) === sqliteBusy;
}

function emptyFile(path: string): void {
  try {
    truncateSync(path);
  } catch (error) {
    throw toStoreError(error, path);
  }
}

function holderPath(homePath: string): string {
  return join(homePath, 'holder.json');
}

/** Whole or not at all. Not synced: it means nothing after a power cut. */
function writeHolder(homePath: string, holder: Holder): void {
  const path = holderPath(homePath);
  const draft = `${path}.writing`;
  try {
    writeFileSync(draft, `${JSON.stringify(holder)}\n`, { mode: 0o600 });
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw toStoreError(error, path);
  }
}

function isHolder(value: unknown): value is Holder {
  if (typeof value !== 'object' || value === null) return false;
  const { pid, purpose, url, startedAt } = value as Partial<Record<keyof Holder, unknown>>;
  const isUrl = url === null || typeof url === 'string';
  return typeof pid === 'number' && typeof purpose === 'string' && isUrl && typeof startedAt === 'number';
}
