/**
 * What the page shows of one session, folded from its events. Pure: no clock, no network; the caller says when an
 * event arrived. Entries count once however often they arrive, and what did not change keeps its identity, so that
 * only what did is drawn again.
 */
import {
  applyLive,
  type LiveCall,
  type LiveEvent,
  type LiveTurn,
  type SessionEvent,
} from '../../src/protocol/events.ts';
import type { CallId } from '../../src/protocol/ids.ts';
import type { CallOutcome, Entry } from '../../src/protocol/messages.ts';
import { holderOf, settleQuestions, withEntry, withResult, type Item } from './items.ts';

/** A call that is under way, or has just ended and whose stored result is still to come. */
export interface RunningCall extends LiveCall {
  readonly startedAt: number;
  readonly ended: CallOutcome | null;
}

export interface Draft {
  readonly text: string;
  readonly reasoning: string;
}

export interface Conversation {
  readonly items: readonly Item[];
  /** Entries before this one exist but are not loaded, unless it is 1. */
  readonly firstSeq: number;
  readonly lastSeq: number;
  /** The turn in progress; null while the session rests. */
  readonly turn: LiveTurn | null;
  readonly running: ReadonlyMap<CallId, RunningCall>;
  /** A draft that was cleared and stays in view until what follows it arrives, so that nothing flickers. */
  readonly clearedDraft: Draft | null;
  /** What keeps the session from going on, until it goes on. */
  readonly trouble: string | null;
  /** True once everything stored has arrived and the live part began. */
  readonly caughtUp: boolean;
}

/** Nothing yet of a session whose entries will arrive from the one after `after`. */
export function emptyConversation(after: number): Conversation {
  return {
    items: [],
    firstSeq: after + 1,
    lastSeq: after,
    turn: null,
    running: new Map(),
    clearedDraft: null,
    trouble: null,
    caughtUp: false,
  };
}

export function receive(conversation: Conversation, event: SessionEvent, now: number): Conversation {
  if (event.kind === 'entry') return receiveEntry(conversation, event.entry, now);
  const turn = applyLive(conversation.turn, event);
  return {
    ...conversation,
    turn,
    running: runningAfter(conversation, event, turn, now),
    clearedDraft: clearedDraftAfter(conversation, event),
    trouble: event.kind === 'trouble' ? event.text : null,
    caughtUp: conversation.caughtUp || event.kind === 'live-state',
  };
}

/** Puts older entries in front: those that end right before `firstSeq`. */
export function prependEntries(conversation: Conversation, entries: readonly Entry[]): Conversation {
  const first = entries[0];
  if (first === undefined) return conversation;
  let older: readonly Item[] = [];
  for (const entry of entries) if (entry.seq < conversation.firstSeq) older = withEntry(older, entry, null);
  const newer: Item[] = [];
  for (const item of conversation.items) {
    const settled = item.kind === 'stray-result' ? withResult(older, item.part, item.at, null) : null;
    if (settled === null || item.kind !== 'stray-result') newer.push(item);
    else older = settleQuestions(settled, ({ question }) => question.callId === item.part.callId);
  }
  return { ...conversation, items: [...older, ...newer], firstSeq: Math.min(conversation.firstSeq, first.seq) };
}

/** The draft to show: the one being written, or the one just cleared. */
export function draftOf(conversation: Conversation): Draft | null {
  const { turn, clearedDraft } = conversation;
  if (turn !== null && (turn.text !== '' || turn.reasoning !== '')) return turn;
  return clearedDraft;
}

/** Running calls that no loaded message mentions. */
export function unplacedCalls(conversation: Conversation): readonly RunningCall[] {
  return [...conversation.running.values()].filter((call) => holderOf(conversation.items, call.callId) === -1);
}

function receiveEntry(conversation: Conversation, entry: Entry, now: number): Conversation {
  if (entry.seq <= conversation.lastSeq) return conversation;
  const turn = turnAfter(conversation, entry);
  const settledId = entry.kind === 'message' && entry.message.role === 'tool' ? entry.message.parts[0].callId : null;
  const started = settledId === null ? undefined : conversation.running.get(settledId);
  const draftIsOver = turn === null || isAnswer(entry) || entry.kind === 'notice';
  return {
    ...conversation,
    items: withEntry(conversation.items, entry, started === undefined ? null : now - started.startedAt),
    lastSeq: entry.seq,
    turn,
    running: conversation.running.size === 0 ? conversation.running : remaining(conversation.running, turn, settledId),
    clearedDraft: draftIsOver ? null : conversation.clearedDraft,
    trouble: null,
  };
}

function turnAfter(conversation: Conversation, entry: Entry): LiveTurn | null {
  const turn = applyLive(conversation.turn, { kind: 'entry', entry });
  // The stored message is the draft: showing both, even for a moment, would double it.
  if (isAnswer(entry) && turn !== null && turn.turnId === entry.turnId) return { ...turn, text: '', reasoning: '' };
  if (entry.kind === 'turn-opened' && turn === null && conversation.caughtUp && entry.turnId !== null)
    return { turnId: entry.turnId, text: '', reasoning: '', calls: [], status: '' };
  return turn;
}

function isAnswer(entry: Entry): boolean {
  return entry.kind === 'message' && entry.message.role === 'assistant';
}

function remaining(
  running: ReadonlyMap<CallId, RunningCall>,
  turn: LiveTurn | null,
  settledId: CallId | null,
): ReadonlyMap<CallId, RunningCall> {
  if (turn === null) return new Map();
  if (settledId === null) return running;
  const rest = new Map(running);
  rest.delete(settledId);
  return rest;
}

function runningAfter(
  conversation: Conversation,
  event: LiveEvent,
  turn: LiveTurn | null,
  now: number,
): ReadonlyMap<CallId, RunningCall> {
  const before = conversation.running;
  if (turn?.calls === conversation.turn?.calls) return before;
  const after = new Map<CallId, RunningCall>();
  if (event.kind === 'call-ended') {
    for (const [callId, call] of before)
      after.set(callId, callId === event.callId ? { ...call, ended: event.outcome } : call);
    return after;
  }
  // Calls that ended keep their output in view until the stored result replaces it.
  if (event.kind !== 'live-state')
    for (const [callId, call] of before) if (call.ended !== null) after.set(callId, call);
  for (const call of turn?.calls ?? []) {
    const startedAt = before.get(call.callId)?.startedAt ?? startOf(conversation, event, call.callId, now);
    after.set(call.callId, { ...call, startedAt, ended: null });
  }
  return turn === null ? new Map() : after;
}

/** A call found running after a reload began some time after its message was stored. */
function startOf(conversation: Conversation, event: LiveEvent, callId: CallId, now: number): number {
  if (event.kind !== 'live-state') return now;
  const holder = conversation.items[holderOf(conversation.items, callId)];
  return holder === undefined ? now : Math.min(now, holder.at);
}

function clearedDraftAfter(conversation: Conversation, event: LiveEvent): Draft | null {
  switch (event.kind) {
    case 'draft-cleared': {
      const { turn } = conversation;
      if (turn === null || turn.turnId !== event.turnId) return conversation.clearedDraft;
      if (turn.text === '' && turn.reasoning === '') return conversation.clearedDraft;
      return { text: turn.text, reasoning: turn.reasoning };
    }
    case 'call-output':
    case 'call-ended':
    case 'trouble':
      return conversation.clearedDraft;
    case 'status':
      // Something is waited for, so the attempt that wrote it is over.
      return event.text === '' ? conversation.clearedDraft : null;
    case 'live-state':
    case 'turn-started':
    case 'text-delta':
    case 'reasoning-delta':
    case 'call-started':
    case 'turn-ended':
      return null;
  }
}
