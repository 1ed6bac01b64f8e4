/**
 * A limit for how much goes on at once, with a bounded wait in order of arrival. Whoever gets a slot gives it back once;
 * giving it back again is harmless.
 */
import type { Clock } from '../../lib/clock.ts';

export interface SlotLimits {
  readonly slotsMax: number;
  readonly waitMs: number;
}

export type SlotResult = { readonly kind: 'slot'; readonly release: () => void } | { readonly kind: 'timed-out' };

export interface Slots {
  /** Rejects with the signal's reason when it aborts. */
  take(signal: AbortSignal): Promise<SlotResult>;
}

export function createSlots(clock: Clock, { slotsMax, waitMs }: SlotLimits): Slots {
  let taken = 0;
  const waiting = new Set<() => void>();

  const slot = (): SlotResult => {
    let isHeld = true;
    return {
      kind: 'slot',
      release() {
        if (!isHeld) return;
        isHeld = false;
        const [next] = waiting;
        // The slot is handed over: it is never free in between, so nobody overtakes.
        if (next === undefined) taken--;
        else next();
      },
    };
  };

  return {
    take(signal) {
      if (signal.aborted) return Promise.reject(signal.reason as Error);
      if (taken < slotsMax) {
        taken++;
        return Promise.resolve(slot());
      }
      return new Promise((resolve, reject) => {
        const leave = () => {
          waiting.delete(proceed);
          cancelTimer();
          signal.removeEventListener('abort', onAbort);
        };
        const proceed = () => {
          leave();
          resolve(slot());
        };
        const onAbort = () => {
          leave();
          reject(signal.reason as Error);
        };
        const cancelTimer = clock.setTimer(waitMs, () => {
          leave();
          resolve({ kind: 'timed-out' });
        });
        waiting.add(proceed);
        signal.addEventListener('abort', onAbort, { once: true });
      });
    },
  };
}
