/**
 * A session as the turn loop sees it: everything stored, nothing else. It is read once in full and then only what
 * was added is read, so that a step late in a long turn costs what an early one does.
 */
import { present } from '../lib/assert.ts';
import type { SessionId } from '../protocol/ids.ts';
import type { AssistantMessage, CompressedPrompt, Entry, Head, Message } from '../protocol/messages.ts';
import type { JournalSlice, StoreReader } from '../store/store.ts';
import { promptView } from './prompt-view.ts';
import { messagesBackwards, type MessageEntry } from './rewind.ts';

/**
 * `entries` is the whole log; or, if the conversation was shortened, what is still needed of it: the head, what stays word
 * for word, and all that came after what the summary tells, the open turn in any case.
 */
export type Journal = JournalSlice;

/** How far back is looked for a shortening first; then further and further, until the log is read as a whole. */
const firstLookDefault = 500;

/** What a session costs at its next turn does not grow with what was said before it was shortened. */
export async function loadJournal(
  reader: StoreReader,
  sessionId: SessionId,
  firstLook = firstLookDefault,
): Promise<Journal | null> {
  for (let count = firstLook; ; count *= 4) {
    const slice = await reader.journal(sessionId, -count);
    if (slice === null || slice.session.lastSeq <= count) return slice;
    const { compressed } = promptView(slice.entries);
    if (compressed !== null && compressed.toSeq > 0) return shortJournal(reader, slice, compressed);
  }
}

async function shortJournal(
  reader: StoreReader,
  slice: JournalSlice,
  { toSeq, headSeq, keeps }: CompressedPrompt,
): Promise<Journal | null> {
  const after = Math.min(toSeq, (slice.openTurn?.firstSeq ?? Infinity) - 1);
  const { id } = slice.session;
  const first = slice.entries[0]?.seq ?? Infinity;
  const whole = first <= after + 1 ? slice : await reader.journal(id, after);
  if (whole === null) return null;
  const earlier: Entry[] = [];
  for (const seq of [headSeq, ...keeps].filter((place) => place <= after).sort((one, other) => one - other)) {
    earlier.push(...(await reader.entries(id, { after: seq - 1, limit: 1 })));
  }
  const entries = [...earlier, ...whole.entries.filter(({ seq }) => seq > after)];
  return entries.some(({ kind }) => kind === 'head') ? { ...whole, entries } : reader.journal(id, 0);
}

/** The journal with what was stored since. */
export async function refreshJournal(reader: StoreReader, journal: Journal): Promise<Journal> {
  const slice = present(await reader.journal(journal.session.id, journal.session.lastSeq), 'a session under lease');
  // What was told shortly may be back.
  if (slice.entries.some(({ kind }) => kind === 'rewound')) {
    return present(await loadJournal(reader, journal.session.id), 'a session under lease');
  }
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

/** Whether the program has told the model in the open turn to come to an end. */
export function hasNudge(journal: Journal): boolean {
  for (const entry of messagesOfTurn(journal)) if (isNudge(entry)) return true;
  return false;
}

function isNudge(entry: MessageEntry): boolean {
  return 'inboxId' in entry && entry.inboxId === null && entry.message.describes === undefined;
}

/** The messages of the open turn that are in force, newest first. */
export function* messagesOfTurn({ openTurn, entries }: Journal): Generator<MessageEntry> {
  if (openTurn === null) return;
  for (const entry of messagesBackwards(entries)) {
    if (entry.seq < openTurn.firstSeq) return;
    if (entry.turnId === openTurn.id) yield entry;
  }
}
