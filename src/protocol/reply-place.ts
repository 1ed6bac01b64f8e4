/**
 * Where an answer goes. Usually to where the message came from. What webhooks and the program's own notes bring has no way
 * back of its own: its target names another channel and a place there, `CHANNEL:TARGET`. Pure.
 */
export interface ReplyPlace {
  readonly channel: string;
  readonly target: string;
}

/** Other programs, by their calls of `/hooks/NAME`. */
export const webhookChannel = 'webhook';
/** What Talaria itself tells a session. */
export const noteChannel = 'note';

const oneWay: ReadonlySet<string> = new Set([webhookChannel, noteChannel]);

/** `came` is where a message came from, as it was stored. */
export function replyPlace(came: ReplyPlace): ReplyPlace {
  const { channel, target } = came;
  const cut = target.indexOf(':');
  if (!oneWay.has(channel) || cut === -1) return { channel, target };
  return { channel: target.slice(0, cut), target: target.slice(cut + 1) };
}

/** The target of a message that has no way back, so that its answer goes there. */
export function targetTo({ channel, target }: ReplyPlace): string {
  return `${channel}:${target}`;
}
