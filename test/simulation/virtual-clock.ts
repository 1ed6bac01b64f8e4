/**
 * Time that only the simulation moves. Timers fire one at a time, in order of their time, then of their creation; between
 * two of them every promise that can settle has settled, which makes a run the same whenever it is repeated.
 */
import type { Clock } from '../../src/lib/clock.ts';

interface Timer {
  readonly at: number;
  callback: (() => void) | null;
}

export class VirtualClock implements Clock {
  readonly startedAt = Date.UTC(2026, 0, 1);
  #now = this.startedAt;
  /** Latest first, so that the next one is taken from the end. */
  readonly #timers: Timer[] = [];

  now(): number {
    return this.#now;
  }

  get elapsedMs(): number {
    return this.#now - this.startedAt;
  }

  setTimer(delayMs: number, callback: () => void): () => void {
    const timer: Timer = { at: this.#now + Math.max(0, Math.round(delayMs)), callback };
    let low = 0;
    let high = this.#timers.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#timers[middle]?.at ?? 0) > timer.at) low = middle + 1;
      else high = middle;
    }
    this.#timers.splice(low, 0, timer);
    return () => void (timer.callback = null);
  }

  /** Fires the next timer; false if there is none. */
  step(): boolean {
    for (;;) {
      const timer = this.#timers.pop();
      if (timer === undefined) return false;
      if (timer.callback === null) continue;
      this.#now = timer.at;
      timer.callback();
      return true;
    }
  }
}

/** Every promise that could settle has settled when this resolves. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

export function never<T>(): Promise<T> {
  return new Promise(() => {});
}
