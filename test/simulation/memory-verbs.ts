/** The verbs beside `commit`, on the in-memory data: admission, leases, deliveries, and sessions as a whole. */
import type { CallId, NodeId, OutboxId, SessionId, SessionKey, TurnId } from '../../src/protocol/ids.ts';
import type { TurnOutcome } from '../../src/protocol/messages.ts';
import { StoreError } from '../../src/store/store.ts';
import type {
  Admission,
  AdmitResult,
  DeliverySettlement,
  Lease,
  OutboxRecord,
  PortableSession,
  SessionRecord,
} from '../../src/store/store.ts';
import { append, conflict, isSaid } from './memory-commit.ts';
import { frozenCopy, type InboxRow, type OutboxRow, type SessionRows, type Transaction } from './memory-data.ts';
import { inboxOf, waitingIn } from './memory-reads.ts';

const nameCharsMax = 64;

export function admit(on: Transaction, admission: Admission): AdmitResult {
  const { data } = on;
  const place = JSON.stringify([admission.channel, admission.externalId]);
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
    message: frozenCopy(admission.message),
    target: admission.target,
    receivedAt: on.now,
    state: 'waiting',
    number: data.totals.inboxNumber + 1,
    turnId: null,
  };
  on.assign(data.totals, { inboxNumber: row.number });
  on.set(data.inbox, row.id, row);
  on.set(data.arrivals, place, row);
  on.push(session.inbox, row);
  const { record } = session;
  const title = record.title === '' ? admission.title : record.title;
  on.assign(record, { updatedAt: Math.max(record.updatedAt, on.now), title });
  return { kind: 'admitted', inboxId: row.id, session: { ...record }, created: found === undefined };
}

function findSession(on: Transaction, wanted: Admission['session']): SessionRows | undefined {
  if (wanted.kind === 'existing') return on.data.sessions.get(wanted.id);
  for (const session of on.data.sessions.values()) if (session.record.key === wanted.key) return session;
  return undefined;
}

function createSession(on: Transaction, wanted: Admission['session']): SessionRows {
  if (wanted.kind === 'existing') throw new Error('only a key creates a session');
  const fresh = { title: '', createdAt: on.now, updatedAt: on.now, lastSeq: 0, messages: 0, turn: 'none' } as const;
  const { id, key } = wanted;
  return insertSession(on, { id, key, name: freeName(on, wanted.name, id), ...fresh });
}

function insertSession(on: Transaction, record: SessionRecord): SessionRows {
  const session: SessionRows = {
    record: { ...record },
    entries: [],
    turns: new Map(),
    calls: new Map(),
    modelCalls: new Map(),
    inbox: [],
    lease: null,
  };
  on.set(on.data.sessions, record.id, session);
  return session;
}

function isNameTaken(on: Transaction, name: string): boolean {
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
  const token = (before?.token ?? 0) + 1;
  on.assign(session, { lease: { owner, token, expiresAt: on.now + ttlMs, state: 'held' } });
  return { sessionId: id, owner, token };
}

function isValid({ lease }: SessionRows, now: number): boolean {
  return lease?.state === 'held' && lease.expiresAt > now;
}

export function releaseLease(on: Transaction, { sessionId, owner, token }: Lease): void {
  const lease = on.data.sessions.get(sessionId)?.lease;
  if (lease?.owner === owner && lease.token === token && lease.state === 'held')
    on.assign(lease, { state: 'released' });
}

/** A verb without a lease may change the turn: nobody is at work, and whoever stalled is shut out. */
function requireNoOwner(on: Transaction, session: SessionRows): void {
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

export function claimDeliveries(on: Transaction, limit: number): OutboxRecord[] {
  const seen = new Set<SessionId>();
  const claimed: OutboxRecord[] = [];
  for (const row of on.data.outbox.values()) {
    if (row.state !== 'pending' && row.state !== 'attempting') continue;
    if (seen.has(row.sessionId)) continue;
    seen.add(row.sessionId);
    if (row.state !== 'pending' || row.notBefore > on.now || claimed.length >= limit) continue;
    on.assign(row, { state: 'attempting', attempts: row.attempts + 1 });
    const { notBefore: _notBefore, platformId: _platformId, ...record } = row;
    claimed.push(record);
  }
  return claimed;
}

/** Undefined if its session was removed while the network was busy. */
function attempted(on: Transaction, id: OutboxId): OutboxRow | undefined {
  const row = on.data.outbox.get(id);
  if (row !== undefined && row.state !== 'attempting') throw conflict(`delivery ${id} is ${row.state}`);
  return row;
}

export function recordPartSent(on: Transaction, id: OutboxId, platformId: string | null): void {
  const row = attempted(on, id);
  if (row !== undefined) on.assign(row, { partsSent: row.partsSent + 1, attempts: 1, maybeSent: false, platformId });
}

export function settleDelivery(on: Transaction, id: OutboxId, settlement: DeliverySettlement): void {
  const row = attempted(on, id);
  if (row === undefined) return;
  if (settlement.kind === 'retry') {
    const { notBefore, maybeSent } = settlement;
    on.assign(row, { state: 'pending', notBefore, maybeSent: row.maybeSent || maybeSent });
  } else if (settlement.kind === 'failed') on.assign(row, { state: 'failed' });
  else {
    recordPartSent(on, id, settlement.platformId);
    on.assign(row, { state: 'sent' });
  }
}

function newestParked(session: SessionRows | undefined) {
  const parked = [...(session?.turns.values() ?? [])].filter((turn) => turn.state === 'parked');
  return parked.sort((a, b) => b.firstSeq - a.firstSeq)[0];
}

export function retryParked(on: Transaction, id: SessionId): boolean {
  const session = on.data.sessions.get(id);
  const turn = newestParked(session);
  if (session === undefined || turn === undefined) return false;
  requireNoOwner(on, session);
  if (session.record.turn !== 'parked') throw conflict(`session ${id} has gone on since its turn was parked`);
  on.assign(turn, { state: 'open', outcome: null, crashes: 0, stopRequested: false });
  for (const row of session.inbox) if (row.turnId === turn.id) on.assign(row, { state: 'promoted' });
  on.assign(session.record, { turn: 'open' });
  append(on, session, turn.id, { kind: 'turn-opened' });
  append(on, session, turn.id, { kind: 'notice', text: 'The parked turn is tried again.' });
  return true;
}

export function dropParked(on: Transaction, id: SessionId): boolean {
  const session = on.data.sessions.get(id);
  const turn = newestParked(session);
  if (session === undefined || turn === undefined) return false;
  requireNoOwner(on, session);
  on.assign(turn, { state: 'closed', outcome: 'failed' });
  on.assign(on.data.totals, { turnsFailed: on.data.totals.turnsFailed + 1 });
  if (session.record.turn === 'parked') on.assign(session.record, { turn: 'none' });
  append(on, session, turn.id, { kind: 'notice', text: 'The parked turn was given up.' });
  return true;
}

export function deleteSession(on: Transaction, id: SessionId): boolean {
  const { data } = on;
  const session = data.sessions.get(id);
  if (session === undefined) return false;
  if (session.record.turn === 'open' && isValid(session, on.now)) throw conflict(`session ${id} is at work`);
  for (const row of session.inbox) {
    on.delete(data.inbox, row.id);
    on.delete(data.arrivals, JSON.stringify([row.channel, row.externalId]));
  }
  for (const row of data.outbox.values()) if (row.sessionId === id) on.delete(data.outbox, row.id);
  on.delete(data.sessions, id);
  return true;
}

export function importSession(
  on: Transaction,
  id: SessionId,
  key: SessionKey,
  portable: PortableSession,
): SessionRecord {
  if (isNameTaken(on, portable.name) || findSession(on, { kind: 'by-key', key, id, name: '' }) !== undefined) {
    throw new StoreError('conflict', `There is a session named ${portable.name} already.`);
  }
  const outcomes = new Map<TurnId, TurnOutcome>();
  for (const entry of portable.entries) {
    if (entry.turnId === null) continue;
    if (entry.kind === 'turn-closed') outcomes.set(entry.turnId, entry.outcome);
    if (entry.kind === 'turn-opened') outcomes.delete(entry.turnId);
  }
  const kept = portable.entries.filter((entry) => entry.turnId === null || outcomes.has(entry.turnId));
  const { name, title, createdAt } = portable;
  const session = insertSession(on, {
    id,
    key,
    name,
    title,
    createdAt,
    turn: 'none',
    updatedAt: Math.max(createdAt, kept.at(-1)?.at ?? 0),
    lastSeq: kept.length,
    messages: kept.filter(isSaid).length,
  });
  kept.forEach((entry, index) => {
    session.entries.push(frozenCopy({ ...entry, seq: index + 1 }));
    if (entry.turnId === null || session.turns.has(entry.turnId)) return;
    const outcome = outcomes.get(entry.turnId) ?? null;
    const closed = { state: 'closed', crashes: 0, modelCalls: 0, stopRequested: false, outcome } as const;
    session.turns.set(entry.turnId, {
      id: entry.turnId,
      sessionId: id,
      openedAt: entry.at,
      firstSeq: index + 1,
      ...closed,
    });
  });
  return { ...session.record };
}
