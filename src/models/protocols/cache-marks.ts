/**
 * Where the provider's cache is told to keep the prompt. It writes an entry at every mark, and from every mark it looks
 * back over a few blocks for an entry of an earlier request. A round of calls can add far more blocks than that, so the
 * points where earlier requests ended are marked again. They are found in the messages alone: a request ends before an
 * answer, after a person's message and at the very end.
 */
import type { Message } from '../../protocol/messages.ts';

/** The provider refuses more. */
export const marksMax = 4;
/** How many blocks are looked at from a mark on, itself included. */
export const lookBackBlocks = 20;
/** One is left for the system prompt; tools are marked if these don't use up the rest. */
export const historyMarksMax = 3;

export interface EncodedMessage {
  readonly role: Message['role'];
  /** The content blocks of one of our messages as JSON; none if nothing of it can be sent. */
  readonly blocks: readonly string[];
}

/** Positions among all blocks of all messages, newest first. */
export function historyMarks(messages: readonly EncodedMessage[]): number[] {
  const marks: number[] = [];
  for (const end of requestEnds(messages)) {
    const newer = marks.at(-1);
    // What the mark after it can see needs none of its own.
    if (newer !== undefined && newer - end < lookBackBlocks) continue;
    marks.push(end);
    if (marks.length === historyMarksMax) break;
  }
  return marks;
}

/** The last block of every prefix that may have been a request, newest first. */
function* requestEnds(messages: readonly EncodedMessage[]): Generator<number> {
  let position = messages.reduce((sum, { blocks }) => sum + blocks.length, 0) - 1;
  let next: Message['role'] | null = null;
  for (const { role, blocks } of messages.toReversed()) {
    if (blocks.length === 0) continue;
    if (next === null || next === 'assistant' || role === 'user' || (role === 'tool' && next === 'user')) {
      yield position;
    }
    position -= blocks.length;
    next = role;
  }
}

export function marked(blockJson: string, pace: 'short' | 'long'): string {
  const ttl = pace === 'long' ? ',"ttl":"1h"' : '';
  return `${blockJson.slice(0, -1)},"cache_control":{"type":"ephemeral"${ttl}}}`;
}
