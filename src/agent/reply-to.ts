/** Where words of a turn go: to the place that the turn's newest message came from, or that it names. */
import type { TurnId } from '../protocol/ids.ts';
import type { SentFile } from '../protocol/messages.ts';
import { replyPlace } from '../protocol/reply-place.ts';
import type { Reply, ReplyButton } from '../store/store.ts';
import type { Journal } from './journal.ts';
import type { TurnDeps } from './turn-deps.ts';

export interface ReplyWords {
  readonly text: string;
  readonly buttons?: readonly ReplyButton[];
  readonly file?: SentFile;
}

/** Null if there is nothing to say, or nobody who wrote. */
export async function replyTo(
  { read, ids }: Pick<TurnDeps, 'read' | 'ids'>,
  { entries }: Pick<Journal, 'entries'>,
  turnId: TurnId,
  { text, buttons = [], file }: ReplyWords,
): Promise<Reply | null> {
  if (text === '' && file === undefined) return null;
  const asked = entries.findLast((entry) => entry.turnId === turnId && 'inboxId' in entry && entry.inboxId !== null);
  const inboxId = asked !== undefined && 'inboxId' in asked ? asked.inboxId : null;
  const record = inboxId === null ? null : await read.inbox(inboxId);
  if (record === null) return null;
  const { channel, target } = replyPlace(record);
  return { outboxId: ids.next('out'), channel, target, text, buttons, ...(file === undefined ? {} : { file }) };
}
