/** Bounds what a page may take: one that is busy with itself never answers. */
import { BrowserError } from './browser-error.ts';

export const answerMs = 10_000;

/** Rejects with a `BrowserError` after the time, with the signal's reason if it aborts; what was begun goes on by itself. */
export async function inTime<T>(work: Promise<T>, ms: number = answerMs, signal?: AbortSignal): Promise<T> {
  signal?.throwIfAborted();
  const { promise: over, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(new BrowserError('action-failed', 'The page does not answer. Close its tab, or navigate elsewhere.')),
    ms,
  );
  const onAbort = (): void => reject(signal?.reason as Error);
  signal?.addEventListener('abort', onAbort, { once: true });
  // Whoever loses has nobody left to hear of a failure.
  work.catch(() => undefined);
  try {
    return await Promise.race([work, over]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
}
