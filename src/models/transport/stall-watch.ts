/**
 * Notices when nothing has come for too long while somebody waits for it. Time in which nobody waits (the reader is busy)
 * does not count. One timer at most, however often it is fed.
 */
import type { Clock } from '../../lib/clock.ts';

export interface StallWatch {
  /** From now on somebody waits; what was waited for before has come. */
  waiting(): void;
  /** Nobody waits. */
  resting(): void;
  /** For good. Idempotent. */
  end(): void;
}

export function createStallWatch(clock: Clock, stallMs: number, onStall: () => void): StallWatch {
  let waitingSince: number | null = null;
  let cancelTimer: (() => void) | null = null;
  let isOver = false;

  const arm = (delayMs: number) => {
    cancelTimer = clock.setTimer(delayMs, () => {
      cancelTimer = null;
      if (waitingSince === null) return;
      const leftMs = waitingSince + stallMs - clock.now();
      if (leftMs > 0) arm(leftMs);
      else {
        isOver = true;
        onStall();
      }
    });
  };

  return {
    waiting() {
      if (isOver) return;
      waitingSince = clock.now();
      if (cancelTimer === null) arm(stallMs);
    },
    resting() {
      waitingSince = null;
    },
    end() {
      isOver = true;
      waitingSince = null;
      cancelTimer?.();
      cancelTimer = null;
    },
  };
}
