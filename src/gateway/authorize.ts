/**
 * May this sender be heard? Refused by default. The terminal and the web page are reached only by this machine's user
 * (the listener sees to that), so whoever speaks through them is the owner.
 */
import type { InboundMessage } from '../channels/channel.ts';

export const ownerChannels: readonly string[] = ['cli', 'web'];

/** Lets everybody in who comes through one of these channels, and nobody else. */
export function createAuthorize(trusted: readonly string[]): (message: Pick<InboundMessage, 'channel'>) => boolean {
  const channels = new Set(trusted);
  return ({ channel }) => channels.has(channel);
}
