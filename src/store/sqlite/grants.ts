/** What a person allowed for longer than once: exactly this, in one session or in all. */
import type { SessionId } from '../../protocol/ids.ts';
import type { GrantRecord } from '../store.ts';
import type { Database } from './open-database.ts';

export function addGrant(database: Database, now: number, grant: Omit<GrantRecord, 'id' | 'grantedAt'>): void {
  database.run(
    `INSERT INTO grants (session_id, kind, subject, shown, granted_at)
     SELECT ?1, ?2, ?3, ?4, ?5
     WHERE (?1 IS NULL OR EXISTS (SELECT 1 FROM sessions WHERE id = ?1)) AND NOT EXISTS (
       SELECT 1 FROM grants WHERE kind = ?2 AND subject = ?3 AND coalesce(session_id, '') = coalesce(?1, '')
     )`,
    grant.sessionId,
    grant.kind,
    JSON.stringify(grant.subject),
    JSON.stringify(grant.shown),
    now,
  );
}

export function removeGrant(database: Database, _now: number, id: number): boolean {
  return database.run('DELETE FROM grants WHERE id = ?', id) > 0;
}

export function readGrants(database: Database): GrantRecord[] {
  return database
    .all<GrantRecord>(
      'SELECT id, session_id AS sessionId, kind, subject, shown, granted_at AS grantedAt FROM grants ORDER BY id',
    )
    .map((row) => ({
      ...row,
      subject: JSON.parse(row.subject) as string,
      shown: JSON.parse(row.shown) as string,
    }));
}

export function readIsGranted(database: Database, sessionId: SessionId, kind: string, subject: string): boolean {
  const sql = `SELECT 1 FROM grants WHERE kind = ? AND subject = ? AND coalesce(session_id, '') IN ('', ?)`;
  return database.get(sql, kind, JSON.stringify(subject), sessionId) !== undefined;
}
