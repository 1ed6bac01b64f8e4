/**
 * What people do about a parked turn: try it again or give it up. These verbs change a turn without a lease, so they
 * go through only while nobody owns the session, and shut out an owner that stalled.
 */
import type { SessionId, TurnId } from '../../protocol/ids.ts';
import { StoreError } from '../store.ts';
import { requireNoOwner } from './leases.ts';
import type { Database } from './open-database.ts';
import { readSession } from './reads.ts';
import { SessionDraft } from './session-draft.ts';

export function retryParked(database: Database, now: number, sessionId: SessionId): boolean {
  const turnId = newestParked(database, sessionId);
  const session = readSession(database, sessionId);
  if (turnId === null || session === null) return false;
  requireNoOwner(database, now, session);
  if (session.turn !== 'parked') {
    throw new StoreError(
      'conflict',
      `Session ${session.name} has gone on since its turn was parked; write the message again, or drop the turn.`,
    );
  }
  database.run(
    `UPDATE turns SET state = 'open', outcome = NULL, closed_at = NULL, crashes = 0, stop_requested = 0
     WHERE session_id = ? AND id = ?`,
    sessionId,
    turnId,
  );
  database.run(`UPDATE inbox SET state = 'promoted' WHERE session_id = ? AND turn_id = ?`, sessionId, turnId);
  const draft = new SessionDraft(database, now, sessionId);
  draft.setTurn('open', turnId);
  // Whoever reads the log sees that the turn's end was not the last of it.
  draft.append(turnId, { kind: 'turn-opened' });
  draft.append(turnId, { kind: 'notice', text: 'The parked turn is tried again.' });
  draft.save();
  return true;
}

export function dropParked(database: Database, now: number, sessionId: SessionId): boolean {
  const turnId = newestParked(database, sessionId);
  const session = readSession(database, sessionId);
  if (turnId === null || session === null) return false;
  requireNoOwner(database, now, session);
  const sql = `UPDATE turns SET state = 'closed', outcome = 'failed' WHERE session_id = ? AND id = ?`;
  database.run(sql, sessionId, turnId);
  database.run('UPDATE totals SET turns_failed = turns_failed + 1');
  const draft = new SessionDraft(database, now, sessionId);
  if (draft.openTurnId === null) draft.setTurn('none', null);
  draft.append(turnId, { kind: 'notice', text: 'The parked turn was given up.' });
  draft.save();
  return true;
}

function newestParked(database: Database, sessionId: SessionId): TurnId | null {
  const row = database.get<{ id: TurnId }>(
    `SELECT id FROM turns WHERE session_id = ? AND state = 'parked' ORDER BY first_seq DESC LIMIT 1`,
    sessionId,
  );
  return row?.id ?? null;
}
