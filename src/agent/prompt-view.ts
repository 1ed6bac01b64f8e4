/**
 * What of a log is told to a model: the messages in force, with what was shortened told shortly. The log keeps
 * everything; this is the only place that knows what a `compression` entry means for a prompt. Pure: the same log gives
 * the same messages.
 */
import type { CallId } from '../protocol/ids.ts';
import type { CompressedPrompt, Entry, Message, ToolMessage, UserMessage } from '../protocol/messages.ts';
import type { MessageEntry } from './rewind.ts';

export interface PromptView {
  /** The newest shortening in force, and where it stands; null if there is none. */
  readonly compressed: (CompressedPrompt & { readonly seq: number }) | null;
  /** Messages that the summary tells of and that stay word for word all the same. */
  readonly kept: readonly MessageEntry[];
  /** What came after what the summary tells, in the order of the log. */
  readonly rest: readonly MessageEntry[];
  /** Results that are told in one line. */
  readonly digests: ReadonlyMap<CallId, string>;
}

export function promptView(entries: readonly Entry[]): PromptView {
  let inForceUpTo = Infinity;
  let compressed: PromptView['compressed'] = null;
  const rest: MessageEntry[] = [];
  const kept: MessageEntry[] = [];
  const digests = new Map<CallId, string>();
  for (let index = entries.length - 1; index >= 0; index -= 1) {
    const entry = entries[index];
    if (entry === undefined) continue;
    const floor = compressed?.toSeq ?? 0;
    if (entry.seq <= floor && compressed?.keeps.length === kept.length) break;
    if (entry.kind === 'rewound') inForceUpTo = Math.min(inForceUpTo, entry.toSeq);
    if (entry.kind === 'compression' && entry.step.kind === 'done' && entry.step.toSeq <= inForceUpTo) {
      // Only what was told shortly at the time: whoever comes later has seen the digests of those before.
      for (const { callId, text } of entry.step.digests) if (!digests.has(callId)) digests.set(callId, text);
      if (compressed === null) compressed = { ...entry.step, seq: entry.seq };
    }
    if (entry.kind !== 'message' || entry.seq > inForceUpTo) continue;
    if (entry.seq > (compressed?.toSeq ?? 0)) rest.push(entry);
    else if (compressed?.keeps.includes(entry.seq)) kept.push(entry);
  }
  return { compressed, kept: kept.reverse(), rest: rest.reverse(), digests };
}

/** The view's messages, results still where the log has them. */
export function messagesOfView({ compressed, kept, rest, digests }: PromptView): Message[] {
  const told = compressed === null || compressed.summary === '' ? [] : [summaryMessage(compressed)];
  return [...told, ...kept.map(({ message }) => message), ...rest.map(({ message }) => withDigest(message, digests))];
}

export function withDigest(message: Message, digests: ReadonlyMap<CallId, string>): Message {
  return message.role === 'tool' ? digestedResult(message, digests) : message;
}

function digestedResult(message: ToolMessage, digests: ReadonlyMap<CallId, string>): ToolMessage {
  const { images: _images, ...result } = message.parts[0];
  const text = digests.get(result.callId);
  return text === undefined ? message : { role: 'tool', parts: [{ ...result, text }] };
}

/** Providers want a conversation to begin with a person's words; nobody wrote these, and they say so. */
export function summaryMessage({ preface, summary }: Pick<CompressedPrompt, 'preface' | 'summary'>): UserMessage {
  return { role: 'user', parts: [{ kind: 'text', text: `${preface}\n\n${summary}` }] };
}
