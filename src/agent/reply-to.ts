/** Where words of a turn go: to the place that the turn's newest message came from. */
import type { TurnId } from '../protocol/ids.ts';
import type { Reply, ReplyButton } from '../store/store.ts';
import type { Journal } from './journal.ts';
import type { TurnDeps } from './turn-deps.ts';

/** Null if there is nothing to say, or nobody who wrote. */
export async function replyTo(
  { read, ids }: Pick<TurnDeps, 'read' | 'ids'>,
  { entries }: Pick<Journal, 'entries'>,
  turnId: TurnId,
  { text, buttons = [] }: { readonly text: string; readonly buttons?: readonly ReplyButton[] },
): Promise<Reply | null> {
  if (text === '') return null;
  const asked = entries.findLast((entry) => entry.turnId === turnId && 'inboxId' in entry && entry.inboxId !== null);
  const inboxId = asked !== undefined && 'inboxId' in asked ? asked.inboxId : null;
  const record = inboxId === null ? null : await read.inbox(inboxId);
  if (record === null) return null;
  return { outboxId: ids.next('out'), channel: record.channel, target: record.target, text, buttons };
}
