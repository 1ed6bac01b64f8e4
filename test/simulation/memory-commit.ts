/** The verbs of a commit on the in-memory data, with the checks that SQLite makes: each must fit what the ones before left. */
import { unreachable } from '../../src/lib/assert.ts';
import type { InboxId, TurnId } from '../../src/protocol/ids.ts';
import { toolCallsOf, type EntryBody } from '../../src/protocol/messages.ts';
import { compressionMisfit } from '../../src/store/compression-misfit.ts';
import { StoreError, type Lease, type SessionWrite } from '../../src/store/store.ts';
import { conflict, frozenCopy, requireOpen, type CallRow, type SessionRows, type Transaction } from './memory-data.ts';
import { keepContents } from './memory-contents.ts';
import { queueReply } from './memory-deliveries.ts';
import { endModelCall, loseModelCalls, startModelCall } from './memory-model-calls.ts';

/** Time plays no part here: an owner that is late but not replaced has done no harm. */
export function requireLease(session: SessionRows | undefined, lease: Lease): asserts session is SessionRows {
  const current = session?.lease;
  if (current?.state === 'held' && current.token === lease.token && current.owner === lease.owner) return;
  throw new StoreError('lease-lost', `Session ${lease.sessionId} is no longer owned by ${lease.owner}.`);
}

export function applyWrites(on: Transaction, session: SessionRows, writes: readonly SessionWrite[]): void {
  for (const write of writes) apply(on, session, write);
}

function apply(on: Transaction, session: SessionRows, write: SessionWrite): void {
  switch (write.verb) {
    case 'freeze-head':
      append(on, session, null, { kind: 'head', reason: write.reason, head: write.head });
      return;
    case 'open-turn':
      return openTurn(on, session, write);
    case 'join-turn':
      requireOpen(session, write.turnId);
      return promote(on, session, write.turnId, write.promote);
    case 'start-model-call':
      return startModelCall(on, session, write);
    case 'end-model-call':
      return endModelCall(on, session, write);
    case 'append-answer':
      return appendAnswer(on, session, write);
    case 'append-nudge':
      requireOpen(session, write.turnId);
      requireNoUnsettledCalls(session, write.turnId);
      append(on, session, write.turnId, { kind: 'message', message: write.message, inboxId: null });
      return;
    case 'start-call': {
      requireOpen(session, write.turnId);
      const call = callOf(session, write);
      if (call.state !== 'planned' && call.state !== 'waiting') throw conflict(`${write.callId} is ${call.state}`);
      on.assign(call, { state: 'started' });
      return;
    }
    case 'ask': {
      requireOpen(session, write.turnId);
      const call = callOf(session, write);
      if (call.state !== 'started') throw conflict(`call ${write.callId} is ${call.state}`);
      on.assign(call, { state: 'waiting', question: frozenCopy(write.question), answer: null });
      const { text, plan: _plan, ...open } = write.question;
      append(on, session, write.turnId, { kind: 'notice', text, question: { callId: write.callId, ...open } });
      if (write.reply !== null) queueReply(on, session.record.id, write.turnId, write.reply);
      return;
    }
    case 'settle-call': {
      requireOpen(session, write.turnId);
      const [result] = write.message.parts;
      const call = callOf(session, write);
      if (result.callId !== write.callId) throw conflict(`the result of ${result.callId} is not of ${write.callId}`);
      if (!isUnsettled(call)) throw conflict(`${write.callId} has its result already`);
      on.assign(call, { state: result.outcome });
      append(on, session, write.turnId, { kind: 'message', message: write.message });
      keepContents(on, session, write.contents ?? []);
      for (const reply of write.replies ?? []) queueReply(on, session.record.id, write.turnId, reply);
      return;
    }
    case 'rewind':
      return rewind(on, session, write.toSeq);
    case 'compress':
      return compress(on, session, write);
    case 'set-title': {
      const { title, by } = write;
      const before = { ...session.record };
      if (before.titledBy === 'person' && by !== 'person') return;
      on.assign(session.record, { title, titledBy: by });
      if (before.title !== title) append(on, session, null, { kind: 'titled', title, by });
      return;
    }
    case 'notice': {
      const { verb: kind, turnId, reply, ...notice } = write;
      if (turnId !== null && !session.turns.has(turnId)) throw conflict(`${turnId} is no turn of it`);
      append(on, session, turnId, { kind, ...notice });
      if (reply !== undefined) queueReply(on, session.record.id, turnId, reply);
      return;
    }
    case 'close-turn':
      return closeTurn(on, session, write);
    default:
      unreachable(write);
  }
}

export function append(on: Transaction, session: SessionRows, turnId: TurnId | null, body: EntryBody): number {
  const { record, entries } = session;
  const isSpoken = isSaid(body);
  on.assign(record, {
    lastSeq: record.lastSeq + 1,
    messages: record.messages + (isSpoken ? 1 : 0),
    updatedAt: Math.max(record.updatedAt, on.now),
  });
  on.push(entries, frozenCopy({ ...body, seq: record.lastSeq, at: on.now, turnId }));
  return record.lastSeq;
}

/** What somebody said, a person or the model; not a tool's result, nor what the program itself tells the model. */
export function isSaid(body: EntryBody): boolean {
  if (body.kind !== 'message' || body.message.role === 'tool') return false;
  return !('inboxId' in body) || body.inboxId !== null;
}

function openTurn(on: Transaction, session: SessionRows, write: SessionWrite & { verb: 'open-turn' }): void {
  const { record, turns } = session;
  if (record.turn === 'open') throw conflict(`a turn of ${record.id} is still open`);
  if (turns.has(write.turnId)) throw conflict(`turn ${write.turnId} was there before`);
  const first = write.promote[0] === undefined ? undefined : on.data.inbox.get(write.promote[0]);
  on.set(turns, write.turnId, {
    id: write.turnId,
    sessionId: record.id,
    state: 'open',
    openedAt: on.now,
    crashes: 0,
    modelCalls: 0,
    stopRequested: false,
    firstSeq: record.lastSeq + 1,
    outcome: null,
    channel: first?.channel ?? '',
    sender: first?.sender ?? '',
  });
  on.assign(record, { turn: 'open' });
  append(on, session, write.turnId, { kind: 'turn-opened' });
  promote(on, session, write.turnId, write.promote);
}

function promote(on: Transaction, session: SessionRows, turnId: TurnId, inboxIds: readonly InboxId[]): void {
  for (const inboxId of inboxIds) {
    const row = on.data.inbox.get(inboxId);
    if (row?.sessionId !== session.record.id || row.state !== 'waiting') throw conflict(`${inboxId} is not waiting`);
    on.assign(row, { state: 'promoted', turnId });
    append(on, session, turnId, { kind: 'message', message: row.message, inboxId });
  }
}

function appendAnswer(on: Transaction, session: SessionRows, write: SessionWrite & { verb: 'append-answer' }): void {
  const { turnId, modelCallId, message, calls, promptTokens } = write;
  requireOpen(session, turnId);
  requireNoUnsettledCalls(session, turnId);
  const asked = toolCallsOf(message).map((part) => part.callId);
  if (asked.length !== calls.length || calls.some((call, index) => call.id !== asked[index])) {
    throw conflict(`the planned calls are not those that the message of ${modelCallId} asks for`);
  }
  const counted = promptTokens === undefined ? {} : { promptTokens };
  const seq = append(on, session, turnId, { kind: 'message', message, modelCallId, ...counted });
  const row = session.modelCalls.get(modelCallId);
  if (row?.turnId !== turnId || row.answerSeq !== null) throw conflict(`${modelCallId} is unknown or was answered`);
  on.assign(row, { answerSeq: seq });
  calls.forEach((call, position) => {
    if (session.calls.has(call.id)) throw conflict(`call ${call.id} was planned before`);
    on.set(session.calls, call.id, { ...call, turnId, position, state: 'planned', question: null, answer: null, seq });
  });
}

function callOf(session: SessionRows, { turnId, callId }: { turnId: TurnId; callId: CallRow['id'] }): CallRow {
  const call = session.calls.get(callId);
  if (call?.turnId !== turnId) throw conflict(`turn ${turnId} has no call ${callId}`);
  return call;
}

function requireNoUnsettledCalls(session: SessionRows, turnId: TurnId): void {
  for (const { id } of unsettledCalls(session, turnId)) throw conflict(`call ${id} of turn ${turnId} has no result`);
}

function isUnsettled({ state }: CallRow): boolean {
  return state === 'planned' || state === 'started' || state === 'waiting';
}

export function unsettledCalls(session: SessionRows, turnId: TurnId): CallRow[] {
  return [...session.calls.values()].filter((call) => call.turnId === turnId && isUnsettled(call));
}

function closeTurn(on: Transaction, session: SessionRows, write: SessionWrite & { verb: 'close-turn' }): void {
  const { turnId, outcome, reply } = write;
  const turn = requireOpen(session, turnId);
  requireNoUnsettledCalls(session, turnId);
  loseModelCalls(on, session, turnId);
  const isParked = outcome === 'parked';
  on.assign(turn, { state: isParked ? 'parked' : 'closed', outcome });
  for (const row of session.inbox) if (row.turnId === turnId) on.assign(row, { state: 'answered' });
  const { totals } = on.data;
  if (outcome === 'failed') on.assign(totals, { turnsFailed: totals.turnsFailed + 1 });
  else if (!isParked) on.assign(totals, { turnsDone: totals.turnsDone + 1 });
  on.assign(session.record, { turn: isParked ? 'parked' : 'none' });
  append(on, session, turnId, { kind: 'turn-closed', outcome });
  if (reply !== null) queueReply(on, session.record.id, turnId, reply);
}

function compress(on: Transaction, session: SessionRows, { step, reply }: SessionWrite & { verb: 'compress' }): void {
  const { record, turns } = session;
  const misfit = compressionMisfit(step, record.lastSeq);
  if (misfit !== null) throw conflict(`${misfit} in ${record.id}`);
  for (const turn of turns.values()) {
    if (step.kind === 'done' && turn.state === 'open') requireNoUnsettledCalls(session, turn.id);
  }
  append(on, session, null, { kind: 'compression', step });
  if (step.kind === 'asked' && step.why === 'person') on.assign(session, { wishedAt: session.wishedAt ?? on.now });
  if (step.kind === 'done' || step.kind === 'declined') on.assign(session, { wishedAt: null });
  if (reply !== undefined) queueReply(on, null, null, reply);
}

function rewind(on: Transaction, session: SessionRows, toSeq: number): void {
  const { record, entries, turns } = session;
  if (record.turn === 'open') throw conflict(`a turn of ${record.id} is still open`);
  if (toSeq !== 0 && entries[toSeq - 1] === undefined) throw conflict(`there is no entry ${toSeq} in ${record.id}`);
  const undone = new Set(entries.slice(toSeq).flatMap(({ kind, turnId }) => (kind === 'turn-closed' ? [turnId] : [])));
  for (const turn of turns.values()) {
    if (turn.firstSeq <= toSeq && undone.has(turn.id)) throw conflict(`entry ${toSeq} is in the middle of ${turn.id}`);
    if (record.turn === 'parked' && turn.state === 'parked' && turn.firstSeq > toSeq)
      on.assign(record, { turn: 'none' });
  }
  append(on, session, null, { kind: 'rewound', toSeq });
}
