/**
 * Judges what people saw on the platform against what the transcripts say they were told: every reply there, whole, its
 * parts in order, the replies in the order of the turns; nothing twice unless it says so itself.
 */
import { questionText } from '../../src/agent/questions.ts';
import { partsOf, repetitionMark } from '../../src/gateway/delivery/deliver.ts';
import { textOf, type Entry } from '../../src/protocol/messages.ts';
import { postCharsMax, type ChatKind, type Post } from './platform-book.ts';

export interface ChatView {
  readonly session: string;
  readonly kind: ChatKind;
  /** In the order in which they came. */
  readonly posts: readonly Post[];
}

export type PlatformColumn = 'lost' | 'doubled' | 'cutShort' | 'outOfOrder';

export interface PlatformFinding {
  readonly column: PlatformColumn;
  readonly what: string;
}

export function judgeChat(
  { session, kind, posts }: ChatView,
  entries: readonly Entry[],
): { readonly findings: readonly PlatformFinding[]; readonly markedCopies: number } {
  const findings: PlatformFinding[] = [];
  const complain = (column: PlatformColumn, what: string) => findings.push({ column, what: `${what} in ${session}` });
  const replies = new Map<string, { readonly number: number; readonly text: string }[]>();
  let markedCopies = 0;
  for (const { dedupeId, text } of posts) {
    const [reply = '', number = ''] = dedupeId.split('/');
    const parts = replies.get(reply) ?? [];
    const isMarked = kind === 'forgetful' && text.startsWith(repetitionMark);
    const part = { number: Number(number), text: isMarked ? text.slice(repetitionMark.length) : text };
    const isCopy = parts.some((other) => other.number === part.number);
    if (isCopy && isMarked) markedCopies += 1;
    else if (isCopy) complain('doubled', `${dedupeId} came again`);
    else if (part.number !== parts.length + 1)
      complain('outOfOrder', `part ${dedupeId} came as number ${parts.length + 1}`);
    if (!isCopy) replies.set(reply, [...parts, part]);
    if (!isCopy && [...replies.keys()].at(-1) !== reply) complain('outOfOrder', `${dedupeId} came after a later reply`);
  }
  const told = [...replies.entries()];
  const expected = repliesIn(entries);
  for (const [index, text] of expected.entries()) {
    const [reply, parts] = told[index] ?? [null, []];
    if (reply === null) complain('lost', `reply ${index + 1}, ${JSON.stringify(text.slice(0, 60))}, was never posted`);
    else if (!isSame(parts, partsOf({ text, file: null }, { textCharsMax: postCharsMax, dedupes: kind === 'exact' })))
      complain('cutShort', `${reply} is not reply ${index + 1}, ${JSON.stringify(text.slice(0, 60))}`);
  }
  for (const [reply] of told.slice(expected.length)) complain('doubled', `${reply} answers nothing`);
  return { findings, markedCopies };
}

function isSame(
  parts: readonly { readonly number: number; readonly text: string }[],
  wanted: readonly string[],
): boolean {
  const inOrder = parts.toSorted((a, b) => a.number - b.number);
  return inOrder.length === wanted.length && inOrder.every(({ text }, index) => text === wanted[index]);
}

/** What people were told, in order: what they were asked, and at the end of each turn its answer or why there is none. */
export function repliesIn(entries: readonly Entry[]): string[] {
  const replies: string[] = [];
  let answer = '';
  let notice = '';
  for (const entry of entries) {
    if (entry.kind === 'turn-opened') [answer, notice] = ['', ''];
    else if (entry.kind === 'notice') {
      if (entry.question === undefined) notice = entry.text;
      else replies.push(questionText({ ...entry.question, text: entry.text }));
    } else if (entry.kind === 'message' && entry.message.role === 'assistant') answer = textOf(entry.message);
    else if (entry.kind === 'turn-closed') {
      const because = entry.outcome === 'stopped' ? '' : notice;
      const text = entry.outcome === 'parked' || answer === '' ? because : answer;
      if (text !== '') replies.push(text);
    }
  }
  return replies;
}
