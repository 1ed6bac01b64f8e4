/**
 * Follows one message through its session's events to the answer. Pure: the same durable entries lead to the same
 * result whether they came in one stream or in pieces over several connections, with repetitions.
 */
import type { SendReceipt } from '../protocol/api.ts';
import type { SessionEvent } from '../protocol/events.ts';
import type { InboxId, TurnId } from '../protocol/ids.ts';
import { textOf, type Entry, type TurnOutcome } from '../protocol/messages.ts';

/** Older notices than these are dropped; only the newest explain how a turn ended. */
const noticesMax = 16;

export interface Followed {
  readonly inboxId: InboxId;
  /** The newest entry seen: a new connection goes on from here. */
  readonly lastSeq: number;
  /** The turn that answers the message; null while the message waits. */
  readonly turnId: TurnId | null;
  /** What the assistant said last in that turn. */
  readonly reply: string;
  /** What the people in the session were told about that turn, newest last. */
  readonly notices: readonly string[];
  /** How the turn ended; null while it goes on. */
  readonly outcome: TurnOutcome | null;
}

export function followFrom(receipt: SendReceipt): Followed {
  return {
    inboxId: receipt.inboxId,
    lastSeq: receipt.afterSeq,
    turnId: null,
    reply: '',
    notices: [],
    outcome: null,
  };
}

/** True for a durable event that was seen before, as happens around a reconnect. */
export function isRepeated(followed: Followed, event: SessionEvent): boolean {
  return event.kind === 'entry' && event.entry.seq <= followed.lastSeq;
}

export function follow(followed: Followed, event: SessionEvent): Followed {
  if (event.kind !== 'entry' || isRepeated(followed, event)) return followed;
  return { ...followed, ...learn(followed, event.entry), lastSeq: event.entry.seq };
}

function learn(followed: Followed, entry: Entry): Partial<Followed> {
  if (entry.kind === 'message' && entry.message.role === 'user') {
    return 'inboxId' in entry && entry.inboxId === followed.inboxId ? { turnId: entry.turnId } : {};
  }
  if (followed.turnId === null || entry.turnId !== followed.turnId) return {};
  switch (entry.kind) {
    case 'message':
      return entry.message.role === 'assistant' ? { reply: textOf(entry.message) } : {};
    case 'notice':
      // What was asked on the way does not say how the turn ended.
      if (entry.question !== undefined) return {};
      return { notices: [...followed.notices, entry.text].slice(-noticesMax) };
    case 'turn-closed':
      return { outcome: entry.outcome };
    case 'compression':
    case 'head':
    case 'rewound':
    case 'turn-opened':
    case 'titled':
      return {};
  }
}
