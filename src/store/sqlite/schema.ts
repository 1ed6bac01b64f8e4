/**
 * The tables of `state.db`, as numbered migrations. A migration that has been released is never edited: a change is a
 * new one at the end.
 *
 * Text that people, models or platforms wrote is kept as JSON, because SQLite's UTF-8 can't hold a lone surrogate and
 * JSON escapes it: what is read is exactly what was stored. Such columns are marked `JSON`.
 */
export interface Migration {
  /** From 1, without gaps; the database's `user_version` after it. */
  readonly number: number;
  readonly name: string;
  readonly sql: string;
}

/** Marks a SQLite file as ours: "Tala" in ASCII. */
export const applicationId = 0x54616c61;

const firstSchema = `
CREATE TABLE sessions (
  id         TEXT PRIMARY KEY,
  key        TEXT NOT NULL, -- unique among those that are not closed
  name       TEXT NOT NULL UNIQUE,
  owner      TEXT NOT NULL, -- JSON: string
  is_closed  INTEGER NOT NULL DEFAULT 0 CHECK (is_closed IN (0, 1)),
  title      TEXT NOT NULL,
  titled_by  TEXT NOT NULL DEFAULT 'words' CHECK (titled_by IN ('words', 'model', 'person')),
  settings   TEXT NOT NULL DEFAULT '{"model":null,"effort":null}', -- JSON: SessionSettings
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  last_seq   INTEGER NOT NULL DEFAULT 0,
  messages   INTEGER NOT NULL DEFAULT 0,
  turn       TEXT NOT NULL DEFAULT 'none' CHECK (turn IN ('none', 'open', 'parked')),
  spent_usd  REAL NOT NULL DEFAULT 0, -- by its model calls that have ended
  wished_at  INTEGER -- since when somebody waits for it to be shortened
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX sessions_by_key ON sessions (key) WHERE is_closed = 0;
CREATE INDEX sessions_by_activity ON sessions (updated_at);
CREATE INDEX sessions_by_owner ON sessions (owner, updated_at);
CREATE INDEX sessions_wished ON sessions (id) WHERE wished_at IS NOT NULL;

CREATE TABLE turns (
  session_id     TEXT NOT NULL REFERENCES sessions (id),
  id             TEXT NOT NULL,
  state          TEXT NOT NULL CHECK (state IN ('open', 'closed', 'parked')),
  outcome        TEXT CHECK (outcome IN ('answered', 'stopped', 'failed', 'parked')),
  opened_at      INTEGER NOT NULL,
  closed_at      INTEGER,
  crashes        INTEGER NOT NULL DEFAULT 0,
  model_calls    INTEGER NOT NULL DEFAULT 0,
  stop_requested INTEGER NOT NULL DEFAULT 0,
  first_seq      INTEGER NOT NULL,
  channel        TEXT NOT NULL DEFAULT '', -- where its first message came from
  sender         TEXT NOT NULL DEFAULT '""', -- JSON: string, who wrote that message
  PRIMARY KEY (session_id, id),
  CHECK ((state = 'open') = (outcome IS NULL))
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX turns_open ON turns (session_id) WHERE state = 'open';
CREATE INDEX turns_by_session ON turns (session_id, first_seq);
CREATE INDEX turns_parked ON turns (session_id) WHERE state = 'parked';

-- Append-only. id grows over all sessions and is never used again: the search index follows it.
CREATE TABLE entries (
  id         INTEGER PRIMARY KEY,
  session_id TEXT NOT NULL REFERENCES sessions (id),
  seq        INTEGER NOT NULL,
  at         INTEGER NOT NULL,
  turn_id    TEXT,
  body       TEXT NOT NULL, -- JSON: EntryBody
  UNIQUE (session_id, seq),
  FOREIGN KEY (session_id, turn_id) REFERENCES turns (session_id, id)
) STRICT;

-- Sessions that were removed, for those who follow entries. entry_id: the newest entry of all when it happened.
CREATE TABLE tombstones (
  number     INTEGER PRIMARY KEY,
  session_id TEXT NOT NULL,
  entry_id   INTEGER NOT NULL,
  at         INTEGER NOT NULL
) STRICT;

CREATE TABLE tool_calls (
  session_id TEXT NOT NULL,
  id         TEXT NOT NULL,
  turn_id    TEXT NOT NULL,
  seq        INTEGER NOT NULL, -- of the message that asked for it
  position   INTEGER NOT NULL,
  state      TEXT NOT NULL CHECK (
    state IN ('planned', 'started', 'waiting', 'finished', 'failed', 'unknown', 'skipped')
  ),
  plan       TEXT NOT NULL, -- JSON: name, arguments, effect, replay
  question   TEXT, -- JSON: Question
  answer     TEXT, -- JSON: string
  PRIMARY KEY (session_id, id),
  FOREIGN KEY (session_id, turn_id) REFERENCES turns (session_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX tool_calls_unsettled ON tool_calls (session_id, turn_id, seq, position)
  WHERE state IN ('planned', 'started', 'waiting');

CREATE TABLE model_calls (
  number             INTEGER PRIMARY KEY, -- order of starting
  session_id         TEXT NOT NULL REFERENCES sessions (id),
  id                 TEXT NOT NULL,
  turn_id            TEXT,
  purpose            TEXT NOT NULL CHECK (
    purpose IN ('answer', 'summarise', 'title', 'compression', 'approval', 'vision')
  ),
  provider           TEXT NOT NULL,
  model              TEXT NOT NULL,
  key_id             TEXT NOT NULL,
  state              TEXT NOT NULL CHECK (state IN ('started', 'completed', 'failed', 'cancelled', 'lost')),
  started_at         INTEGER NOT NULL,
  ended_at           INTEGER,
  answer_seq         INTEGER,
  -- What it counts for.
  day                TEXT NOT NULL,
  channel            TEXT NOT NULL,
  user               TEXT NOT NULL, -- JSON: string
  reserved_usd       REAL,
  -- What it used; null until it has ended, and if it used nothing.
  input_tokens       INTEGER,
  cached_tokens      INTEGER,
  cache_write_tokens INTEGER,
  output_tokens      INTEGER,
  reasoning_tokens   INTEGER,
  usd                REAL,
  error              TEXT, -- JSON: string
  -- Its prompt: the first units of the one before on the same runtime, and those added.
  runtime            TEXT NOT NULL,
  units              INTEGER NOT NULL,
  kept               INTEGER NOT NULL,
  kept_of            INTEGER, -- number of the newest call before that kept less: it added the last unit kept
  added              TEXT NOT NULL, -- JSON: string[]
  prefix_break       TEXT,
  head_seq           INTEGER NOT NULL,
  effort             TEXT,
  UNIQUE (session_id, id),
  FOREIGN KEY (session_id, turn_id) REFERENCES turns (session_id, id)
) STRICT;
CREATE INDEX model_calls_by_turn ON model_calls (session_id, turn_id);
CREATE INDEX model_calls_by_runtime ON model_calls (session_id, runtime);
CREATE INDEX model_calls_started ON model_calls (session_id) WHERE state = 'started';

-- What model calls used, of those that used anything. Removing a session takes nothing away.
CREATE TABLE usage_sums (
  day                TEXT NOT NULL,
  channel            TEXT NOT NULL,
  user               TEXT NOT NULL, -- JSON: string
  provider           TEXT NOT NULL,
  model              TEXT NOT NULL,
  purpose            TEXT NOT NULL,
  calls              INTEGER NOT NULL,
  input_tokens       INTEGER NOT NULL,
  cached_tokens      INTEGER NOT NULL,
  cache_write_tokens INTEGER NOT NULL,
  output_tokens      INTEGER NOT NULL,
  reasoning_tokens   INTEGER NOT NULL,
  usd                REAL NOT NULL,
  unpriced_calls     INTEGER NOT NULL,
  PRIMARY KEY (day, channel, user, provider, model, purpose)
) STRICT, WITHOUT ROWID;

CREATE TABLE key_rests (
  provider    TEXT NOT NULL,
  key_id      TEXT NOT NULL,
  reason      TEXT NOT NULL, -- JSON: string
  rests_until INTEGER NOT NULL,
  PRIMARY KEY (provider, key_id)
) STRICT, WITHOUT ROWID;

-- Bytes of messages, results and replies by their hash, each once, for as long as a session refers to them.
CREATE TABLE contents (
  sha256 TEXT PRIMARY KEY,
  bytes  BLOB NOT NULL
) STRICT;
CREATE TABLE session_contents (
  session_id TEXT NOT NULL REFERENCES sessions (id),
  sha256     TEXT NOT NULL REFERENCES contents (sha256),
  PRIMARY KEY (session_id, sha256)
) STRICT, WITHOUT ROWID;
CREATE INDEX session_contents_by_hash ON session_contents (sha256);

CREATE TABLE inbox (
  number      INTEGER PRIMARY KEY, -- order of arrival
  id          TEXT NOT NULL UNIQUE,
  session_id  TEXT NOT NULL REFERENCES sessions (id),
  channel     TEXT NOT NULL,
  external_id TEXT NOT NULL, -- JSON: string
  sender      TEXT NOT NULL, -- JSON: string
  message     TEXT NOT NULL, -- JSON: UserMessage
  target      TEXT NOT NULL, -- JSON: string
  received_at INTEGER NOT NULL,
  joins       INTEGER, -- null: as the turn's settings have it
  state       TEXT NOT NULL CHECK (state IN ('waiting', 'promoted', 'answered')),
  turn_id     TEXT,
  UNIQUE (channel, external_id),
  CHECK ((state = 'waiting') = (turn_id IS NULL))
) STRICT;
CREATE INDEX inbox_by_session ON inbox (session_id, turn_id);
CREATE INDEX inbox_waiting ON inbox (session_id, number) WHERE state = 'waiting';

CREATE TABLE outbox (
  number       INTEGER PRIMARY KEY, -- order of sending
  id           TEXT NOT NULL UNIQUE,
  session_id   TEXT REFERENCES sessions (id), -- null for what belongs to none
  turn_id      TEXT,
  channel      TEXT NOT NULL,
  target       TEXT NOT NULL, -- JSON: string
  -- Within which one is sent after the other.
  lane         TEXT NOT NULL AS (coalesce(session_id, json_array(channel, target))) VIRTUAL,
  text         TEXT NOT NULL, -- JSON: string
  buttons      TEXT NOT NULL, -- JSON: ReplyButton[]
  file         TEXT, -- JSON: SentFile
  state        TEXT NOT NULL CHECK (state IN ('pending', 'attempting', 'sent', 'failed')),
  attempts     INTEGER NOT NULL DEFAULT 0,
  not_before   INTEGER NOT NULL,
  owner        TEXT,
  parts_sent   INTEGER NOT NULL DEFAULT 0,
  maybe_sent   INTEGER NOT NULL DEFAULT 0, -- the part after those
  platform_ids TEXT NOT NULL DEFAULT '[]', -- JSON: (string | null)[], one per part that arrived
  error        TEXT,
  created_at   INTEGER NOT NULL,
  settled_at   INTEGER
) STRICT;
CREATE INDEX outbox_by_session ON outbox (session_id);
CREATE INDEX outbox_unsettled ON outbox (lane, number) WHERE state IN ('pending', 'attempting');
-- Those of no session are forgotten by age.
CREATE INDEX outbox_alone ON outbox (settled_at) WHERE session_id IS NULL;

-- Messages that were answered without being admitted. Forgotten by age.
CREATE TABLE answered (
  channel     TEXT NOT NULL,
  external_id TEXT NOT NULL, -- JSON: string
  at          INTEGER NOT NULL,
  PRIMARY KEY (channel, external_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX answered_by_age ON answered (at);

-- The message on a platform that shows a session's work in progress.
CREATE TABLE drafts (
  session_id  TEXT PRIMARY KEY REFERENCES sessions (id),
  channel     TEXT NOT NULL,
  target      TEXT NOT NULL, -- JSON: string
  platform_id TEXT NOT NULL -- JSON: string
) STRICT, WITHOUT ROWID;
CREATE INDEX drafts_by_channel ON drafts (channel);

CREATE TABLE people (
  number   INTEGER PRIMARY KEY, -- order of coming
  channel  TEXT NOT NULL,
  user_id  TEXT NOT NULL, -- JSON: string
  name     TEXT NOT NULL, -- JSON: string
  role     TEXT NOT NULL CHECK (role IN ('owner', 'user')),
  added_at INTEGER NOT NULL,
  UNIQUE (channel, user_id)
) STRICT;

CREATE TABLE pairings (
  number     INTEGER PRIMARY KEY, -- order of asking
  channel    TEXT NOT NULL,
  user_id    TEXT NOT NULL, -- JSON: string
  name       TEXT NOT NULL, -- JSON: string
  code_hash  TEXT NOT NULL UNIQUE,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  UNIQUE (channel, user_id)
) STRICT;
CREATE INDEX pairings_by_end ON pairings (expires_at);

-- One row: wrong codes in a row, and until when nobody is approved.
CREATE TABLE pairing_guard (
  id           INTEGER PRIMARY KEY CHECK (id = 1),
  wrong        INTEGER NOT NULL DEFAULT 0,
  locked_until INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO pairing_guard (id) VALUES (1);

CREATE TABLE refusals (
  number  INTEGER PRIMARY KEY, -- order of the newest one of each
  channel TEXT NOT NULL,
  user_id TEXT NOT NULL, -- JSON: string
  name    TEXT NOT NULL, -- JSON: string
  count   INTEGER NOT NULL,
  last_at INTEGER NOT NULL,
  UNIQUE (channel, user_id)
) STRICT;

CREATE TABLE api_keys (
  number     INTEGER PRIMARY KEY, -- order of making
  name       TEXT NOT NULL UNIQUE, -- JSON: string
  sha256     TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

-- What a person allowed for longer than once. session_id: null for all. Ids are never used again.
CREATE TABLE grants (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  session_id TEXT REFERENCES sessions (id),
  kind       TEXT NOT NULL,
  subject    TEXT NOT NULL, -- JSON: string
  shown      TEXT NOT NULL, -- JSON: string
  granted_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX grants_by_subject ON grants (kind, subject, coalesce(session_id, ''));
CREATE INDEX grants_by_session ON grants (session_id);

-- abandoned: its owner's process ended without giving it up.
CREATE TABLE leases (
  session_id TEXT PRIMARY KEY REFERENCES sessions (id),
  owner      TEXT NOT NULL,
  token      INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  state      TEXT NOT NULL CHECK (state IN ('held', 'released', 'abandoned'))
) STRICT, WITHOUT ROWID;
CREATE INDEX leases_held ON leases (owner) WHERE state = 'held';

-- One row: what would take a scan to count. Since the store began; removing a session takes nothing away.
CREATE TABLE totals (
  id                 INTEGER PRIMARY KEY CHECK (id = 1),
  turns_done         INTEGER NOT NULL DEFAULT 0,
  turns_failed       INTEGER NOT NULL DEFAULT 0,
  input_tokens       INTEGER NOT NULL DEFAULT 0,
  cached_tokens      INTEGER NOT NULL DEFAULT 0,
  cache_write_tokens INTEGER NOT NULL DEFAULT 0,
  output_tokens      INTEGER NOT NULL DEFAULT 0,
  reasoning_tokens   INTEGER NOT NULL DEFAULT 0,
  usd                REAL NOT NULL DEFAULT 0,
  calls_priced       INTEGER NOT NULL DEFAULT 0,
  calls_unpriced     INTEGER NOT NULL DEFAULT 0,
  prefix_breaks      INTEGER NOT NULL DEFAULT 0 -- with no reason on record
) STRICT;
INSERT INTO totals (id) VALUES (1);
`;

export const migrations: readonly Migration[] = [{ number: 1, name: 'first schema', sql: firstSchema }];
