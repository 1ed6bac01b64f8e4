/**
 * Which session a message belongs to, and whose that session is. Two different places or people never come to the same
 * key or owner, whatever characters a platform puts into its ids. Pure.
 */
import type { Place, Sender } from '../channels/channel.ts';
import type { SessionKey } from '../protocol/ids.ts';
import { webhookChannel } from '../protocol/reply-place.ts';

export interface Whereabouts {
  readonly channel: string;
  readonly place: Place;
  readonly sender: Pick<Sender, 'id'>;
}

/** Whoever speaks through these has the machine itself: the terminal and the web page. */
export const ownerChannels: readonly string[] = ['cli', 'web'];
/** Whose sessions those of the owner channels are. */
export const machineOwner = 'owner';

/**
 * `CHANNEL:KIND:CHAT[:THREAD][:USER]`: a direct chat is one session; in a group each user has their own, unless groups are
 * shared on this channel; a thread is shared by all who write in it.
 */
export function sessionKeyOf({ channel, place, sender }: Whereabouts, groupsAreShared = false): SessionKey {
  const { kind, chat, thread } = place;
  // A group's thread is a thread, however the channel calls it: otherwise its name could be taken for a user's.
  if (kind === 'group' && thread === undefined) {
    return spelt(channel, 'group', chat, ...(groupsAreShared ? [] : [sender.id]));
  }
  return spelt(channel, kind === 'direct' ? 'direct' : 'thread', chat, ...(thread === undefined ? [] : [thread]));
}

/** Nobody but its owner sees a session: not in a list, not in a search, not by its name. */
export function ownerOf(whereabouts: Whereabouts, groupsAreShared = false): string {
  const { channel, place, sender } = whereabouts;
  // A webhook is there because the owner put it into the configuration.
  if (ownerChannels.includes(channel) || channel === webhookChannel) return machineOwner;
  return isSharedPlace(place, groupsAreShared) ? spelt(channel, 'group', place.chat) : spelt(channel, sender.id);
}

/** Who owns what has this owner; null for a place that several share, and for the machine's own. */
export function personOf(owner: string): { readonly channel: string; readonly id: string } | null {
  const [channel, id, ...more] = owner.split(':').map(unescaped);
  return channel === undefined || id === undefined || more.length > 0 ? null : { channel, id };
}

export function isSharedPlace({ kind, thread }: Place, groupsAreShared: boolean): boolean {
  return kind === 'thread' || (kind === 'group' && (groupsAreShared || thread !== undefined));
}

function spelt(...parts: readonly string[]): string {
  return parts.map(escaped).join(':');
}

/** Besides the sign between the parts, what a database could take for something else: control and half characters. */
function escaped(part: string): string {
  return part.replaceAll(/[%:\p{Cc}\p{Cs}]/gu, (char) => {
    const code = char.charCodeAt(0).toString(16).toUpperCase();
    return code.length > 2 ? `%u${code}` : `%${code.padStart(2, '0')}`;
  });
}

function unescaped(part: string): string {
  return part.replaceAll(/%(?:u([0-9A-F]{3,4})|([0-9A-F]{2}))/g, (_all, long?: string, short?: string) =>
    String.fromCharCode(Number.parseInt(long ?? short ?? '', 16)),
  );
}
