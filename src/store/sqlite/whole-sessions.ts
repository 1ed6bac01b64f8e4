/** The verbs that take a session as a whole: stop its turn, close it, open it again, remove it. */
import type { SessionId, SessionKey } from '../../protocol/ids.ts';
import { StoreError } from '../store.ts';
import { dropContents } from './contents.ts';
import { isLeased } from './leases.ts';
import { loseModelCalls } from './lost-model-calls.ts';
import type { Database } from './open-database.ts';
import { readSession } from './reads.ts';
import { newestEntryId } from './session-draft.ts';

export function requestStop(database: Database, _now: number, sessionId: SessionId): boolean {
  return database.run(`UPDATE turns SET stop_requested = 1 WHERE session_id = ? AND state = 'open'`, sessionId) > 0;
}

/** What it has left to do is still done: only its key is free. */
export function closeSession(database: Database, _now: number, sessionId: SessionId): boolean {
  return database.run('UPDATE sessions SET is_closed = 1 WHERE id = ? AND is_closed = 0', sessionId) > 0;
}

export function reopenSession(database: Database, _now: number, sessionId: SessionId, key: SessionKey): boolean {
  if (readSession(database, sessionId) === null) return false;
  database.run('UPDATE sessions SET is_closed = 1 WHERE key = ? AND is_closed = 0', key);
  database.run('UPDATE sessions SET key = ?, is_closed = 0 WHERE id = ?', key, sessionId);
  return true;
}

/** In an order in which nothing is left that refers to what is gone. */
const tablesOfSession = [
  'drafts',
  'grants',
  'outbox',
  'inbox',
  'leases',
  'tool_calls',
  'model_calls',
  'entries',
  'turns',
] as const;

export function deleteSession(database: Database, now: number, id: SessionId): boolean {
  const session = readSession(database, id);
  if (session === null) return false;
  if (session.turn === 'open' && isLeased(database, now, id)) {
    throw new StoreError('conflict', `Session ${session.name} is at work; stop it first, then delete it.`);
  }
  // What it may have cost stays on record, the session does not.
  loseModelCalls(database, now, id);
  dropContents(database, id);
  database.run(`INSERT INTO tombstones (session_id, entry_id, at) VALUES (?, ${newestEntryId}, ?)`, id, now);
  for (const table of tablesOfSession) {
    database.run(`DELETE FROM ${table} WHERE session_id = ?`, id);
  }
  database.run('DELETE FROM sessions WHERE id = ?', id);
  return true;
}
