/** The named keys of the HTTP API, by their hash. */
import { StoreError, type ApiKeyRecord } from '../store.ts';
import type { Database } from './open-database.ts';

export function addApiKey(database: Database, now: number, { name, sha256 }: Omit<ApiKeyRecord, 'createdAt'>): void {
  const added = database.run(
    'INSERT INTO api_keys (name, sha256, created_at) VALUES (?, ?, ?) ON CONFLICT (name) DO NOTHING',
    JSON.stringify(name),
    sha256,
    now,
  );
  if (added > 0) return;
  throw new StoreError(
    'conflict',
    `There is an API key named ${name} already; choose another name or remove that one.`,
  );
}

export function removeApiKey(database: Database, _now: number, name: string): boolean {
  return database.run('DELETE FROM api_keys WHERE name = ?', JSON.stringify(name)) > 0;
}

export function readApiKeys(database: Database): ApiKeyRecord[] {
  return database
    .all<ApiKeyRecord>('SELECT name, sha256, created_at AS createdAt FROM api_keys ORDER BY number')
    .map((row) => ({ ...row, name: JSON.parse(row.name) as string }));
}
