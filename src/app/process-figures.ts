/**
 * What the process can say of itself: memory, timers, and how long its loop keeps others waiting. The loop is watched from
 * the first question on, so that a gateway that nobody asks does not wake up for it; each answer covers the time since the
 * one before.
 */
import type { ProcessFigures } from '../gateway/metrics.ts';

/** The watch itself is a timer of this length, and it measures from one to the next. */
const resolutionMs = 20;

export function createProcessFigures(): () => ProcessFigures {
  const watch = process.getBuiltinModule('node:perf_hooks').monitorEventLoopDelay({ resolution: resolutionMs });
  return () => {
    const delayMs = (nanoseconds: number) => (watch.count === 0 ? 0 : Math.max(0, nanoseconds / 1e6 - resolutionMs));
    const loopDelayMs = {
      p50: delayMs(watch.percentile(50)),
      p99: delayMs(watch.percentile(99)),
      max: delayMs(watch.max),
    };
    watch.enable();
    watch.reset();
    const { rss: rssBytes, heapUsed: heapUsedBytes, external: externalBytes } = process.memoryUsage();
    const timers = process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    return { rssBytes, heapUsedBytes, externalBytes, timers, loopDelayMs };
  };
}
