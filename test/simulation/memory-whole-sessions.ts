/** The verbs that take a session as a whole, on the in-memory data: its parked turn, its end, one from outside. */
import type { SessionId, SessionKey, TurnId } from '../../src/protocol/ids.ts';
import type { TurnOutcome } from '../../src/protocol/messages.ts';
import { contentHashes } from '../../src/store/content-hashes.ts';
import { renumbered } from '../../src/store/renumbered.ts';
import { StoreError, type PortableSession, type SessionRecord } from '../../src/store/store.ts';
import { append, isSaid } from './memory-commit.ts';
import { conflict, frozenCopy, pair, type SessionRows, type Transaction } from './memory-data.ts';
import { loseModelCalls } from './memory-model-calls.ts';
import { insertSession, isNameTaken, isValid, requireNoOwner, unlabelled } from './memory-verbs.ts';

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

export function closeSession(on: Transaction, id: SessionId): boolean {
  const record = on.data.sessions.get(id)?.record;
  if (record === undefined || record.isClosed) return false;
  on.assign(record, { isClosed: true });
  return true;
}

export function reopenSession(on: Transaction, id: SessionId, key: SessionKey): boolean {
  const session = on.data.sessions.get(id);
  if (session === undefined) return false;
  const before = on.data.openSessionOf(key);
  if (before !== undefined) on.assign(before.record, { isClosed: true });
  on.assign(session.record, { key, isClosed: false });
  return true;
}

export function deleteSession(on: Transaction, id: SessionId): boolean {
  const { data } = on;
  const session = data.sessions.get(id);
  if (session === undefined) return false;
  if (session.record.turn === 'open' && isValid(session, on.now)) throw conflict(`session ${id} is at work`);
  for (const row of session.inbox) {
    on.delete(data.inbox, row.id);
    on.delete(data.arrivals, pair(row.channel, row.externalId));
  }
  for (const row of data.outbox.values()) if (row.sessionId === id) on.delete(data.outbox, row.id);
  on.delete(data.drafts, id);
  for (const grant of data.grants.values()) if (grant.sessionId === id) on.delete(data.grants, grant.id);
  loseModelCalls(on, session);
  on.delete(data.sessions, id);
  const others = [...data.sessions.values()];
  for (const sha256 of session.contents) {
    if (!others.some(({ contents }) => contents.has(sha256))) on.delete(data.contents, sha256);
  }
  return true;
}

export function importSession(
  on: Transaction,
  id: SessionId,
  key: SessionKey,
  owner: string,
  portable: PortableSession,
): SessionRecord {
  if (isNameTaken(on, portable.name) || on.data.openSessionOf(key) !== undefined) {
    throw new StoreError('conflict', `There is a session named ${portable.name} already.`);
  }
  const outcomes = new Map<TurnId, TurnOutcome>();
  for (const entry of portable.entries) {
    if (entry.turnId === null) continue;
    if (entry.kind === 'turn-closed') outcomes.set(entry.turnId, entry.outcome);
    if (entry.kind === 'turn-opened') outcomes.delete(entry.turnId);
  }
  const kept = renumbered(portable.entries.filter((entry) => entry.turnId === null || outcomes.has(entry.turnId)));
  const { name, title, createdAt } = portable;
  const session = insertSession(on, {
    ...unlabelled,
    id,
    key,
    owner,
    name,
    title,
    createdAt,
    turn: 'none',
    updatedAt: Math.max(createdAt, kept.at(-1)?.at ?? 0),
    lastSeq: kept.length,
    messages: kept.filter(isSaid).length,
  });
  for (const sha256 of contentHashes(kept)) if (on.data.contents.has(sha256)) session.contents.add(sha256);
  for (const entry of kept) {
    session.entries.push(frozenCopy(entry));
    if (entry.turnId === null || session.turns.has(entry.turnId)) continue;
    const outcome = outcomes.get(entry.turnId) ?? null;
    const empty = { crashes: 0, modelCalls: 0, stopRequested: false, channel: '', sender: '' } as const;
    session.turns.set(entry.turnId, {
      id: entry.turnId,
      sessionId: id,
      openedAt: entry.at,
      firstSeq: entry.seq,
      state: 'closed',
      outcome,
      ...empty,
    });
  }
  return { ...session.record };
}
