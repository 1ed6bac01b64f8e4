import type { Clock } from './clock.ts';

/** A clock that stands still until it is told to move. Timers fire in order of their time, then of their creation. */
export class FakeClock implements Clock {
  #now: number;
  #timers: { at: number; order: number; callback: () => void }[] = [];
  #order = 0;

  constructor(startMs = Date.UTC(2026, 0, 1)) {
    this.#now = startMs;
  }

  now(): number {
    return this.#now;
  }

  setTimer(delayMs: number, callback: () => void): () => void {
    const timer = { at: this.#now + Math.max(0, delayMs), order: this.#order++, callback };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  get pendingTimers(): number {
    return this.#timers.length;
  }

  /** Moves time on, firing what falls due on the way and letting promises settle after each timer. */
  async advance(byMs: number): Promise<void> {
    const until = this.#now + byMs;
    for (;;) {
      await settle();
      const next = this.#timers.filter((t) => t.at <= until).sort((a, b) => a.at - b.at || a.order - b.order)[0];
      if (next === undefined) break;
      this.#timers = this.#timers.filter((other) => other !== next);
      this.#now = next.at;
      next.callback();
    }
    this.#now = until;
    await settle();
  }
}

/** One trip through the event loop: every promise that could settle has. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
