/**
 * Feeds the search index from `state.db`: follows the entries by their id and the removals by their number, and
 * remembers how far it came in the same transaction as what it fed.
 */
import type { SessionId } from '../../protocol/ids.ts';
import { present } from '../../lib/assert.ts';
import { textOf, type EntryBody, type Message } from '../../protocol/messages.ts';
import type { Database } from './open-database.ts';

/** Entries per feed: other jobs come in between, and one that is interrupted loses no more than this. */
const feedBatchMax = 500;
/** Of one message; what a tool printed can be huge. */
const indexedCharsMax = 100_000;

export const searchTables = `
CREATE VIRTUAL TABLE texts USING fts5 (text, tokenize = 'unicode61 remove_diacritics 2');
CREATE TABLE places (
  entry_id   INTEGER PRIMARY KEY,
  session_id TEXT NOT NULL,
  seq        INTEGER NOT NULL,
  at         INTEGER NOT NULL,
  role       TEXT NOT NULL,
  owner      TEXT NOT NULL -- JSON: string, whose session it is
) STRICT;
CREATE INDEX places_by_session ON places (session_id);
-- How far the index has followed, and which entry and which removal that was: a restored state.db counts both anew.
CREATE TABLE progress (
  id         INTEGER PRIMARY KEY CHECK (id = 1),
  entry_id   INTEGER NOT NULL,
  session_id TEXT,
  seq        INTEGER,
  tombstone  INTEGER NOT NULL,
  removed_id TEXT
) STRICT;
INSERT INTO progress (id, entry_id, tombstone) VALUES (1, 0, 0);
`;

interface Progress {
  readonly entryId: number;
  readonly sessionId: string | null;
  readonly seq: number | null;
  readonly tombstone: number;
  readonly removedId: string | null;
}

interface FedEntry {
  readonly id: number;
  readonly sessionId: SessionId;
  readonly seq: number;
  readonly at: number;
  readonly body: string;
  readonly owner: string;
}

function readProgress(index: Database): Progress {
  const sql = `SELECT entry_id AS entryId, session_id AS sessionId, seq, tombstone, removed_id AS removedId
    FROM progress`;
  return present(index.get<Progress>(sql), 'the progress of the search index');
}

/** Was this index fed from this database, and not from one that was replaced since? */
export function isFedFrom(index: Database, state: Database): boolean {
  const progress = readProgress(index);
  return knowsEntry(state, progress) && knowsRemoval(state, progress);
}

/** Is the last entry that was fed still that entry, or gone with its session? */
function knowsEntry(state: Database, { entryId, sessionId, seq }: Progress): boolean {
  if (entryId === 0) return true;
  const entry = state.get<{ sessionId: string; seq: number }>(
    'SELECT session_id AS sessionId, seq FROM entries WHERE id = ?',
    entryId,
  );
  if (entry !== undefined) return entry.sessionId === sessionId && entry.seq === seq;
  const sql = 'SELECT 1 FROM tombstones WHERE session_id = ? AND entry_id >= ?';
  return state.get(sql, sessionId, entryId) !== undefined;
}

function knowsRemoval(state: Database, { tombstone, removedId }: Progress): boolean {
  if (tombstone === 0) return true;
  const sql = 'SELECT 1 FROM tombstones WHERE number = ? AND session_id = ?';
  return state.get(sql, tombstone, removedId) !== undefined;
}

/** True if there may be more. */
export function feedNext(index: Database, state: Database): boolean {
  forgetRemoved(index, state);
  const batch = state.all<FedEntry>(
    `SELECT entries.id, session_id AS sessionId, seq, at, body, owner
     FROM entries JOIN sessions ON sessions.id = session_id WHERE entries.id > ? ORDER BY entries.id LIMIT ?`,
    readProgress(index).entryId,
    feedBatchMax,
  );
  const last = batch.at(-1);
  if (last === undefined) return false;
  index.transaction(() => {
    for (const entry of batch) addEntry(index, entry);
    index.run('UPDATE progress SET entry_id = ?, session_id = ?, seq = ?', last.id, last.sessionId, last.seq);
  });
  return batch.length === feedBatchMax;
}

function forgetRemoved(index: Database, state: Database): void {
  const tombstones = state.all<{ number: number; sessionId: string }>(
    'SELECT number, session_id AS sessionId FROM tombstones WHERE number > ? ORDER BY number',
    readProgress(index).tombstone,
  );
  for (const { number, sessionId } of tombstones) {
    index.transaction(() => {
      index.run('DELETE FROM texts WHERE rowid IN (SELECT entry_id FROM places WHERE session_id = ?)', sessionId);
      index.run('DELETE FROM places WHERE session_id = ?', sessionId);
      index.run('UPDATE progress SET tombstone = ?, removed_id = ?', number, sessionId);
    });
  }
}

function addEntry(index: Database, entry: FedEntry): void {
  const body = JSON.parse(entry.body) as EntryBody;
  if (body.kind !== 'message' || ('inboxId' in body && body.inboxId === null)) return;
  const text = searchableText(body.message);
  if (text === '') return;
  index.run('INSERT INTO texts (rowid, text) VALUES (?, ?)', entry.id, text);
  index.run(
    'INSERT INTO places (entry_id, session_id, seq, at, role, owner) VALUES (?, ?, ?, ?, ?, ?)',
    entry.id,
    entry.sessionId,
    entry.seq,
    entry.at,
    body.message.role,
    entry.owner,
  );
}

function searchableText(message: Message): string {
  const text = message.role === 'tool' ? message.parts[0].text : textOf(message);
  return text.slice(0, indexedCharsMax);
}
