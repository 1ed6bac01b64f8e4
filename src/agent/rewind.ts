/**
 * What a rewind leaves in force. The log keeps everything; messages between a `rewound` entry and the sequence it names
 * are no part of the conversation any more. Heads and facts about turns are not rewound. Pure.
 */
import type { Entry } from '../protocol/messages.ts';

export type MessageEntry = Extract<Entry, { kind: 'message' }>;

/** The messages in force, newest first: whoever needs only the end reads only the end. */
export function* messagesBackwards(entries: readonly Entry[]): Generator<MessageEntry> {
  let inForceUpTo = Infinity;
  for (let index = entries.length - 1; index >= 0; index -= 1) {
    const entry = entries[index];
    if (entry?.kind === 'rewound') inForceUpTo = Math.min(inForceUpTo, entry.toSeq);
    if (entry?.kind === 'message' && entry.seq <= inForceUpTo) yield entry;
  }
}

/** The messages in force, in the order of the log. */
export function messagesInForce(entries: readonly Entry[]): MessageEntry[] {
  return [...messagesBackwards(entries)].reverse();
}

/** Where the conversation was last rewound; 0 if it never was. */
export function lastRewoundSeq(entries: readonly Entry[]): number {
  return entries.findLast((entry) => entry.kind === 'rewound')?.seq ?? 0;
}
