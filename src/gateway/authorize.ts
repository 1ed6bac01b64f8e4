/**
 * May this sender be heard? Refused by default. The terminal and the web page are reached only by this machine's user
 * (the listener sees to that), so whoever speaks through them is the owner.
 */
import type { InboundMessage } from '../channels/channel.ts';

const ownerChannels: ReadonlySet<string> = new Set(['cli', 'web']);

export function mayWrite(message: Pick<InboundMessage, 'channel'>): boolean {
  return ownerChannels.has(message.channel);
}
