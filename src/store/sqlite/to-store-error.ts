/**
 * Turns what SQLite and the file system say into a `StoreError` with a sentence for the user. Errors that neither of
 * them raised are bugs and pass through untouched, so that they stay loud.
 */
import { accessSync, constants, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { StoreError } from '../store.ts';

/** SQLite's primary result codes, as far as they are told apart here. */
const primaryCode = {
  busy: 5,
  locked: 6,
  readOnly: 8,
  io: 10,
  corrupt: 11,
  full: 13,
  cantOpen: 14,
  constraint: 19,
  notADatabase: 26,
} as const;
const ioErrorCorruptFileSystem = 10 | (33 << 8);

/** With less than this left, an I/O error without further explanation is a full disk. */
const roomMinBytes = 64 * 1024;

export function toStoreError(error: unknown, path: string): unknown {
  if (error instanceof StoreError || !(error instanceof Error)) return error;
  if (isSqliteFailure(error)) return fromSqlite(error, path);
  const code = (error as NodeJS.ErrnoException).code;
  return code === undefined ? error : fromFileSystem(error, code, path);
}

export function damaged(path: string, detail: string, options?: ErrorOptions): StoreError {
  return new StoreError(
    'damaged',
    `${path} is damaged (${detail}); restore a backup with "talaria restore FILE", or move it away to start empty.`,
    options,
  );
}

interface SqliteFailure extends Error {
  readonly errcode: number;
}

function isSqliteFailure(error: Error): error is SqliteFailure {
  return (
    (error as NodeJS.ErrnoException).code === 'ERR_SQLITE_ERROR' && typeof (error as SqliteFailure).errcode === 'number'
  );
}

function fromSqlite(error: SqliteFailure, path: string): Error {
  const options = { cause: error };
  if (error.errcode === ioErrorCorruptFileSystem) return damaged(path, error.message, options);
  switch (error.errcode & 0xff) {
    case primaryCode.full:
      return diskFull(path, options);
    case primaryCode.readOnly:
      return readOnly(path, options);
    case primaryCode.corrupt:
    case primaryCode.notADatabase:
      return damaged(path, error.message, options);
    case primaryCode.constraint:
      return new StoreError('conflict', `The stored data does not allow this: ${error.message}.`, options);
    case primaryCode.busy:
    case primaryCode.locked:
      return new StoreError(
        'unavailable',
        `${path} is in use by another program; close that one and try again.`,
        options,
      );
    case primaryCode.io:
    case primaryCode.cantOpen:
      return explainedByPlace(path, options) ?? unavailable(path, error.message, options);
    default:
      // A wrong statement, a wrong number of values: a mistake in this program.
      return error;
  }
}

function fromFileSystem(error: Error, code: string, path: string): Error {
  const options = { cause: error };
  if (code === 'ENOSPC' || code === 'EDQUOT') return diskFull(path, options);
  if (code === 'EROFS' || code === 'EACCES' || code === 'EPERM') return readOnly(path, options);
  if (/^E[A-Z0-9]+$/.test(code)) return unavailable(path, error.message, options);
  return error;
}

/** SQLite reports "can't open" and "I/O error" for many causes; the folder itself tells the two common ones. */
function explainedByPlace(path: string, options: ErrorOptions): StoreError | null {
  const folder = dirname(path);
  try {
    accessSync(folder, constants.W_OK);
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize < roomMinBytes ? diskFull(path, options) : null;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    return code === 'EROFS' || code === 'EACCES' ? readOnly(path, options) : null;
  }
}

function diskFull(path: string, options: ErrorOptions): StoreError {
  return new StoreError(
    'disk-full',
    `The disk that holds ${path} is full; nothing was written. Free some space and try again.`,
    options,
  );
}

export function readOnly(path: string, options?: ErrorOptions): StoreError {
  return new StoreError(
    'read-only',
    `${path} can't be written: the file or its folder is read-only for this user. Make it writable, or choose another home with TALARIA_HOME.`,
    options,
  );
}

function unavailable(path: string, detail: string, options: ErrorOptions): StoreError {
  return new StoreError(
    'unavailable',
    `${path} can't be used (${detail}); check that it is a file on a working disk.`,
    options,
  );
}
