/**
 * Keys that this version understands and checks but does not act on. Setting one to anything but its default is a
 * warning, never a mistake. Whoever builds the feature deletes its row.
 */
import { isDeepStrictEqual } from 'node:util';
import { valueAt, type KeyPath } from './key-tree.ts';
import type { Config } from './schema.ts';

interface NotYet {
  readonly key: string;
  /** The values that work all the same, besides the default. */
  readonly works?: readonly unknown[];
  /** Texts that begin with this work all the same. */
  readonly worksFrom?: string;
  /** What happens instead. */
  readonly instead: string;
}

const isOff = 'the channel stays off';

export const notYet: readonly NotYet[] = [
  { key: 'channels.discord', instead: isOff },
  { key: 'channels.slack', instead: isOff },
  { key: 'store.url', worksFrom: 'sqlite:', instead: 'Talaria does not start with it' },
];

export interface NotYetWarning {
  readonly path: KeyPath;
  readonly message: string;
}

export function notYetWarnings(config: Config, defaults: Config): NotYetWarning[] {
  return notYet.flatMap((row) => {
    const path = row.key.split('.');
    const value = valueAt(config, path);
    if (isDeepStrictEqual(value, valueAt(defaults, path)) || isFine(row, value)) return [];
    // Values are named only where they are one of a few words; others may hold a password.
    const shown = row.works !== undefined && typeof value === 'string' ? `${row.key}: ${value}` : row.key;
    return [{ path, message: `\`${shown}\` is not in this version yet: ${row.instead}` }];
  });
}

function isFine({ works = [], worksFrom }: NotYet, value: unknown): boolean {
  if (worksFrom !== undefined && typeof value === 'string' && value.startsWith(worksFrom)) return true;
  return works.some((other) => isDeepStrictEqual(value, other));
}
