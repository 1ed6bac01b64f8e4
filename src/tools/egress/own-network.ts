/**
 * Whether an address that looks like any other of the internet is this machine's own, or one beside it. With IPv6 every
 * machine of a home or an office has such an address; those of one network have the first half in common. Pure.
 */
import type { networkInterfaces } from 'node:os';
import { bytesOf } from './public-address.ts';

export type Interfaces = ReturnType<typeof networkInterfaces>;

const networkBytes = 8;

export function isOwnNetwork(address: string, interfaces: Interfaces): boolean {
  const bytes = bytesOf(address);
  const own = Object.values(interfaces).flatMap((found) => (found ?? []).map((one) => bytesOf(one.address)));
  return own.some((mine) => {
    if (mine.length !== bytes.length) return false;
    // Of IPv4 what stands beside a machine with a public address may be anybody's.
    const compared = mine.length === 4 ? 4 : networkBytes;
    return mine.slice(0, compared).every((byte, index) => byte === bytes[index]);
  });
}
