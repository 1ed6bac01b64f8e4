/**
 * May this sender be heard, and in which role? Refused by default. Those named in the configuration come first, then
 * those whom somebody has approved. The terminal and the web page are reached only by this machine's user (the listener
 * sees to that), so whoever speaks through them is the owner.
 */
import type { Sender } from '../channels/channel.ts';
import type { Person, Role } from '../store/store.ts';

export { ownerChannels } from './route-session.ts';

export interface AuthorizeDeps {
  /** Channels whose door is guarded elsewhere: whoever comes through them is the owner. */
  readonly trusted: readonly string[];
  /** As the configuration has it now; null for a channel it does not know. */
  readonly policy: (channel: string) => ChannelPolicy | null;
  readonly people: () => Promise<readonly Person[]>;
}

export interface ChannelPolicy {
  /** Ids or names; `*` is everyone. */
  readonly allowedUsers: readonly string[];
  /** Those with all rights, ids or names. */
  readonly owners: readonly string[];
}

/** The role of a sender; null if they may not be heard. */
export type Authorize = (channel: string, sender: Sender) => Promise<Role | null>;

export function createAuthorize({ trusted, policy, people }: AuthorizeDeps): Authorize {
  const open = new Set(trusted);
  return async (channel, sender) => {
    if (open.has(channel)) return 'owner';
    const rules = policy(channel);
    if (rules === null) return null;
    if (isListed(rules.owners, sender)) return 'owner';
    const known = await people();
    const person = known.find((one) => one.channel === channel && one.userId === sender.id);
    // With a list of owners, nobody else is one; without it the first approved person is.
    const own = rules.owners.length === 0 ? (person?.role ?? null) : null;
    if (own === 'owner') return own;
    if (isListed(rules.allowedUsers, sender)) return isOnlyOne(rules, known, channel) ? 'owner' : 'user';
    return person !== undefined || rules.allowedUsers.includes('*') ? 'user' : null;
  };
}

/** Who lets in one person alone, by id, means themselves. */
function isOnlyOne({ allowedUsers, owners }: ChannelPolicy, known: readonly Person[], channel: string): boolean {
  const hasOwner = owners.length > 0 || known.some((one) => one.channel === channel && one.role === 'owner');
  return !hasOwner && allowedUsers.length === 1 && isIdLike(allowedUsers[0] ?? '');
}

/**
 * Ids are better: on most platforms anybody can call themselves anything, so a name in the list lets in whoever takes it.
 * What looks like an id is therefore never taken for a name.
 */
function isListed(list: readonly string[], { id, name, handle = name }: Sender): boolean {
  if (list.includes(id)) return true;
  // Where the platform gives out names, what somebody calls themselves besides counts for nothing.
  const called = plain(handle);
  return called !== '' && list.some((entry) => !isIdLike(entry) && entry !== '*' && plain(entry) === called);
}

function plain(name: string): string {
  return name.trim().replace(/^@/, '').toLowerCase();
}

/** A number (Telegram, Discord), or capitals and digits (Slack). */
function isIdLike(text: string): boolean {
  return /^-?\d+$|^[A-Z][A-Z0-9]{6,}$/.test(text);
}
