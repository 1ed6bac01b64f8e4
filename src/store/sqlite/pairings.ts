/**
 * Pairing: a stranger is given a code, and whoever knows the code and may approve lets them in. Codes are kept by their
 * hash, end by themselves and work once; wrong ones are counted, also over restarts, and too many lock everybody out.
 */
import { present } from '../../lib/assert.ts';
import type { ApprovalResult, PairingLimits, PairingRequest, PairingResult, Role } from '../store.ts';
import type { Database } from './open-database.ts';
import { keepPerson, toNamed } from './people.ts';

export function requestPairing(
  database: Database,
  now: number,
  request: PairingRequest & { readonly codeHash: string },
  limits: PairingLimits,
): PairingResult {
  database.run('DELETE FROM pairings WHERE expires_at <= ?', now);
  const { channel } = request;
  const userId = JSON.stringify(request.userId);
  const own = database.get('SELECT 1 FROM pairings WHERE channel = ? AND user_id = ?', channel, userId);
  if (own !== undefined) return { kind: 'pending' };
  const sql = 'SELECT count(*) AS count FROM pairings WHERE channel = ?';
  const pending = database.get<{ count: number }>(sql, channel)?.count ?? 0;
  if (pending >= limits.pendingMax) return { kind: 'full' };
  database.run(
    `INSERT INTO pairings (channel, user_id, name, code_hash, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?)`,
    channel,
    userId,
    JSON.stringify(request.name),
    request.codeHash,
    request.createdAt,
    request.expiresAt,
  );
  return { kind: 'requested' };
}

export function approvePairing(
  database: Database,
  now: number,
  codeHash: string,
  role: Role,
  limits: PairingLimits,
): ApprovalResult {
  const guard = readGuard(database);
  if (guard.lockedUntil > now) return { kind: 'locked', until: guard.lockedUntil };
  const request = database.get<PairingRequest>(
    `SELECT ${requestColumns} FROM pairings WHERE code_hash = ? AND expires_at > ?`,
    codeHash,
    now,
  );
  if (request === undefined) return countWrong(database, now, guard.wrong + 1, limits);
  setGuard(database, 0, 0);
  const { channel, userId, name } = toNamed(request);
  // This also uses up the code.
  return { kind: 'approved', person: keepPerson(database, now, { channel, userId, name, role }) };
}

function countWrong(database: Database, now: number, wrong: number, limits: PairingLimits): ApprovalResult {
  const triesLeft = Math.max(0, limits.wrongMax - wrong);
  // When the lock ends, counting begins anew.
  if (triesLeft === 0) setGuard(database, 0, now + limits.lockMs);
  else setGuard(database, wrong, 0);
  return { kind: 'wrong', triesLeft };
}

interface Guard {
  readonly wrong: number;
  readonly lockedUntil: number;
}

function readGuard(database: Database): Guard {
  const sql = 'SELECT wrong, locked_until AS lockedUntil FROM pairing_guard WHERE id = 1';
  return present(database.get<Guard>(sql), 'the guard of pairings');
}

function setGuard(database: Database, wrong: number, lockedUntil: number): void {
  database.run('UPDATE pairing_guard SET wrong = ?, locked_until = ? WHERE id = 1', wrong, lockedUntil);
}

const requestColumns = 'channel, user_id AS userId, name, created_at AS createdAt, expires_at AS expiresAt';

export function readPairings(database: Database, now: number): PairingRequest[] {
  return database
    .all<PairingRequest>(`SELECT ${requestColumns} FROM pairings WHERE expires_at > ? ORDER BY created_at, number`, now)
    .map(toNamed);
}
