/**
 * How fast somebody may ask: a bucket each, which holds a burst and fills up again at a steady pace. Kept in memory only;
 * bounded in names, and whoever has not asked for the longest time is forgotten first.
 */
import type { Clock } from '../lib/clock.ts';

const namesMax = 10_000;

export interface RateLimitOptions {
  readonly burstMax: number;
  readonly perSecond: number;
}

export interface RateLimit {
  /** Counts one more; how long they have to wait instead, if it is one too many. 0: not at all. */
  take(name: string): number;
}

export function createRateLimit(clock: Pick<Clock, 'now'>, { burstMax, perSecond }: RateLimitOptions): RateLimit {
  const costMs = 1_000 / perSecond;
  /** When each bucket will be full again, in the order in which they asked last. */
  const fullAt = new Map<string, number>();
  return {
    take(name) {
      const now = clock.now();
      // However far the clock was set back, a bucket is never more than empty.
      const full = Math.min(now + burstMax * costMs, Math.max(now, fullAt.get(name) ?? now));
      const waitMs = Math.max(0, full - now - (burstMax - 1) * costMs);
      fullAt.delete(name);
      const [oldest] = fullAt.keys();
      if (fullAt.size >= namesMax && oldest !== undefined) fullAt.delete(oldest);
      fullAt.set(name, waitMs > 0 ? full : full + costMs);
      return waitMs;
    },
  };
}
