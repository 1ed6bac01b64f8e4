/**
 * Which file a call works on, as far as its path tells: two calls whose paths lead to the same place without a link have
 * the same answer. Too much in common does no harm, it only makes one call wait for the other.
 */
import { posix } from 'node:path';
import type { SideBySide } from '../tool.ts';

export function workedOn(path: string): SideBySide {
  // Where the workspace is, a call is told only when it runs; so an absolute path may be any relative one.
  if (posix.isAbsolute(path)) return 'alone';
  // On some file systems `A` and `a`, or two spellings of `ä`, are one file.
  return [posix.join('.', path, '.').normalize('NFC').toLowerCase()];
}
