/** Keys that had better be left alone for a while. One row per key that ever rested; a rest that is over just stays. */
import type { KeyRest } from '../store.ts';
import type { Database } from './open-database.ts';

export function restKey(database: Database, _now: number, rest: KeyRest): void {
  database.run(
    `INSERT INTO key_rests (provider, key_id, reason, rests_until) VALUES (?, ?, ?, ?)
     ON CONFLICT (provider, key_id) DO UPDATE SET reason = excluded.reason, rests_until = excluded.rests_until
     WHERE excluded.rests_until > rests_until`,
    rest.provider,
    rest.keyId,
    JSON.stringify(rest.reason),
    rest.until,
  );
}

export function wakeKey(database: Database, _now: number, provider: string, keyId: string): void {
  database.run('DELETE FROM key_rests WHERE provider = ? AND key_id = ?', provider, keyId);
}

export function readKeyRests(database: Database, now: number): KeyRest[] {
  return database
    .all<KeyRest>(
      `SELECT provider, key_id AS keyId, reason, rests_until AS until FROM key_rests
       WHERE rests_until > ? ORDER BY provider, key_id`,
      now,
    )
    .map((row) => ({ ...row, reason: JSON.parse(row.reason) as string }));
}
