/**
 * Whether an IP address is one of the internet's: not this machine, not its network, not a range with a special meaning.
 * What is not known to be public is not. Addresses that carry another one inside are judged by that one. Pure.
 */
import { isIPv4, isIPv6 } from 'node:net';

/** First bytes and how many bits of them count. */
type Range = readonly [bytes: readonly number[], bits: number];

const specialV4: readonly Range[] = [
  [[0], 8], // this network
  [[10], 8],
  [[100, 64], 10], // shared by providers; cloud metadata in places
  [[127], 8],
  [[169, 254], 16], // link-local; cloud metadata
  [[172, 16], 12],
  [[192, 0, 0], 24],
  [[192, 0, 2], 24], // documentation
  [[192, 31, 196], 24],
  [[192, 52, 193], 24],
  [[192, 88, 99], 24], // 6to4 relays
  [[192, 168], 16],
  [[192, 175, 48], 24],
  [[198, 18], 15], // benchmarks
  [[198, 51, 100], 24], // documentation
  [[203, 0, 113], 24], // documentation
  [[168, 63, 129, 16], 32], // a cloud's host, on an address that looks public
  [[224], 4], // multicast
  [[240], 4], // reserved, broadcast
];

/** Only this part of IPv6 is given out to the internet, but for the ranges below. */
const globalV6: Range = [[0x20], 3];
const specialV6: readonly Range[] = [
  [[0x20, 0x01, 0x00], 23], // protocols, Teredo among them
  [[0x20, 0x01, 0x0d, 0xb8], 32], // documentation
  [[0x20, 0x02], 16], // 6to4: leads to an IPv4 address through a relay
  [[0x3f, 0xff, 0x00], 20], // documentation
];
/** Ranges whose last four bytes are an IPv4 address. */
const carriers: readonly Range[] = [
  [[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff], 96],
  [[0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0], 96],
];

export function isPublicAddress(address: string): boolean {
  // A zone names a network of this machine.
  if (address.includes('%')) return false;
  const bytes = bytesOf(address);
  if (bytes.length === 4) return isPublicV4(bytes);
  return isWithin(bytes, globalV6) && !specialV6.some((range) => isWithin(bytes, range));
}

/** Four of IPv4, also where it is carried in an address of IPv6; sixteen of all others; none if it is no address. */
export function bytesOf(address: string): readonly number[] {
  if (isIPv4(address)) return address.split('.').map(Number);
  if (!isIPv6(address)) return [];
  const bytes = bytesOfV6(address.replace(/%.*/, ''));
  return carriers.some((range) => isWithin(bytes, range)) ? bytes.slice(12) : bytes;
}

function isPublicV4(bytes: readonly number[]): boolean {
  return !specialV4.some((range) => isWithin(bytes, range));
}

function isWithin(bytes: readonly number[], [start, bits]: Range): boolean {
  for (let index = 0; index * 8 < bits; index++) {
    const mask = 0xff & (0xff00 >> Math.min(8, bits - index * 8));
    if (((bytes[index] ?? 0) & mask) !== ((start[index] ?? 0) & mask)) return false;
  }
  return true;
}

/** Of a valid address without a zone. */
function bytesOfV6(address: string): number[] {
  const [head = '', tail] = address.split('::');
  const before = groupBytes(head);
  const after = tail === undefined ? [] : groupBytes(tail);
  return [...before, ...Array.from({ length: 16 - before.length - after.length }, () => 0), ...after];
}

function groupBytes(text: string): number[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => {
    if (group.includes('.')) return group.split('.').map(Number);
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 0xff];
  });
}
