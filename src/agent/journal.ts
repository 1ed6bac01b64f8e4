/**
 * A session as the turn loop sees it: everything stored, nothing else. It is read once in full and then only what
 * was added is read, so that a step late in a long turn costs what an early one does.
 */
import { present } from '../lib/assert.ts';
import type { SessionId } from '../protocol/ids.ts';
import type { AssistantMessage, Head, Message } from '../protocol/messages.ts';
import type { JournalSlice, StoreReader } from '../store/store.ts';
import { messagesBackwards, type MessageEntry } from './rewind.ts';

/** `entries` is the whole log. */
export type Journal = JournalSlice;

export async function loadJournal(reader: StoreReader, sessionId: SessionId): Promise<Journal | null> {
  return reader.journal(sessionId, 0);
}

/** The journal with what was stored since. */
export async function refreshJournal(reader: StoreReader, journal: Journal): Promise<Journal> {
  const slice = present(await reader.journal(journal.session.id, journal.session.lastSeq), 'a session under lease');
  return { ...slice, entries: [...journal.entries, ...slice.entries] };
}

/** The frozen start of the prompt in force; null before the first turn. */
export function headOf(journal: Journal): Head | null {
  const entry = journal.entries.findLast((candidate) => candidate.kind === 'head');
  return entry?.head ?? null;
}

/** The newest message of the open turn; null if it has none yet. */
export function lastMessageOfTurn(journal: Journal): Message | null {
  for (const { message } of messagesOfTurn(journal)) return message;
  return null;
}

/** The newest answer of the open turn, calls or not. */
export function lastAnswerOfTurn(journal: Journal): AssistantMessage | null {
  for (const { message } of messagesOfTurn(journal)) if (message.role === 'assistant') return message;
  return null;
}

/** Whether the program has told the model something in the open turn. */
export function hasNudge(journal: Journal): boolean {
  for (const entry of messagesOfTurn(journal)) if ('inboxId' in entry && entry.inboxId === null) return true;
  return false;
}

/** The messages of the open turn that are in force, newest first. */
export function* messagesOfTurn({ openTurn, entries }: Journal): Generator<MessageEntry> {
  if (openTurn === null) return;
  for (const entry of messagesBackwards(entries)) {
    if (entry.seq < openTurn.firstSeq) return;
    if (entry.turnId === openTurn.id) yield entry;
  }
}
