/** How long a prompt is, in tokens: as the provider counted the newest one, and otherwise estimated from bytes. Pure. */
import type { Entry, Head, Message } from '../protocol/messages.ts';
import { messagesOfView, promptView, type PromptView } from './prompt-view.ts';

const bytesPerToken = 4;
/** What a message costs besides its words. */
const messageTokens = 4;
/** Providers count pictures by their size; this is a large one. */
export const imageTokens = 1_600;
/** A provider that counts less than this part of the estimate does not count at all. */
const believedShare = 0.5;

export function messageSize(message: Message): number {
  let bytes = 0;
  let tokens = messageTokens;
  for (const part of message.parts) {
    switch (part.kind) {
      case 'text':
      case 'reasoning':
        bytes += Buffer.byteLength(part.text) + ('opaque' in part ? (part.opaque?.length ?? 0) : 0);
        break;
      case 'image':
        tokens += imageTokens;
        break;
      case 'file':
        bytes += part.name.length;
        break;
      case 'tool-call':
        bytes += part.name.length + Buffer.byteLength(part.arguments);
        break;
      case 'tool-result':
        bytes += Buffer.byteLength(part.text);
        tokens += imageTokens * (part.images?.length ?? 0);
        break;
    }
  }
  return tokens + Math.ceil(bytes / bytesPerToken);
}

export function messagesSize(messages: readonly Message[]): number {
  return messages.reduce((sum, message) => sum + messageSize(message), 0);
}

export function headSize(head: Head | null): number {
  if (head === null) return 0;
  return Math.ceil((Buffer.byteLength(head.systemPrompt) + JSON.stringify(head.tools).length) / bytesPerToken);
}

/** What the next prompt would have. */
export function promptTokens(entries: readonly Entry[]): number {
  const view = promptView(entries);
  const head = entries.findLast((entry) => entry.kind === 'head')?.head ?? null;
  const estimate = headSize(head) + messagesSize(messagesOfView(view));
  const counted = countedTokens(entries, view);
  return counted !== null && counted >= believedShare * estimate ? counted : estimate;
}

/** From the newest answer's own count, if nothing has changed the prompt's beginning since. */
function countedTokens(entries: readonly Entry[], { rest }: PromptView): number | null {
  let after = 0;
  for (const { message, seq, ...entry } of rest.toReversed()) {
    const tokens = 'promptTokens' in entry ? entry.promptTokens : undefined;
    if (tokens !== undefined) return isChangedSince(entries, seq) ? null : tokens + after;
    after += messageSize(message);
  }
  return null;
}

function isChangedSince(entries: readonly Entry[], seq: number): boolean {
  for (let index = entries.length - 1; index >= 0; index -= 1) {
    const entry = entries[index];
    if (entry === undefined || entry.seq <= seq) return false;
    if (entry.kind === 'rewound' || entry.kind === 'head') return true;
    if (entry.kind === 'compression' && entry.step.kind === 'done') return true;
  }
  return false;
}
