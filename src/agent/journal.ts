/**
 * A session as the turn loop sees it: everything stored, nothing else. It is read once in full and then only what
 * was added is read, so that a step late in a long turn costs what an early one does.
 */
import { present } from '../lib/assert.ts';
import type { SessionId } from '../protocol/ids.ts';
import type { AssistantMessage, Head, Message } from '../protocol/messages.ts';
import type { JournalSlice, StoreReader } from '../store/store.ts';

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
  const last = journal.entries.findLast((entry) => entry.kind === 'message' && entry.turnId === journal.openTurn?.id);
  return last?.kind === 'message' ? last.message : null;
}

/** The newest answer of the open turn, calls or not. */
export function lastAnswerOfTurn(journal: Journal): AssistantMessage | null {
  const turn = journal.openTurn;
  if (turn === null) return null;
  for (const entry of journal.entries.toReversed()) {
    if (entry.seq < turn.firstSeq) return null;
    if (entry.turnId === turn.id && entry.kind === 'message' && entry.message.role === 'assistant')
      return entry.message;
  }
  return null;
}

/** Whether the program has told the model something in the open turn. */
export function hasNudge(journal: Journal): boolean {
  return journal.entries.some(
    (entry) => entry.turnId === journal.openTurn?.id && 'inboxId' in entry && entry.inboxId === null,
  );
}
