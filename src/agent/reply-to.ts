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
  deps: Pick<TurnDeps, 'read' | 'ids'>,
  journal: Pick<Journal, 'entries'>,
  turnId: TurnId,
  { text, buttons = [], file }: ReplyWords,
): Promise<Reply | null> {
  if (text === '' && file === undefined) return null;
  const place = await placeOfTurn(deps, journal, turnId);
  if (place === null) return null;
  return { outboxId: deps.ids.next('out'), ...place, text, buttons, ...(file === undefined ? {} : { file }) };
}

/** Null if nobody wrote. */
export async function placeOfTurn(
  { read }: Pick<TurnDeps, 'read'>,
  { entries }: Pick<Journal, 'entries'>,
  turnId: TurnId,
): Promise<Pick<Reply, 'channel' | 'target'> | null> {
  const asked = entries.findLast((entry) => entry.turnId === turnId && 'inboxId' in entry && entry.inboxId !== null);
  const inboxId = asked !== undefined && 'inboxId' in asked ? asked.inboxId : null;
  const record = inboxId === null ? null : await read.inbox(inboxId);
  if (record === null) return null;
  const { channel, target } = replyPlace(record);
  return { channel, target };
}
