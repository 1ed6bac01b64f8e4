/** The verbs that take a session as a whole: stop its turn, remove it, bring one in from outside. */
import type { SessionId, SessionKey, TurnId } from '../../protocol/ids.ts';
import type { Entry, TurnOutcome } from '../../protocol/messages.ts';
import { present } from '../../lib/assert.ts';
import { StoreError, type PortableSession, type SessionRecord } from '../store.ts';
import { isNameTaken } from './admit.ts';
import { dropContents } from './contents.ts';
import { isLeased } from './leases.ts';
import { loseModelCalls } from './lost-model-calls.ts';
import type { Database } from './open-database.ts';
import { readSession } from './reads.ts';
import { insertEntry, isSaid, newestEntryId } from './session-draft.ts';

export function requestStop(database: Database, _now: number, sessionId: SessionId): boolean {
  return database.run(`UPDATE turns SET stop_requested = 1 WHERE session_id = ? AND state = 'open'`, sessionId) > 0;
}

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
  for (const table of ['outbox', 'inbox', 'leases', 'tool_calls', 'model_calls', 'entries', 'turns'] as const) {
    database.run(`DELETE FROM ${table} WHERE session_id = ?`, id);
  }
  database.run('DELETE FROM sessions WHERE id = ?', id);
  return true;
}

export function importSession(
  database: Database,
  _now: number,
  id: SessionId,
  key: SessionKey,
  session: PortableSession,
): SessionRecord {
  if (isNameTaken(database, session.name)) {
    throw new StoreError('conflict', `There is a session named ${session.name} already; import it under another name.`);
  }
  const outcomes = closedTurns(session.entries);
  // A turn that was under way when it was exported can't go on here: its calls and its owner are elsewhere.
  const entries = session.entries.filter((entry) => entry.turnId === null || outcomes.has(entry.turnId));
  insertSession(database, id, key, session, entries);
  insertTurns(database, id, entries, outcomes);
  entries.forEach(({ seq: _seq, at, turnId, ...body }, index) =>
    insertEntry(database, id, { seq: index + 1, at, turnId, body }),
  );
  return present(readSession(database, id), 'the imported session');
}

function closedTurns(entries: readonly Entry[]): ReadonlyMap<TurnId, TurnOutcome> {
  const outcomes = new Map<TurnId, TurnOutcome>();
  for (const entry of entries) {
    if (entry.turnId === null) continue;
    if (entry.kind === 'turn-closed') outcomes.set(entry.turnId, entry.outcome);
    // A parked turn that is tried again is open again.
    if (entry.kind === 'turn-opened') outcomes.delete(entry.turnId);
  }
  return outcomes;
}

function insertSession(
  database: Database,
  id: SessionId,
  key: SessionKey,
  session: PortableSession,
  entries: readonly Entry[],
): void {
  const messages = entries.filter(isSaid).length;
  database.run(
    `INSERT INTO sessions (id, key, name, title, created_at, updated_at, last_seq, messages)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    id,
    key,
    session.name,
    session.title,
    session.createdAt,
    Math.max(session.createdAt, entries.at(-1)?.at ?? 0),
    entries.length,
    messages,
  );
}

function insertTurns(
  database: Database,
  id: SessionId,
  entries: readonly Entry[],
  outcomes: ReadonlyMap<TurnId, TurnOutcome>,
): void {
  const seen = new Set<TurnId>();
  entries.forEach(({ turnId, at }, index) => {
    if (turnId === null || seen.has(turnId)) return;
    seen.add(turnId);
    const outcome = present(outcomes.get(turnId), `the outcome of ${turnId}`);
    database.run(
      `INSERT INTO turns (session_id, id, state, outcome, opened_at, closed_at, first_seq) VALUES (?, ?, 'closed', ?, ?, ?, ?)`,
      id,
      turnId,
      outcome,
      at,
      at,
      index + 1,
    );
  });
}
