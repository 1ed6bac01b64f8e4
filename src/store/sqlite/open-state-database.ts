/**
 * Opens `state.db` for writing: creates it whole or not at all, recognises damage before anything is written, brings
 * the schema up to date. The caller holds the home lock, so that no other process is at it.
 */
import { accessSync, closeSync, constants, fsyncSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Log } from '../../lib/log.ts';
import { bringUpToDate, createSchema } from './migrate.ts';
import { openDatabase, useWriteAheadLog, type Database } from './open-database.ts';
import type { Migration } from './schema.ts';
import { damaged, toStoreError } from './to-store-error.ts';

export interface StateDatabaseOptions {
  /** `:memory:` for one that lives as long as its connection. */
  readonly path: string;
  readonly migrations: readonly Migration[];
  readonly log: Log;
}

export function openStateDatabase({ path, migrations, log }: StateDatabaseOptions): Database {
  if (path === ':memory:') return createInMemory(migrations);
  try {
    if (fileBytes(path) === null) createWhole(path, migrations);
    return openExisting(path, migrations, log);
  } catch (error) {
    throw toStoreError(error, path);
  }
}

function createInMemory(migrations: readonly Migration[]): Database {
  const database = openDatabase(':memory:');
  createSchema(database, migrations);
  return database;
}

/** Built under another name, so that an empty or half-made `state.db` always means damage, never a first start. */
function createWhole(path: string, migrations: readonly Migration[]): void {
  if ((fileBytes(`${path}-wal`) ?? 0) > 0) {
    // Replayed into a new database, the old log would ruin it.
    throw damaged(path, `it is missing, but its log ${path}-wal is there: put it back, or move the log away too`);
  }
  const draft = `${path}.creating`;
  for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(draft + suffix, { force: true });
  closeSync(openSync(draft, 'wx', 0o600));
  const database = openDatabase(draft);
  try {
    useWriteAheadLog(database, 'FULL');
    createSchema(database, migrations);
  } finally {
    database.close();
  }
  renameSync(draft, path);
  syncFolder(dirname(path));
}

function openExisting(path: string, migrations: readonly Migration[], log: Log): Database {
  // SQLite would open what it can't write without a word, and fail at the first message.
  accessSync(path, constants.W_OK);
  const bytes = fileBytes(path) ?? 0;
  if (bytes === 0) throw damaged(path, 'it is empty');
  const hasLog = (fileBytes(`${path}-wal`) ?? 0) > 0;

  const database = openDatabase(path);
  try {
    // With a log the newest pages may be in there still; without one the file must be as long as it says.
    if (!hasLog && bytes < declaredBytes(database)) throw damaged(path, 'its end is missing');
    bringUpToDate(database, migrations, log);
    useWriteAheadLog(database, 'FULL');
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function declaredBytes(database: Database): number {
  const pages = database.get<{ page_count: number }>('PRAGMA page_count')?.page_count ?? 0;
  const size = database.get<{ page_size: number }>('PRAGMA page_size')?.page_size ?? 0;
  return pages * size;
}

function fileBytes(path: string): number | null {
  return statSync(path, { throwIfNoEntry: false })?.size ?? null;
}

/** A new name is durable only when its folder is. */
function syncFolder(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
