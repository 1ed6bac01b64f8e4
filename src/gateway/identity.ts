/**
 * Who somebody is to the gateway: their role on this channel, the session they are in and whose it is. What they may do
 * follows from this alone, for messages and pressed buttons alike.
 */
import type { Sender, Place } from '../channels/channel.ts';
import type { SessionKey } from '../protocol/ids.ts';
import type { Role } from '../store/store.ts';
import type { Authorize } from './authorize.ts';
import { isSharedPlace, ownerOf, sessionKeyOf } from './route-session.ts';

export interface Identity {
  readonly channel: string;
  readonly userId: string;
  readonly name: string;
  readonly role: Role;
  /** The place's session. */
  readonly key: SessionKey;
  /** Whose sessions they have to do with here: their own, or those of the place they share. */
  readonly owner: string;
  /** Whether others read along: what is private is not shown. */
  readonly isAmongOthers: boolean;
}

export interface IdentifyDeps {
  readonly authorize: Authorize;
  /** Whether a group has one session for all, on this channel. */
  readonly groupsAreShared: (channel: string) => boolean;
}

export interface Arrival {
  readonly channel: string;
  readonly sender: Sender;
  readonly place: Place;
}

/** Null for somebody who is not known. */
export type Identify = (arrival: Arrival) => Promise<Identity | null>;

export function createIdentify({ authorize, groupsAreShared }: IdentifyDeps): Identify {
  return async (arrival) => {
    const { channel, sender, place } = arrival;
    const role = await authorize(channel, sender);
    if (role === null) return null;
    const shared = groupsAreShared(channel);
    return {
      channel,
      userId: sender.id,
      name: sender.name,
      role,
      key: sessionKeyOf(arrival, shared),
      owner: ownerOf(arrival, shared),
      isAmongOthers: place.kind !== 'direct' || isSharedPlace(place, shared),
    };
  };
}

/** Whether they may see this session, list it, go on with it. The owner sees all, but not where others read along. */
export function maySee({ owner, role, isAmongOthers }: Identity, session: { readonly owner: string }): boolean {
  return session.owner === owner || (role === 'owner' && !isAmongOthers);
}
