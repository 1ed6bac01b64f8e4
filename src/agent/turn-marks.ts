/** What the turn under way is known by: whether it read what a stranger wrote, whether anybody is there. Pure. */
import type { TurnId } from '../protocol/ids.ts';
import type { Entry, UntrustedSource } from '../protocol/messages.ts';

export interface TurnMarks {
  /** The newest such source; null if there is none. */
  readonly untrusted: UntrustedSource | null;
  /** All that was written in the turn came from programs. */
  readonly isUnattended: boolean;
}

export function turnMarks(entries: readonly Entry[], turnId: TurnId): TurnMarks {
  let untrusted: UntrustedSource | null = null;
  let isUnattended = false;
  let isAttended = false;
  for (const entry of entries) {
    if (entry.turnId !== turnId || entry.kind !== 'message') continue;
    const { message } = entry;
    if (message.role === 'tool') untrusted = message.parts[0].untrusted ?? untrusted;
    if (message.role !== 'user') continue;
    untrusted = message.untrusted ?? untrusted;
    if (message.isUnattended === true) isUnattended = true;
    else if ('inboxId' in entry && entry.inboxId !== null) isAttended = true;
  }
  return { untrusted, isUnattended: isUnattended && !isAttended };
}

/** Whether the words stand in a message of people or a result of tools, in this turn or before. */
export function wasShown(entries: readonly Entry[], text: string): boolean {
  return entries.some((entry) => {
    if (entry.kind !== 'message' || entry.message.role === 'assistant') return false;
    return entry.message.parts.some((part) => 'text' in part && part.text.includes(text));
  });
}
