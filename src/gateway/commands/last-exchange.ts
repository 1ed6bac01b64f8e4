/** The newest exchange of a session that is still part of its conversation: what `/undo` and `/retry` are about. */
import { messagesBackwards } from '../../agent/rewind.ts';
import type { TurnId } from '../../protocol/ids.ts';
import { textOf, type Entry } from '../../protocol/messages.ts';
import type { SessionRecord, StoreReader } from '../../store/store.ts';

type AskedEntry = Extract<Entry, { inboxId: unknown }>;

/** Enough for most turns; longer ones are read from further back. */
const entriesPerLook = 256;
const excerptCharsMax = 80;

export interface Exchange {
  readonly turnId: TurnId;
  /** Rewound to this, the exchange is out of the conversation. */
  readonly beforeSeq: number;
  /** What people wrote in it, oldest first. */
  readonly asked: readonly AskedEntry[];
}

/** Null if the conversation is empty. */
export async function lastExchange(read: StoreReader, session: SessionRecord): Promise<Exchange | null> {
  for (let count = entriesPerLook; ; count *= 4) {
    const after = Math.max(0, session.lastSeq - count);
    const entries = await newestEntries(read, session, after);
    const [newest] = messagesBackwards(entries);
    const turnId = newest?.turnId ?? null;
    const opened = entries.find((entry) => entry.kind === 'turn-opened' && entry.turnId === turnId);
    if (turnId !== null && opened !== undefined) {
      return exchangeOf(entries, opened.seq, turnId);
    }
    if (after === 0) return null;
  }
}

/** Whether anything said after this point is still part of the conversation. */
export async function goesOnAfter(read: StoreReader, session: SessionRecord, seq: number): Promise<boolean> {
  const [newest] = messagesBackwards(await newestEntries(read, session, seq));
  return newest !== undefined;
}

/** Whether something that came after this point was taken back. */
export async function wasRewoundTo(read: StoreReader, session: SessionRecord, seq: number): Promise<boolean> {
  const entries = await newestEntries(read, session, seq);
  return entries.some((entry) => entry.kind === 'rewound' && entry.toSeq <= seq);
}

/**
 * What was taken back, if nothing was said since; null otherwise. Null also if all was taken back: nothing is left that
 * it would go on from.
 */
export async function takenBack(read: StoreReader, session: SessionRecord): Promise<Exchange | null> {
  const tail = await newestEntries(read, session, Math.max(0, session.lastSeq - entriesPerLook));
  const newest = tail.findLast((entry) => entry.kind === 'rewound' || entry.kind === 'message');
  if (newest?.kind !== 'rewound' || newest.toSeq === 0) return null;
  const entries = await newestEntries(read, session, newest.toSeq);
  const opened = entries.find((entry) => entry.kind === 'turn-opened');
  return opened === undefined || opened.turnId === null ? null : exchangeOf(entries, opened.seq, opened.turnId);
}

function exchangeOf(entries: readonly Entry[], openedSeq: number, turnId: TurnId): Exchange {
  return { turnId, beforeSeq: openedSeq - 1, asked: entries.filter((entry) => isAsked(entry, turnId)) };
}

async function newestEntries(read: StoreReader, session: SessionRecord, after: number): Promise<readonly Entry[]> {
  return read.entries(session.id, { after, limit: session.lastSeq - after + 1 });
}

function isAsked(entry: Entry, turnId: TurnId): entry is AskedEntry {
  return entry.turnId === turnId && 'inboxId' in entry && entry.inboxId !== null;
}

/** The beginning of what was asked, on one line. */
export function excerptOf({ asked }: Exchange): string {
  const [first] = asked;
  const text = first === undefined ? '' : textOf(first.message).replaceAll(/\s+/g, ' ').trim();
  return text.length <= excerptCharsMax ? text : `${text.slice(0, excerptCharsMax).toWellFormed()}…`;
}
