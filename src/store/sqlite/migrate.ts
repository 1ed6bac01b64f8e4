/**
 * Brings a database's schema to the newest number. All pending migrations are one transaction, and an older database
 * is copied beside itself first, so that a failure changes nothing and a regret has a way back.
 */
import { renameSync, rmSync } from 'node:fs';
import { assert } from '../../lib/assert.ts';
import type { Log } from '../../lib/log.ts';
import { StoreError } from '../store.ts';
import { copyDatabase } from './copy-database.ts';
import type { Database } from './open-database.ts';
import { applicationId, type Migration } from './schema.ts';
import { damaged } from './to-store-error.ts';

export function schemaNumber(database: Database): number {
  return database.get<{ user_version: number }>('PRAGMA user_version')?.user_version ?? 0;
}

export function newestNumber(migrations: readonly Migration[]): number {
  migrations.forEach((migration, index) => assert(migration.number === index + 1, 'migrations are numbered from 1'));
  return migrations.length;
}

/** For a database that has nothing in it yet. */
export function createSchema(database: Database, migrations: readonly Migration[]): void {
  database.exec(`PRAGMA application_id = ${applicationId}`);
  applyPending(database, 0, migrations);
}

/** Refuses what is not ours or newer than this program; migrates what is older. */
export function bringUpToDate(database: Database, migrations: readonly Migration[], log: Log): void {
  const mark = database.get<{ application_id: number }>('PRAGMA application_id')?.application_id;
  if (mark !== applicationId) throw damaged(database.path, 'it is not a database of Talaria');
  const found = schemaNumber(database);
  const newest = newestNumber(migrations);
  if (found > newest) throw newerSchema(database.path, found, newest);
  if (found === newest) return;

  const copyPath = `${database.path}.before-${newest}`;
  copyBeside(database, copyPath);
  log.info('migrating the database', { path: database.path, from: found, to: newest, copy: copyPath });
  try {
    applyPending(database, found, migrations);
  } catch (error) {
    if (error instanceof StoreError && error.reason !== 'conflict') throw error;
    throw new StoreError(
      'unavailable',
      `${database.path} could not be brought from schema ${found} to ${newest}; it is unchanged. Go back to the Talaria you had before.`,
      { cause: error },
    );
  }
}

function newerSchema(path: string, found: number, newest: number): StoreError {
  return new StoreError(
    'newer-schema',
    `${path} was written by a newer Talaria (schema ${found}, this one knows ${newest}): upgrade Talaria, or restore the copy ${path}.before-${found} or another backup.`,
  );
}

function applyPending(database: Database, from: number, migrations: readonly Migration[]): void {
  // A migration that rebuilds a table must drop the old one, which foreign keys would take for a mass removal. The
  // switch has no effect inside a transaction, so it surrounds it.
  database.exec('PRAGMA foreign_keys = OFF');
  try {
    database.transaction(() => {
      for (const migration of migrations.slice(from)) {
        database.exec(migration.sql);
        database.exec(`PRAGMA user_version = ${migration.number}`);
      }
      const broken = database.all('PRAGMA foreign_key_check');
      assert(broken.length === 0, `a migration left ${broken.length} dangling references`);
    });
  } finally {
    database.exec('PRAGMA foreign_keys = ON');
  }
}

/** The copy appears whole or not at all, also when an earlier attempt left one behind. */
function copyBeside(database: Database, copyPath: string): void {
  const draft = `${copyPath}.writing`;
  rmSync(draft, { force: true });
  copyDatabase(database, draft);
  renameSync(draft, copyPath);
}
