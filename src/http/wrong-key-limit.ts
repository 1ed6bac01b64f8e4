/**
 * Counts wrong keys by address, so that nobody may guess at speed. After too many within the window the address has to
 * wait until it ends, with a right key too: otherwise guessing could go on. Kept in memory only; bounded in addresses,
 * the oldest go first.
 */
import type { Clock } from '../lib/clock.ts';

const triesMax = 10;
const windowMs = 60_000;
const addressesMax = 10_000;

export interface WrongKeyLimit {
  /** How long this address has to wait before it may show a key again; 0: not at all. */
  waitMs(address: string): number;
  note(address: string): void;
}

export function createWrongKeyLimit(clock: Pick<Clock, 'now'>): WrongKeyLimit {
  /** In the order in which their windows began. */
  const windows = new Map<string, { readonly startedAt: number; tries: number }>();
  const leftMs = (startedAt: number) => startedAt + windowMs - clock.now();
  return {
    waitMs(address) {
      const window = windows.get(groupOf(address));
      return window === undefined || window.tries < triesMax ? 0 : Math.max(0, leftMs(window.startedAt));
    },
    note(address) {
      const group = groupOf(address);
      const window = windows.get(group);
      if (window !== undefined && leftMs(window.startedAt) > 0) {
        window.tries += 1;
        return;
      }
      windows.delete(group);
      for (const [oldest, { startedAt }] of windows) {
        if (windows.size < addressesMax && leftMs(startedAt) > 0) break;
        windows.delete(oldest);
      }
      windows.set(group, { startedAt: clock.now(), tries: 1 });
    },
  };
}

/** Whoever has one address of IPv6 usually has 2^64 of them; and an IPv4 address may come in IPv6 dress. */
function groupOf(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '');
  if (!plain.includes(':')) return plain;
  const [front = '', back = ''] = plain.split('::');
  const head = front.split(':').filter((part) => part !== '');
  const tail = plain.includes('::') ? back.split(':').filter((part) => part !== '') : [];
  const zeros = Array.from({ length: Math.max(0, 8 - head.length - tail.length) }, () => '0');
  return [...head, ...zeros, ...tail].slice(0, 4).join(':');
}
