/**
 * Feeds the search index from `state.db`: follows the entries by their id and the removals by their number, and
 * remembers how far it came in the same transaction as what it fed. The index holds no text, only what is in it.
 */
import type { SessionId } from '../../protocol/ids.ts';
import { present } from '../../lib/assert.ts';
import { textOf, type EntryBody, type Message } from '../../protocol/messages.ts';
import type { Database } from './open-database.ts';
import { ownerToken, sectionOf, tokensOf } from './search-tokens.ts';

/** Entries per feed: other jobs come in between and wait for no more than this. */
const feedBatchMax = 100;
/** And no more text than this, because a few results of tools can be as long as a thousand messages. */
const feedCharsMax = 400_000;
/** Of one message; what a tool printed can be huge. */
const indexedCharsMax = 100_000;

export const searchTables = `
CREATE VIRTUAL TABLE tokens USING fts5 (
  list, content = '', contentless_delete = 1, detail = none, tokenize = "ascii tokenchars '=~^@'"
);
-- Every word of four letters and more that was ever said, and which parts it has.
CREATE TABLE words (
  number INTEGER PRIMARY KEY,
  word   TEXT NOT NULL UNIQUE
) STRICT;
CREATE VIRTUAL TABLE parts USING fts5 (
  word, content = 'words', content_rowid = 'number', tokenize = 'trigram case_sensitive 1'
);
CREATE TABLE owners (
  number INTEGER PRIMARY KEY,
  owner  TEXT NOT NULL UNIQUE -- JSON: string
) STRICT;
CREATE TABLE sessions (
  number INTEGER PRIMARY KEY,
  id     TEXT NOT NULL UNIQUE,
  owner  INTEGER NOT NULL REFERENCES owners (number)
) STRICT;
CREATE TABLE places (
  entry_id INTEGER PRIMARY KEY,
  session  INTEGER NOT NULL REFERENCES sessions (number),
  seq      INTEGER NOT NULL,
  at       INTEGER NOT NULL
) STRICT;
CREATE INDEX places_by_session ON places (session);
-- Between which entries everything of a day stands: entries are nearly always in the order of time.
CREATE TABLE days (
  day      INTEGER PRIMARY KEY, -- since 1970
  first_id INTEGER NOT NULL,
  last_id  INTEGER NOT NULL
) STRICT;
-- How far the index has followed, and which entry and which removal that was: a restored state.db counts both anew.
CREATE TABLE progress (
  id         INTEGER PRIMARY KEY CHECK (id = 1),
  entry_id   INTEGER NOT NULL,
  session_id TEXT,
  seq        INTEGER,
  tombstone  INTEGER NOT NULL,
  removed_id TEXT,
  -- Up to which entry everything is in one piece, and whether more is being put together.
  merged_id  INTEGER NOT NULL DEFAULT 0,
  is_merging INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO progress (id, entry_id, tombstone) VALUES (1, 0, 0);
`;

export const dayMs = 86_400_000;

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
  if (batch.length === 0) return false;
  let fed = 0;
  index.transaction(() => {
    let chars = 0;
    const known = new Set<string>();
    for (const entry of batch) {
      if (chars > feedCharsMax) break;
      chars += addEntry(index, entry, known);
      fed++;
    }
    const last = present(batch[fed - 1], 'the last entry that was fed');
    index.run('UPDATE progress SET entry_id = ?, session_id = ?, seq = ?', last.id, last.sessionId, last.seq);
  });
  return batch.length === feedBatchMax || fed < batch.length;
}

function forgetRemoved(index: Database, state: Database): void {
  const tombstones = state.all<{ number: number; sessionId: string }>(
    'SELECT number, session_id AS sessionId FROM tombstones WHERE number > ? ORDER BY number',
    readProgress(index).tombstone,
  );
  for (const { number, sessionId } of tombstones) {
    index.transaction(() => {
      const session = index.get<{ number: number }>('SELECT number FROM sessions WHERE id = ?', sessionId)?.number;
      if (session !== undefined) {
        index.run('DELETE FROM tokens WHERE rowid IN (SELECT entry_id FROM places WHERE session = ?)', session);
        index.run('DELETE FROM places WHERE session = ?', session);
        index.run('DELETE FROM sessions WHERE number = ?', session);
      }
      index.run('UPDATE progress SET tombstone = ?, removed_id = ?', number, sessionId);
    });
  }
}

/** How much text it took in. `known` are words that are in the list already. */
function addEntry(index: Database, entry: FedEntry, known: Set<string>): number {
  const text = searchableText(JSON.parse(entry.body) as EntryBody);
  if (text === null) return 0;
  const { id, seq, at } = entry;
  const owner = numberOfOwner(index, entry.owner);
  const session = numberOfSession(index, entry.sessionId, owner);
  const { tokens, words } = tokensOf(text);
  const section = sectionOf(id);
  const list = [ownerToken(owner), ...tokens].map((token) => `${section}${token}`).join(' ');
  for (const word of words) if (!known.has(word)) learn(index, word, known);
  index.run('INSERT INTO tokens (rowid, list) VALUES (?, ?)', id, list);
  index.run('INSERT INTO places (entry_id, session, seq, at) VALUES (?, ?, ?, ?)', id, session, seq, at);
  index.run(
    `INSERT INTO days (day, first_id, last_id) VALUES (?, ?, ?)
     ON CONFLICT (day) DO UPDATE SET first_id = min(first_id, excluded.first_id), last_id = max(last_id, excluded.last_id)`,
    Math.floor(at / dayMs),
    id,
    id,
  );
  return text.length;
}

function learn(index: Database, word: string, known: Set<string>): void {
  known.add(word);
  if (index.run('INSERT INTO words (word) VALUES (?) ON CONFLICT DO NOTHING', word) === 0) return;
  index.run('INSERT INTO parts (rowid, word) SELECT number, word FROM words WHERE word = ?', word);
}

function numberOfOwner(index: Database, owner: string): number {
  index.run('INSERT INTO owners (owner) VALUES (?) ON CONFLICT DO NOTHING', owner);
  const row = index.get<{ number: number }>('SELECT number FROM owners WHERE owner = ?', owner);
  return present(row, 'the owner in the index').number;
}

function numberOfSession(index: Database, id: string, owner: number): number {
  index.run('INSERT INTO sessions (id, owner) VALUES (?, ?) ON CONFLICT DO NOTHING', id, owner);
  return present(index.get<{ number: number }>('SELECT number FROM sessions WHERE id = ?', id), 'the session').number;
}

/** What can be found of an entry; null if nothing. */
export function searchableText(body: EntryBody): string | null {
  if (body.kind !== 'message' || ('inboxId' in body && body.inboxId === null)) return null;
  const text = messageText(body.message).slice(0, indexedCharsMax);
  return text === '' ? null : text;
}

function messageText(message: Message): string {
  return message.role === 'tool' ? message.parts[0].text : textOf(message);
}
