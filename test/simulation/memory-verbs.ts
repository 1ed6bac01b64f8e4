/** The verbs beside `commit`, on the in-memory data: admission, leases, answers. */
import type { CallId, NodeId, SessionId } from '../../src/protocol/ids.ts';
import type { Admission, AdmitResult, Lease, SessionRecord } from '../../src/store/store.ts';
import { conflict, frozenCopy, pair, type InboxRow, type SessionRows, type Transaction } from './memory-data.ts';
import { keepContents } from './memory-contents.ts';
import { loseModelCalls } from './memory-model-calls.ts';
import { inboxOf, waitingIn } from './memory-reads.ts';

const nameCharsMax = 64;

export function admit(on: Transaction, admission: Admission): AdmitResult {
  const { data } = on;
  const place = pair(admission.channel, admission.externalId);
  const earlier = data.arrivals.get(place);
  const earlierRecord = inboxOf(earlier);
  if (earlier !== undefined && earlierRecord !== null) {
    const session = data.sessions.get(earlier.sessionId);
    if (session === undefined) throw new Error('a message without its session');
    return { kind: 'duplicate', record: earlierRecord, session: { ...session.record } };
  }
  const wanted = admission.session;
  const found = findSession(on, wanted);
  if (found === undefined && wanted.kind === 'existing') return { kind: 'refused', reason: 'no-such-session' };
  const waiting = found === undefined ? 0 : waitingIn(found).length;
  if (waiting >= admission.waitingMax) return { kind: 'refused', reason: 'queue-full' };

  const session = found ?? createSession(on, wanted);
  const row: InboxRow = {
    id: admission.inboxId,
    sessionId: session.record.id,
    channel: admission.channel,
    externalId: admission.externalId,
    sender: admission.sender,
    message: frozenCopy(admission.message),
    target: admission.target,
    receivedAt: on.now,
    joins: admission.joins ?? null,
    state: 'waiting',
    number: data.totals.inboxNumber + 1,
    turnId: null,
  };
  on.assign(data.totals, { inboxNumber: row.number });
  on.set(data.inbox, row.id, row);
  on.set(data.arrivals, place, row);
  on.push(session.inbox, row);
  const { record } = session;
  const title = record.title === '' && record.titledBy === 'words' ? admission.title : record.title;
  on.assign(record, { updatedAt: Math.max(record.updatedAt, on.now), title });
  keepContents(on, session, admission.contents);
  return { kind: 'admitted', inboxId: row.id, session: { ...record }, created: found === undefined };
}

export function findSession(on: Transaction, wanted: Admission['session']): SessionRows | undefined {
  if (wanted.kind === 'existing') return on.data.sessions.get(wanted.id);
  return on.data.openSessionOf(wanted.key);
}

export const unlabelled = {
  title: '',
  titledBy: 'words',
  settings: { model: null, effort: null },
  isClosed: false,
} as const;

function createSession(on: Transaction, wanted: Admission['session']): SessionRows {
  if (wanted.kind === 'existing') throw new Error('only a key creates a session');
  const fresh = { ...unlabelled, createdAt: on.now, updatedAt: on.now, lastSeq: 0, messages: 0, turn: 'none' } as const;
  const { id, key, owner } = wanted;
  return insertSession(on, { id, key, owner, name: freeName(on, wanted.name, id), ...fresh });
}

export function insertSession(on: Transaction, record: SessionRecord): SessionRows {
  if (on.data.sessions.has(record.id)) throw conflict(`session ${record.id} is there already`);
  const session: SessionRows = {
    record: { ...record },
    entries: [],
    turns: new Map(),
    calls: new Map(),
    modelCalls: new Map(),
    inbox: [],
    contents: new Set(),
    lease: null,
    wishedAt: null,
  };
  on.set(on.data.sessions, record.id, session);
  return session;
}

export function isNameTaken(on: Transaction, name: string): boolean {
  for (const { record } of on.data.sessions.values()) if (record.name === name) return true;
  return false;
}

function freeName(on: Transaction, name: string, id: SessionId): string {
  if (!isNameTaken(on, name)) return name;
  for (let length = 4; length < id.length; length += 2) {
    const suffix = `-${id.slice(-length)}`;
    const candidate = `${name.slice(0, nameCharsMax - suffix.length).trimEnd()}${suffix}`;
    if (!isNameTaken(on, candidate)) return candidate;
  }
  return id;
}

export function acquireLease(on: Transaction, id: SessionId, owner: NodeId, ttlMs: number): Lease | null {
  const session = on.data.sessions.get(id);
  if (session === undefined) return null;
  const before = session.lease;
  if (before !== null && before.owner !== owner && isValid(session, on.now)) return null;
  const ownerDied =
    before !== null && (before.state === 'abandoned' || (before.state === 'held' && before.owner !== owner));
  const turn = on.data.openTurnOf(session);
  if (ownerDied && turn !== null) on.assign(turn, { crashes: turn.crashes + 1 });
  loseModelCalls(on, session);
  const token = (before?.token ?? 0) + 1;
  on.assign(session, { lease: { owner, token, expiresAt: on.now + ttlMs, state: 'held' } });
  return { sessionId: id, owner, token };
}

export function isValid({ lease }: SessionRows, now: number): boolean {
  return lease?.state === 'held' && lease.expiresAt > now;
}

export function releaseLease(on: Transaction, { sessionId, owner, token }: Lease): void {
  const session = on.data.sessions.get(sessionId);
  const lease = session?.lease;
  if (session === undefined || lease?.owner !== owner || lease.token !== token || lease.state !== 'held') return;
  on.assign(lease, { state: 'released' });
  loseModelCalls(on, session);
}

/** A verb without a lease may change the turn: nobody is at work, and whoever stalled is shut out. */
export function requireNoOwner(on: Transaction, session: SessionRows): void {
  if (isValid(session, on.now)) throw conflict(`session ${session.record.id} is at work at this moment`);
  if (session.lease !== null) on.assign(session.lease, { state: 'released' });
}

/** The first answer counts. */
export function answerCall(on: Transaction, id: SessionId, callId: CallId, answer: string): boolean {
  const call = on.data.sessions.get(id)?.calls.get(callId);
  if (call?.state !== 'waiting' || call.answer !== null) return false;
  on.assign(call, { answer });
  return true;
}
