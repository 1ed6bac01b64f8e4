/** Models and keys in words. */
import type { StatusReport } from '../protocol/api.ts';
import { formatDuration } from './format-time.ts';

export function modelWords({ provider, name }: { readonly provider: string; readonly name: string }): string {
  return `${provider} ${name}`;
}

/** A line for every key that rests: which, why, and for how long still. */
export function restingKeyLines(keys: StatusReport['keys'], now: number): string[] {
  return keys.flatMap(({ provider, key, reason, rests_until }) => {
    if (rests_until === null || rests_until <= now) return [];
    const why = reason === null ? '' : ` after ${reason}`;
    return [`${provider} ${key} rests${why}, for ${formatDuration((rests_until - now) / 1_000)} more`];
  });
}
