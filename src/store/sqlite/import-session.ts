/** Brings in a session from outside: numbered anew, without what was under way where it came from. */
import type { SessionId, SessionKey, TurnId } from '../../protocol/ids.ts';
import type { Entry, TurnOutcome } from '../../protocol/messages.ts';
import { present } from '../../lib/assert.ts';
import { renumbered } from '../renumbered.ts';
import { StoreError, type PortableSession, type SessionRecord } from '../store.ts';
import { isNameTaken } from './admit.ts';
import { adoptContents } from './contents.ts';
import type { Database } from './open-database.ts';
import { readSession } from './reads.ts';
import { insertEntry, isSaid } from './session-draft.ts';

export function importSession(
  database: Database,
  _now: number,
  id: SessionId,
  key: SessionKey,
  owner: string,
  session: PortableSession,
): SessionRecord {
  if (isNameTaken(database, session.name)) {
    throw new StoreError('conflict', `There is a session named ${session.name} already; import it under another name.`);
  }
  const outcomes = closedTurns(session.entries);
  // A turn that was under way when it was exported can't go on here: its calls and its owner are elsewhere.
  const entries = renumbered(session.entries.filter((entry) => entry.turnId === null || outcomes.has(entry.turnId)));
  insertSession(database, { id, key, owner }, session, entries);
  insertTurns(database, id, entries, outcomes);
  for (const { seq, at, turnId, ...body } of entries) insertEntry(database, id, { seq, at, turnId, body });
  adoptContents(database, id, entries);
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
  { id, key, owner }: Pick<SessionRecord, 'id' | 'key' | 'owner'>,
  session: PortableSession,
  entries: readonly Entry[],
): void {
  const messages = entries.filter(isSaid).length;
  database.run(
    `INSERT INTO sessions (id, key, owner, name, title, created_at, updated_at, last_seq, messages)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    id,
    key,
    JSON.stringify(owner),
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
  for (const { seq, turnId, at } of entries) {
    if (turnId === null || seen.has(turnId)) continue;
    seen.add(turnId);
    const outcome = present(outcomes.get(turnId), `the outcome of ${turnId}`);
    database.run(
      `INSERT INTO turns (session_id, id, state, outcome, opened_at, closed_at, first_seq) VALUES (?, ?, 'closed', ?, ?, ?, ?)`,
      id,
      turnId,
      outcome,
      at,
      at,
      seq,
    );
  }
}
