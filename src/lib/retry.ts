/**
 * Tries again with growing, jittered waits. Decides nothing about which errors deserve it: the caller says.
 * Aborting ends the wait at once and rejects with the signal's reason.
 */
import { sleep, type Clock } from './clock.ts';
import type { RandomSource } from './random.ts';

export interface RetryPolicy {
  /** How often in all, the first try included. */
  readonly attemptsMax: number;
  readonly firstDelayMs: number;
  readonly delayMaxMs: number;
}

export interface RetryDeps {
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly signal: AbortSignal;
}

export async function retry<T>(
  deps: RetryDeps,
  policy: RetryPolicy,
  isWorthRetrying: (error: unknown) => boolean,
  attempt: (attemptNumber: number) => Promise<T>,
): Promise<T> {
  for (let attemptNumber = 1; ; attemptNumber++) {
    deps.signal.throwIfAborted();
    try {
      return await attempt(attemptNumber);
    } catch (error) {
      if (attemptNumber >= policy.attemptsMax || !isWorthRetrying(error)) throw error;
    }
    await sleep(deps.clock, retryDelayMs(policy, attemptNumber, deps.random), deps.signal);
  }
}

/** Doubling from the first delay up to the cap; the upper half of it is random, so that many waiters spread out. */
export function retryDelayMs(policy: RetryPolicy, failedAttempts: number, random: RandomSource): number {
  const full = Math.min(policy.delayMaxMs, policy.firstDelayMs * 2 ** (failedAttempts - 1));
  return Math.round(full / 2 + (full / 2) * random.float());
}
