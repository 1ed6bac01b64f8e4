/** A consistent copy of a database while others go on writing it. Complete or not there; readable by the owner only. */
import { closeSync, openSync, rmSync } from 'node:fs';
import { StoreError } from '../store.ts';
import type { Database } from './open-database.ts';
import { toStoreError } from './to-store-error.ts';

export function copyDatabase(database: Database, path: string): void {
  createEmptyFile(path);
  try {
    database.run('VACUUM INTO ?', path);
  } catch (error) {
    rmSync(path, { force: true });
    if (error instanceof StoreError && error.reason === 'disk-full') {
      throw new StoreError('disk-full', `There is no room for a copy of the database at ${path}; free some space.`, {
        cause: error,
      });
    }
    throw error;
  }
}

/** SQLite would create it readable for everybody; it accepts an empty file that is there already. */
function createEmptyFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') {
      throw new StoreError('conflict', `${path} exists already; choose another name or remove it.`, { cause: error });
    }
    throw toStoreError(error, path);
  }
}
