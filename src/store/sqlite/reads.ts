/** The reading verbs, as plain functions on a connection. They take no lock that a writer would wait for. */
import type { InboxId, SessionId, SessionKey, TurnId } from '../../protocol/ids.ts';
import type { Entry } from '../../protocol/messages.ts';
import type { TokenUsage } from '../../protocol/usage.ts';
import { present } from '../../lib/assert.ts';
import type {
  CallRecord,
  InboxRecord,
  JournalSlice,
  SessionRecord,
  StoreReader,
  StoreTotals,
  TurnRecord,
} from '../store.ts';
import { readApiKeys } from './api-keys.ts';
import { readContent, readHoldsContent } from './contents.ts';
import { readAnswered } from './direct-messages.ts';
import { readDrafts } from './drafts.ts';
import { readGrants, readIsGranted } from './grants.ts';
import { readKeyRests } from './key-rests.ts';
import { readModelCalls, readPromptTrail, readUsageSums } from './model-call-reads.ts';
import type { Database } from './open-database.ts';
import { readPairings } from './pairings.ts';
import { readPeople, readRefusals } from './people.ts';
import {
  callColumns,
  entryColumns,
  inboxColumns,
  sessionColumns,
  toCall,
  toEntry,
  toInbox,
  toSession,
  toTurn,
  turnColumns,
  type CallRow,
  type EntryRow,
  type InboxRow,
  type SessionRow,
  type TurnRow,
} from './rows.ts';

export function createReader(database: Database): StoreReader {
  return {
    session: async (id) => readSession(database, id),
    sessionByName: async (name) => readSessionByName(database, name),
    sessionByKey: async (key) => readSessionByKey(database, key),
    sessions: async (page) => readSessions(database, page),
    entries: async (id, page) => readEntries(database, id, page.after, page.limit),
    journal: async (id, afterSeq) => readJournal(database, id, afterSeq),
    inbox: async (id) => readInbox(database, id),
    turnOfInbox: async (id) => readTurnOfInbox(database, id),
    sessionsWithWork: async (limit) => readSessionsWithWork(database, limit),
    totals: async () => readTotals(database),
    modelCalls: async (id, turnId) => readModelCalls(database, id, turnId),
    promptTrail: async (id, runtime) => readPromptTrail(database, id, runtime),
    usageSums: async (sinceDay) => readUsageSums(database, sinceDay),
    keyRests: async (now) => readKeyRests(database, now),
    content: async (sha256) => readContent(database, sha256),
    holdsContent: async (id, sha256) => readHoldsContent(database, id, sha256),
    grants: async () => readGrants(database),
    isGranted: async (id, kind, subject) => readIsGranted(database, id, kind, subject),
    wasAnswered: async (channel, externalId) => readAnswered(database, channel, externalId),
    people: async () => readPeople(database),
    pairings: async (now) => readPairings(database, now),
    refusals: async (limit) => readRefusals(database, limit),
    apiKeys: async () => readApiKeys(database),
    drafts: async (channel) => readDrafts(database, channel),
  };
}

export function readSession(database: Database, id: SessionId): SessionRecord | null {
  const row = database.get<SessionRow>(`SELECT ${sessionColumns} FROM sessions WHERE id = ?`, id);
  return row === undefined ? null : toSession(row);
}

export function readSessionByName(database: Database, name: string): SessionRecord | null {
  const row = database.get<SessionRow>(`SELECT ${sessionColumns} FROM sessions WHERE name = ?`, name);
  return row === undefined ? null : toSession(row);
}

export function readSessionByKey(database: Database, key: SessionKey): SessionRecord | null {
  const row = database.get<SessionRow>(`SELECT ${sessionColumns} FROM sessions WHERE key = ? AND is_closed = 0`, key);
  return row === undefined ? null : toSession(row);
}

function readSessions(database: Database, page: Parameters<StoreReader['sessions']>[0]): SessionRecord[] {
  const { limit, before = Number.MAX_SAFE_INTEGER, owner } = page;
  const inOrder = 'updated_at < ? ORDER BY updated_at DESC, id DESC LIMIT ?';
  const rows =
    owner === undefined
      ? database.all<SessionRow>(`SELECT ${sessionColumns} FROM sessions WHERE ${inOrder}`, before, limit)
      : database.all<SessionRow>(
          `SELECT ${sessionColumns} FROM sessions WHERE owner = ? AND ${inOrder}`,
          JSON.stringify(owner),
          before,
          limit,
        );
  return rows.map(toSession);
}

function readEntries(database: Database, id: SessionId, after: number, limit: number): Entry[] {
  return database
    .all<EntryRow>(
      `SELECT ${entryColumns} FROM entries WHERE session_id = ? AND seq > ? ORDER BY seq LIMIT ?`,
      id,
      after,
      limit,
    )
    .map(toEntry);
}

function readJournal(database: Database, id: SessionId, afterSeq: number): JournalSlice | null {
  return database.moment(() => {
    const session = readSession(database, id);
    if (session === null) return null;
    const after = afterSeq < 0 ? Math.max(0, session.lastSeq + afterSeq) : afterSeq;
    const openTurn = session.turn === 'open' ? readOpenTurn(database, id) : null;
    return {
      session,
      entries: session.lastSeq > after ? readEntries(database, id, after, session.lastSeq - after) : [],
      openTurn,
      unsettledCalls: openTurn === null ? [] : readUnsettledCalls(database, id, openTurn.id),
      waiting: readWaiting(database, id),
    };
  });
}

function readOpenTurn(database: Database, id: SessionId): TurnRecord {
  const row = database.get<TurnRow>(`SELECT ${turnColumns} FROM turns WHERE session_id = ? AND state = 'open'`, id);
  return toTurn(present(row, `the open turn of ${id}`));
}

function readUnsettledCalls(database: Database, id: SessionId, turnId: TurnId): CallRecord[] {
  return database
    .all<CallRow>(
      `SELECT ${callColumns} FROM tool_calls
       WHERE session_id = ? AND turn_id = ? AND state IN ('planned', 'started', 'waiting') ORDER BY seq, position`,
      id,
      turnId,
    )
    .map(toCall);
}

function readWaiting(database: Database, id: SessionId): InboxRecord[] {
  return database
    .all<InboxRow>(`SELECT ${inboxColumns} FROM inbox WHERE session_id = ? AND state = 'waiting' ORDER BY number`, id)
    .map(toInbox);
}

export function readInbox(database: Database, id: InboxId): InboxRecord | null {
  const row = database.get<InboxRow>(`SELECT ${inboxColumns} FROM inbox WHERE id = ?`, id);
  return row === undefined ? null : toInbox(row);
}

function readTurnOfInbox(database: Database, id: InboxId): TurnId | null {
  return (
    database.get<{ turnId: TurnId | null }>('SELECT turn_id AS turnId FROM inbox WHERE id = ?', id)?.turnId ?? null
  );
}

function readSessionsWithWork(database: Database, limit: number): SessionId[] {
  return database
    .all<{ sessionId: SessionId }>(
      `SELECT session_id AS sessionId FROM (
         SELECT session_id, received_at AS since FROM inbox WHERE state = 'waiting'
         UNION ALL
         SELECT session_id, opened_at AS since FROM turns WHERE state = 'open'
         UNION ALL
         SELECT id, wished_at AS since FROM sessions WHERE wished_at IS NOT NULL
       ) GROUP BY session_id ORDER BY min(since), session_id LIMIT ?`,
      limit,
    )
    .map((row) => row.sessionId);
}

type TotalsRow = Omit<StoreTotals, 'usage'> & TokenUsage & { readonly usd: number; readonly callsPriced: number };

function readTotals(database: Database): StoreTotals {
  const row = present(
    database.get<TotalsRow>(`SELECT
      (SELECT count(*) FROM sessions) AS sessions,
      (SELECT count(*) FROM turns WHERE state = 'open') AS turnsOpen,
      turns_done AS turnsDone, turns_failed AS turnsFailed,
      (SELECT count(*) FROM turns WHERE state = 'parked') AS turnsParked,
      (SELECT count(*) FROM inbox WHERE state = 'waiting') AS inboxWaiting,
      (SELECT count(*) FROM outbox WHERE state IN ('pending', 'attempting')) AS outboxPending,
      input_tokens AS inputTokens, cached_tokens AS cachedTokens, cache_write_tokens AS cacheWriteTokens,
      output_tokens AS outputTokens, reasoning_tokens AS reasoningTokens, usd, calls_priced AS callsPriced,
      calls_unpriced AS unpricedCalls, prefix_breaks AS prefixBreaks
      FROM totals`),
    'the row of totals',
  );
  const { inputTokens, cachedTokens, cacheWriteTokens, outputTokens, reasoningTokens, usd, callsPriced, ...counts } =
    row;
  const isPriceKnown = callsPriced > 0 || counts.unpricedCalls === 0;
  const tokens = { inputTokens, cachedTokens, cacheWriteTokens, outputTokens, reasoningTokens };
  return { ...counts, usage: { ...tokens, usd: isPriceKnown ? usd : null } };
}
