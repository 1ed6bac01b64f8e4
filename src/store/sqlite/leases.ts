/**
 * Leases: one owner per session. A token is only ever raised, so that whoever holds an older one can be told, inside
 * the transaction that it wants to write, that it is no owner any more.
 */
import type { NodeId, SessionId } from '../../protocol/ids.ts';
import { StoreError, type Lease, type SessionRecord } from '../store.ts';
import { loseModelCalls } from './lost-model-calls.ts';
import type { Database } from './open-database.ts';

interface LeaseRow {
  readonly owner: NodeId;
  readonly token: number;
  readonly expiresAt: number;
  readonly state: 'held' | 'released' | 'abandoned';
}

function readLease(database: Database, sessionId: SessionId): LeaseRow | undefined {
  const sql = 'SELECT owner, token, expires_at AS expiresAt, state FROM leases WHERE session_id = ?';
  return database.get<LeaseRow>(sql, sessionId);
}

export function acquireLease(
  database: Database,
  now: number,
  sessionId: SessionId,
  owner: NodeId,
  ttlMs: number,
): Lease | null {
  if (database.get('SELECT 1 FROM sessions WHERE id = ?', sessionId) === undefined) return null;
  const before = readLease(database, sessionId);
  if (before !== undefined && before.owner !== owner && isValid(before, now)) return null;

  // An owner that asks again is alive: its work was interrupted, the process was not.
  const ownerDied =
    before !== undefined && (before.state === 'abandoned' || (before.state === 'held' && before.owner !== owner));
  if (ownerDied) {
    database.run(`UPDATE turns SET crashes = crashes + 1 WHERE session_id = ? AND state = 'open'`, sessionId);
  }
  // Only the newest lease may write: nobody is left who could end them.
  loseModelCalls(database, now, sessionId);
  const token = (before?.token ?? 0) + 1;
  database.run(
    `INSERT INTO leases (session_id, owner, token, expires_at, state) VALUES (?, ?, ?, ?, 'held')
     ON CONFLICT (session_id) DO UPDATE
     SET owner = excluded.owner, token = excluded.token, expires_at = excluded.expires_at, state = 'held'`,
    sessionId,
    owner,
    token,
    now + ttlMs,
  );
  return { sessionId, owner, token };
}

export function renewLeases(database: Database, now: number, owner: NodeId, ttlMs: number): void {
  database.run(`UPDATE leases SET expires_at = ? WHERE owner = ? AND state = 'held'`, now + ttlMs, owner);
}

export function releaseLease(database: Database, now: number, lease: Lease): void {
  const released = database.run(
    `UPDATE leases SET state = 'released' WHERE session_id = ? AND owner = ? AND token = ? AND state = 'held'`,
    lease.sessionId,
    lease.owner,
    lease.token,
  );
  if (released > 0) loseModelCalls(database, now, lease.sessionId);
}

/** Time plays no part here: an owner that is late but not replaced has done no harm. */
export function requireLease(database: Database, lease: Lease): void {
  const current = readLease(database, lease.sessionId);
  if (current?.state === 'held' && current.token === lease.token && current.owner === lease.owner) return;
  throw new StoreError(
    'lease-lost',
    `Session ${lease.sessionId} is no longer owned by ${lease.owner} (lease ${lease.token}); nothing was written.`,
  );
}

export function isLeased(database: Database, now: number, sessionId: SessionId): boolean {
  const lease = readLease(database, sessionId);
  return lease !== undefined && isValid(lease, now);
}

/** Nobody at work, and whoever stalled with an old lease can write no more: a verb without a lease may change the turn. */
export function requireNoOwner(database: Database, now: number, session: SessionRecord): void {
  const lease = readLease(database, session.id);
  if (lease === undefined) return;
  if (isValid(lease, now)) {
    throw new StoreError('conflict', `Session ${session.name} is at work; try again when it is done.`);
  }
  database.run(`UPDATE leases SET state = 'released' WHERE session_id = ?`, session.id);
}

/** For a process that has just begun and is alone: nobody can hold a lease. */
export function abandonLeases(database: Database): number {
  return database.run(`UPDATE leases SET state = 'abandoned' WHERE state = 'held'`);
}

function isValid(lease: LeaseRow, now: number): boolean {
  return lease.state === 'held' && lease.expiresAt > now;
}
