/** The outbox and the drafts on the in-memory data: one delivery at a time per session, or per place where there is none. */
import type { OutboxId, SessionId, TurnId } from '../../src/protocol/ids.ts';
import type { DeliverySettlement, DirectMessage, Draft, OutboxRecord, Reply } from '../../src/store/store.ts';
import { conflict, frozenCopy, pair, type OutboxRow, type Transaction } from './memory-data.ts';

const answeredKeptMs = 30 * 24 * 60 * 60 * 1000;

export function queueReply(
  on: Transaction,
  sessionId: SessionId | null,
  turnId: TurnId | null,
  { outboxId: id, channel, target, text, buttons, file }: Reply,
): void {
  if (on.data.outbox.has(id)) throw conflict(`reply ${id} was queued before`);
  const held = sessionId === null ? undefined : on.data.sessions.get(sessionId)?.contents;
  if (file !== undefined && held?.has(file.content.sha256) !== true)
    throw conflict(`${file.name} is not the session's`);
  on.set(on.data.outbox, id, {
    id,
    sessionId,
    turnId,
    channel,
    target,
    text,
    buttons: frozenCopy(buttons),
    file: file === undefined ? null : frozenCopy(file),
    state: 'pending',
    attempts: 0,
    partsSent: 0,
    maybeSent: false,
    notBefore: on.now,
    platformId: null,
    settledAt: null,
  });
}

export function queueMessage(on: Transaction, message: DirectMessage): boolean {
  const { answered, outbox, sessions } = on.data;
  const before = on.now - answeredKeptMs;
  for (const [place, at] of answered) if (at <= before) on.delete(answered, place);
  for (const { id, sessionId, settledAt } of outbox.values()) {
    if (sessionId === null && settledAt !== null && settledAt <= before) on.delete(outbox, id);
  }
  if (message.answers !== null) {
    const place = pair(message.answers.channel, message.answers.externalId);
    if (answered.has(place)) return false;
    on.set(answered, place, on.now);
  }
  if (message.sessionId !== null && !sessions.has(message.sessionId)) {
    throw conflict(`there is no session ${message.sessionId}`);
  }
  queueReply(on, message.sessionId, null, message);
  return true;
}

export function noteDraft(on: Transaction, id: SessionId, draft: Omit<Draft, 'sessionId'> | null): void {
  if (draft === null) on.delete(on.data.drafts, id);
  else if (on.data.sessions.has(id)) on.set(on.data.drafts, id, frozenCopy({ ...draft, sessionId: id }));
}

/** The draft whose place the next part of the delivery takes. */
function draftBehind(on: Transaction, row: OutboxRow): Draft | null {
  if (row.sessionId === null || row.turnId === null || row.partsSent > 0 || row.file !== null) return null;
  const draft = on.data.drafts.get(row.sessionId);
  return draft?.channel === row.channel && draft.target === row.target ? draft : null;
}

export function claimDeliveries(on: Transaction, limit: number, channels?: readonly string[]): OutboxRecord[] {
  const seen = new Set<string>();
  const claimed: OutboxRecord[] = [];
  for (const row of on.data.outbox.values()) {
    if (row.state !== 'pending' && row.state !== 'attempting') continue;
    const lane = row.sessionId ?? pair(row.channel, row.target);
    if (seen.has(lane)) continue;
    seen.add(lane);
    if (row.state !== 'pending' || row.notBefore > on.now || claimed.length >= limit) continue;
    if (channels !== undefined && !channels.includes(row.channel)) continue;
    on.assign(row, { state: 'attempting', attempts: row.attempts + 1 });
    const { notBefore: _notBefore, platformId: _platformId, settledAt: _settledAt, ...record } = row;
    claimed.push({ ...record, draftId: draftBehind(on, row)?.platformId ?? null });
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
  if (row === undefined) return;
  const draft = draftBehind(on, row);
  if (draft !== null) on.delete(on.data.drafts, draft.sessionId);
  on.assign(row, { partsSent: row.partsSent + 1, attempts: 1, maybeSent: false, platformId });
}

export function settleDelivery(on: Transaction, id: OutboxId, settlement: DeliverySettlement): void {
  const row = attempted(on, id);
  if (row === undefined) return;
  if (settlement.kind === 'retry') {
    const { notBefore, maybeSent } = settlement;
    on.assign(row, { state: 'pending', notBefore, maybeSent: row.maybeSent || maybeSent });
  } else if (settlement.kind === 'failed') on.assign(row, { state: 'failed', settledAt: on.now });
  else {
    recordPartSent(on, id, settlement.platformId);
    on.assign(row, { state: 'sent', settledAt: on.now });
  }
}
