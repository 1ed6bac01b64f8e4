/**
 * Time as a dependency. Nothing else in the program asks the system what time it is or waits by itself, so that
 * tests and the simulation can own time.
 */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Calls back once after `delayMs`; the returned function cancels it and may be called any number of times. */
  setTimer(delayMs: number, callback: () => void): () => void;
}

/** The longest delay a timer of the platform can hold, about 25 days; a longer one would fire at once. */
const timerDelayMaxMs = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  setTimer(delayMs, callback) {
    let timer: ReturnType<typeof setTimeout>;
    const wait = (leftMs: number) => {
      const stepMs = Math.min(leftMs, timerDelayMaxMs);
      timer = setTimeout(() => (leftMs > stepMs ? wait(leftMs - stepMs) : callback()), stepMs);
    };
    wait(delayMs);
    return () => clearTimeout(timer);
  },
};

/** Waits; ends early by rejecting with the signal's reason when it aborts. */
export function sleep(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason as Error);
      return;
    }
    const onAbort = () => {
      cancel();
      reject(signal?.reason as Error);
    };
    const cancel = clock.setTimer(delayMs, () => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    });
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}
