/**
 * What is read of a session's log: every entry becomes an item, joins one, or is machinery that nobody needs to see.
 * Results stand beside their calls, matched by id. Pure; items that did not change keep their identity.
 */
import { filesOf, type EntryFile } from '../../src/protocol/entry-files.ts';
import type { CallId, InboxId, TurnId } from '../../src/protocol/ids.ts';
import {
  textOf,
  type AssistantMessage,
  type CallOutcome,
  type DeliveredNotice,
  type Entry,
  type OpenQuestion,
  type ToolResultPart,
  type TurnOutcome,
} from '../../src/protocol/messages.ts';

export interface CallResult {
  readonly outcome: CallOutcome;
  readonly text: string;
  /** How long the call took, where that can be told. */
  readonly tookMs: number | null;
  /** What it sent, and what it showed to the model; missing if nothing. */
  readonly files?: readonly EntryFile[];
}

export interface Call {
  readonly callId: CallId;
  readonly name: string;
  readonly arguments: string;
  readonly plannedAt: number;
  readonly result: CallResult | null;
}

export type Block =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'reasoning'; readonly text: string }
  | { readonly kind: 'call'; readonly call: Call };

export type UserItem = {
  readonly kind: 'user';
  readonly seq: number;
  readonly at: number;
  readonly inboxId: InboxId;
  readonly text: string;
  /** What came with the text. */
  readonly attachments: readonly EntryFile[];
};

export type AnswerItem = {
  readonly kind: 'answer';
  readonly seq: number;
  readonly at: number;
  readonly blocks: readonly Block[];
};

/** Something that a call asks of a person. */
export type QuestionItem = {
  readonly kind: 'question';
  readonly seq: number;
  readonly at: number;
  readonly text: string;
  readonly turnId: TurnId | null;
  readonly question: OpenQuestion;
  /** Its call has a result, has asked something else, or ended with its turn. */
  readonly isSettled: boolean;
};

export type Item =
  | UserItem
  | AnswerItem
  | QuestionItem
  /** A result whose call is further back than what is loaded. */
  | {
      readonly kind: 'stray-result';
      readonly seq: number;
      readonly at: number;
      readonly part: ToolResultPart;
      readonly files?: readonly EntryFile[];
    }
  | {
      readonly kind: 'notice';
      readonly seq: number;
      readonly at: number;
      readonly text: string;
      /** It was sent to the person: an answer to a command, say. */
      readonly delivery?: DeliveredNotice;
    }
  /** What the program itself told the model. */
  | { readonly kind: 'nudge'; readonly seq: number; readonly at: number; readonly text: string }
  | {
      readonly kind: 'outcome';
      readonly seq: number;
      readonly at: number;
      readonly outcome: Exclude<TurnOutcome, 'answered'>;
    };

export function hasOpenCalls(item: AnswerItem): boolean {
  return item.blocks.some((block) => block.kind === 'call' && block.call.result === null);
}

/** The items with this entry among them; `tookMs` is how long its call took, if somebody watched. */
export function withEntry(items: readonly Item[], entry: Entry, tookMs: number | null): readonly Item[] {
  const { seq, at } = entry;
  switch (entry.kind) {
    case 'compression':
    case 'head':
    case 'turn-opened':
    case 'titled':
      return items;
    case 'rewound':
      return [...items, { kind: 'notice', seq, at, text: 'What came before this was taken back.' }];
    case 'notice': {
      const { text, question, delivery, turnId } = entry;
      if (question === undefined) {
        return [...items, { kind: 'notice', seq, at, text, ...(delivery === undefined ? {} : { delivery }) }];
      }
      const before = settleQuestions(items, (item) => item.question.callId === question.callId);
      return [...before, { kind: 'question', seq, at, text, turnId, question, isSettled: false }];
    }
    case 'turn-closed': {
      const settled = settleQuestions(items, (item) => item.turnId === entry.turnId);
      return entry.outcome === 'answered'
        ? settled
        : [...settled, { kind: 'outcome', seq, at, outcome: entry.outcome }];
    }
    case 'message': {
      const { message } = entry;
      if (message.role === 'user') {
        const inboxId = 'inboxId' in entry ? entry.inboxId : null;
        const text = textOf(message);
        if (inboxId === null) return [...items, { kind: 'nudge', seq, at, text }];
        return [...items, { kind: 'user', seq, at, inboxId, text, attachments: filesOf(entry) }];
      }
      if (message.role === 'assistant') return [...items, { kind: 'answer', seq, at, blocks: blocksOf(message, at) }];
      const [part] = message.parts;
      const settled = settleQuestions(items, (item) => item.question.callId === part.callId);
      const files = filesOf(entry);
      const made = files.length === 0 ? {} : { files };
      return (
        withResult(settled, part, at, tookMs, made) ?? [...settled, { kind: 'stray-result', seq, at, part, ...made }]
      );
    }
  }
}

function blocksOf(message: AssistantMessage, at: number): readonly Block[] {
  return message.parts.map((part): Block => {
    if (part.kind !== 'tool-call') return { kind: part.kind, text: part.text };
    const { callId, name, arguments: argumentText } = part;
    return { kind: 'call', call: { callId, name, arguments: argumentText, plannedAt: at, result: null } };
  });
}

/** The newest question that waits for a person, as far as the log tells. */
export function openQuestion(items: readonly Item[]): QuestionItem | null {
  return (items.findLast((item) => item.kind === 'question' && !item.isSettled) as QuestionItem | undefined) ?? null;
}

/** The items with the open questions that match marked as settled. */
export function settleQuestions(items: readonly Item[], isMeant: (item: QuestionItem) => boolean): readonly Item[] {
  const isOpen = (item: Item): item is QuestionItem => item.kind === 'question' && !item.isSettled && isMeant(item);
  return items.some(isOpen) ? items.map((item) => (isOpen(item) ? { ...item, isSettled: true } : item)) : items;
}

/** The items with this result beside its call; null if the call is not among them. */
export function withResult(
  items: readonly Item[],
  part: ToolResultPart,
  at: number,
  tookMs: number | null,
  made: Pick<CallResult, 'files'> = {},
): readonly Item[] | null {
  const index = holderOf(items, part.callId);
  const holder = items[index];
  if (holder?.kind !== 'answer') return null;
  // Of calls that shared a message, only what was watched tells how long each took.
  const isAlone = holder.blocks.filter((block) => block.kind === 'call').length === 1;
  const lastedMs = tookMs ?? (isAlone ? at - holder.at : null);
  const result = { outcome: part.outcome, text: part.text, tookMs: lastedMs, ...made };
  const blocks = holder.blocks.map((block): Block =>
    block.kind === 'call' && block.call.callId === part.callId ? { ...block, call: { ...block.call, result } } : block,
  );
  return items.with(index, { ...holder, blocks });
}

/** Where the message with this call stands; -1 if it is not loaded. Searched from the end, where it nearly always is. */
export function holderOf(items: readonly Item[], callId: CallId): number {
  return items.findLastIndex(
    (item) =>
      item.kind === 'answer' && item.blocks.some((block) => block.kind === 'call' && block.call.callId === callId),
  );
}
