/**
 * Ids: `prefix_` and 26 characters that sort by creation time (48 bits of time, 80 bits of randomness, Crockford's
 * base 32, lower case). Within a millisecond one source counts upwards, so the order of creation is the order of ids.
 */
import { assert } from './assert.ts';
import type { Clock } from './clock.ts';
import type { RandomSource } from './random.ts';

/** A string known to be an id of this kind; plain strings are not assignable to it. */
export type Id<Prefix extends string> = `${Prefix}_${string}` & { readonly __id: Prefix };

export interface IdSource {
  next<Prefix extends string>(prefix: Prefix): Id<Prefix>;
}

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
const bodyPattern = /^[0-9a-hjkmnp-tv-z]{26}$/;

export function createIdSource(deps: { clock: Clock; random: RandomSource }): IdSource {
  let lastMs = -1;
  let tail = 0n;
  return {
    next<Prefix extends string>(prefix: Prefix) {
      assert(/^[a-z]{2,8}$/.test(prefix), `bad id prefix ${prefix}`);
      const nowMs = deps.clock.now();
      if (nowMs > lastMs) {
        lastMs = nowMs;
        // The top bit stays clear, so that counting upwards within a millisecond can't overflow.
        tail = deps.random.bytes(10).reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n) & ((1n << 79n) - 1n);
      } else {
        tail += 1n;
      }
      return `${prefix}_${encode((BigInt(lastMs) << 80n) | tail)}` as Id<Prefix>;
    },
  };
}

function encode(value: bigint): string {
  let text = '';
  for (let index = 0; index < 26; index++) {
    text = (alphabet[Number(value & 31n)] ?? '') + text;
    value >>= 5n;
  }
  return text;
}

export function isId<Prefix extends string>(prefix: Prefix, text: string): text is Id<Prefix> {
  return text.startsWith(`${prefix}_`) && bodyPattern.test(text.slice(prefix.length + 1));
}

/** Ids a test can predict: `ses_0000…1`, `ses_0000…2`; they still sort by creation. */
export function countingIdSource(): IdSource {
  let count = 0;
  return {
    next<Prefix extends string>(prefix: Prefix) {
      count += 1;
      return `${prefix}_${encode(BigInt(count))}` as Id<Prefix>;
    },
  };
}
