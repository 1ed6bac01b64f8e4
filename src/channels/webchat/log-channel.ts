/**
 * The channel of front ends that read the session's log themselves: the web page, the terminal, the HTTP API. An answer is
 * delivered the moment it is stored, so there is nothing to send. What they say comes through the local API.
 */
import type { Channel } from '../channel.ts';

export function createLogChannel(name: string): Channel {
  return {
    name,
    limits: { textCharsMax: null, dedupes: true },
    start: () => Promise.resolve(),
    stop: () => Promise.resolve(),
    deliver: () => Promise.resolve({ kind: 'sent', platformId: null }),
  };
}
