/** The reading verbs on the in-memory data. What is given out is a copy or frozen. */
import type { SessionId, TurnId } from '../../src/protocol/ids.ts';
import type { ModelCallRecord, UsageSum } from '../../src/protocol/usage.ts';
import type {
  Draft,
  InboxRecord,
  JournalSlice,
  PairingRequest,
  SessionRecord,
  StoreReader,
  StoreTotals,
} from '../../src/store/store.ts';
import { unsettledCalls } from './memory-commit.ts';
import {
  pair,
  type CallRow,
  type InboxRow,
  type MemoryData,
  type ModelCallRow,
  type SessionRows,
  type TurnRow,
} from './memory-data.ts';
import { promptTrailOf } from './memory-model-calls.ts';

/** How a read is let through: at once, late, or never. */
export type LetRead = <T>(look: () => T) => Promise<T>;

export function createMemoryReader(data: MemoryData, read: LetRead): StoreReader {
  const find = (matches: (record: SessionRecord) => boolean) => {
    for (const { record } of data.sessions.values()) if (matches(record)) return { ...record };
    return null;
  };
  return {
    session: (id) => read(() => copyOf(data.sessions.get(id)?.record)),
    sessionByName: (name) => read(() => find((record) => record.name === name)),
    sessionByKey: (key) => read(() => copyOf(data.openSessionOf(key)?.record)),
    sessions: ({ limit, before = Infinity, owner }) =>
      read(() =>
        [...data.sessions.values()]
          .map(({ record }) => ({ ...record }))
          .filter((record) => record.updatedAt < before && (owner === undefined || record.owner === owner))
          .sort((a, b) => b.updatedAt - a.updatedAt || (a.id < b.id ? 1 : -1))
          .slice(0, limit),
      ),
    entries: (id, { after, limit }) => read(() => data.sessions.get(id)?.entries.slice(after, after + limit) ?? []),
    journal: (id, afterSeq) => read(() => journalOf(data, id, afterSeq)),
    inbox: (id) => read(() => inboxOf(data.inbox.get(id))),
    turnOfInbox: (id) => read(() => data.inbox.get(id)?.turnId ?? null),
    sessionsWithWork: (limit) => read(() => sessionsWithWork(data, limit)),
    totals: () => read(() => totalsOf(data)),
    modelCalls: (id, turnId) =>
      read(() => [...(data.sessions.get(id)?.modelCalls.values() ?? [])].filter(isOf(turnId)).map(modelCallOf)),
    promptTrail: (id, runtime) => read(() => promptTrailOf(data.sessions.get(id), runtime)),
    usageSums: (sinceDay) => read(() => usageSumsSince(data, sinceDay)),
    keyRests: (now) =>
      read(() =>
        [...data.keyRests].sort(([a], [b]) => (a < b ? -1 : 1)).flatMap(([, rest]) => (rest.until > now ? [rest] : [])),
      ),
    content: (sha256) => read(() => data.contents.get(sha256)?.slice() ?? null),
    holdsContent: (id, sha256) => read(() => data.sessions.get(id)?.contents.has(sha256) ?? false),
    grants: () => read(() => [...data.grants.values()]),
    isGranted: (id, kind, subject) => read(() => isGranted(data, id, kind, subject)),
    wasAnswered: (channel, externalId) => read(() => data.answered.has(pair(channel, externalId))),
    people: () => read(() => [...data.people.values()]),
    pairings: (now) => read(() => pairingsAt(data, now)),
    refusals: (limit) => read(() => [...data.refusals.values()].reverse().slice(0, limit)),
    apiKeys: () => read(() => [...data.apiKeys.values()]),
    drafts: (channel) => read(() => draftsOn(data, channel)),
  };
}

function copyOf<Row extends object>(row: Row | undefined): Row | null {
  return row === undefined ? null : { ...row };
}

export function inboxOf(row: InboxRow | undefined): InboxRecord | null {
  if (row === undefined) return null;
  const { number: _number, turnId: _turnId, ...record } = row;
  return record;
}

function turnOf({ outcome: _outcome, channel: _channel, sender: _sender, ...record }: TurnRow) {
  return record;
}

function isOf(turnId: TurnId | undefined): (row: ModelCallRow) => boolean {
  return (row) => turnId === undefined || row.turnId === turnId;
}

function modelCallOf(row: ModelCallRow): ModelCallRecord {
  const { prompt: _prompt, day: _day, channel: _channel, user: _user, ...rest } = row;
  const { reservedUsd: _reservedUsd, answerSeq: _answerSeq, ...record } = rest;
  return record;
}

function usageSumsSince(data: MemoryData, sinceDay: string): UsageSum[] {
  return [...data.usageSums]
    .filter(([, { day }]) => day >= sinceDay)
    .sort(([a, { day: dayOfA }], [b, { day: dayOfB }]) =>
      dayOfA === dayOfB ? (a < b ? -1 : 1) : dayOfA < dayOfB ? 1 : -1,
    )
    .map(([, sum]) => ({ ...sum }));
}

function pairingsAt(data: MemoryData, now: number): PairingRequest[] {
  return [...data.pairings.values()]
    .filter(({ expiresAt }) => expiresAt > now)
    .sort((a, b) => a.createdAt - b.createdAt)
    .map(({ codeHash: _codeHash, ...request }) => request);
}

function isGranted(data: MemoryData, id: SessionId, kind: string, subject: string): boolean {
  return [...data.grants.values()].some(
    (grant) => grant.kind === kind && grant.subject === subject && (grant.sessionId === null || grant.sessionId === id),
  );
}

function draftsOn(data: MemoryData, channel: string): Draft[] {
  return [...data.drafts.values()]
    .filter((draft) => draft.channel === channel)
    .sort((a, b) => (a.sessionId < b.sessionId ? -1 : 1));
}

function callOf({ seq: _seq, ...record }: CallRow) {
  return record;
}

export function waitingIn(session: SessionRows): InboxRow[] {
  return session.inbox.filter((row) => row.state === 'waiting');
}

function journalOf(data: MemoryData, id: SessionId, afterSeq: number): JournalSlice | null {
  const session = data.sessions.get(id);
  if (session === undefined) return null;
  const openTurn = data.openTurnOf(session);
  return {
    session: { ...session.record },
    entries: session.entries.slice(afterSeq),
    openTurn: openTurn === null ? null : turnOf(openTurn),
    unsettledCalls: openTurn === null ? [] : unsettledCalls(session, openTurn.id).map(callOf),
    waiting: waitingIn(session).flatMap((row) => inboxOf(row) ?? []),
  };
}

function sessionsWithWork(data: MemoryData, limit: number): SessionId[] {
  const found: { id: SessionId; since: number }[] = [];
  for (const session of data.sessions.values()) {
    const times = waitingIn(session).map((row) => row.receivedAt);
    const openTurn = data.openTurnOf(session);
    if (openTurn !== null) times.push(openTurn.openedAt);
    if (session.wishedAt !== null) times.push(session.wishedAt);
    if (times.length > 0) found.push({ id: session.record.id, since: Math.min(...times) });
  }
  found.sort((a, b) => a.since - b.since || (a.id < b.id ? -1 : 1));
  return found.slice(0, limit).map(({ id }) => id);
}

type LabelOfSum = 'day' | 'channel' | 'user' | 'provider' | 'model' | 'purpose';

function totalsOf(data: MemoryData): StoreTotals {
  const sessions = [...data.sessions.values()];
  const turns = sessions.flatMap((session) => [...session.turns.values()]);
  const sums = [...data.usageSums.values()];
  const sum = (key: Exclude<keyof UsageSum, LabelOfSum>) => sums.reduce((total, each) => total + each[key], 0);
  const isPriceKnown = sum('calls') > sum('unpricedCalls') || sum('calls') === 0;
  return {
    sessions: sessions.length,
    turnsOpen: turns.filter((turn) => turn.state === 'open').length,
    turnsDone: data.totals.turnsDone,
    turnsFailed: data.totals.turnsFailed,
    turnsParked: turns.filter((turn) => turn.state === 'parked').length,
    inboxWaiting: sessions.flatMap(waitingIn).length,
    outboxPending: [...data.outbox.values()].filter(isUnsettled).length,
    usage: {
      inputTokens: sum('inputTokens'),
      cachedTokens: sum('cachedTokens'),
      cacheWriteTokens: sum('cacheWriteTokens'),
      outputTokens: sum('outputTokens'),
      reasoningTokens: sum('reasoningTokens'),
      usd: isPriceKnown ? sum('usd') : null,
    },
    unpricedCalls: sum('unpricedCalls'),
    prefixBreaks: data.totals.prefixBreaks,
  };
}

function isUnsettled({ state }: { state: string }): boolean {
  return state === 'pending' || state === 'attempting';
}
