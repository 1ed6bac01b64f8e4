/** Which session a message belongs to: `CHANNEL:KIND:CHAT[:THREAD][:USER]`. Pure. */
import type { InboundMessage } from '../channels/channel.ts';
import type { SessionKey } from '../protocol/ids.ts';

/** A direct chat is one session; in a group each user has their own; a thread is shared. */
export function sessionKeyOf({
  channel,
  place,
  sender,
}: Pick<InboundMessage, 'channel' | 'place' | 'sender'>): SessionKey {
  const parts = [channel, place.kind, place.chat];
  if (place.thread !== undefined) parts.push(place.thread);
  if (place.kind === 'group') parts.push(sender.id);
  return parts.map((part) => part.replaceAll('%', '%25').replaceAll(':', '%3A')).join(':');
}
