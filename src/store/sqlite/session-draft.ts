/**
 * A session during one commit: what its row says, and the entries that are being appended. Owns the numbering (no
 * gaps, no repeats) and the few figures that the session's row keeps about its log.
 */
import type { SessionId, TurnId } from '../../protocol/ids.ts';
import type { EntryBody } from '../../protocol/messages.ts';
import { StoreError, type SessionRecord } from '../store.ts';
import type { Database } from './open-database.ts';

interface DraftRow {
  readonly lastSeq: number;
  readonly messages: number;
  readonly turn: SessionRecord['turn'];
  readonly openTurnId: TurnId | null;
}

export class SessionDraft {
  readonly database: Database;
  readonly now: number;
  readonly sessionId: SessionId;
  #lastSeq: number;
  #messages: number;
  #turn: SessionRecord['turn'];
  #openTurnId: TurnId | null;
  #changed = false;

  constructor(database: Database, now: number, sessionId: SessionId) {
    const row = database.get<DraftRow>(
      `SELECT last_seq AS lastSeq, messages, turn,
         (SELECT id FROM turns WHERE session_id = sessions.id AND state = 'open') AS openTurnId
       FROM sessions WHERE id = ?`,
      sessionId,
    );
    if (row === undefined) throw conflict(`there is no session ${sessionId}`);
    this.database = database;
    this.now = now;
    this.sessionId = sessionId;
    this.#lastSeq = row.lastSeq;
    this.#messages = row.messages;
    this.#turn = row.turn;
    this.#openTurnId = row.openTurnId;
  }

  get lastSeq(): number {
    return this.#lastSeq;
  }

  get turn(): SessionRecord['turn'] {
    return this.#turn;
  }

  get openTurnId(): TurnId | null {
    return this.#openTurnId;
  }

  requireOpenTurn(turnId: TurnId): void {
    if (this.#openTurnId !== turnId) throw conflict(`turn ${turnId} of ${this.sessionId} is not open`);
  }

  setTurn(turn: SessionRecord['turn'], openTurnId: TurnId | null): void {
    this.#turn = turn;
    this.#openTurnId = openTurnId;
    this.#changed = true;
  }

  append(turnId: TurnId | null, body: EntryBody): number {
    this.#lastSeq += 1;
    if (isSaid(body)) this.#messages += 1;
    this.#changed = true;
    insertEntry(this.database, this.sessionId, { seq: this.#lastSeq, at: this.now, turnId, body });
    return this.#lastSeq;
  }

  save(): void {
    if (!this.#changed) return;
    this.database.run(
      'UPDATE sessions SET last_seq = ?, messages = ?, turn = ?, updated_at = max(updated_at, ?) WHERE id = ?',
      this.#lastSeq,
      this.#messages,
      this.#turn,
      this.now,
      this.sessionId,
    );
  }
}

/** What somebody said, a person or the model; not a tool's result, nor what the program itself tells the model. */
export function isSaid(body: EntryBody): boolean {
  if (body.kind !== 'message' || body.message.role === 'tool') return false;
  return !('inboxId' in body) || body.inboxId !== null;
}

export interface NewEntry {
  readonly seq: number;
  readonly at: number;
  readonly turnId: TurnId | null;
  readonly body: EntryBody;
}

/** The newest id that an entry ever had, also if it was removed with its session since. */
export const newestEntryId = `max(
  coalesce((SELECT max(id) FROM entries), 0),
  coalesce((SELECT entry_id FROM tombstones ORDER BY number DESC LIMIT 1), 0)
)`;

export function insertEntry(database: Database, sessionId: SessionId, entry: NewEntry): void {
  database.run(
    `INSERT INTO entries (id, session_id, seq, at, turn_id, body) VALUES (1 + ${newestEntryId}, ?, ?, ?, ?, ?)`,
    sessionId,
    entry.seq,
    entry.at,
    entry.turnId,
    JSON.stringify(entry.body),
  );
}

/** A verb that does not fit what is stored: a bug of its author or a race that was lost. */
export function conflict(what: string): StoreError {
  return new StoreError('conflict', `This does not fit what is stored: ${what}.`);
}
