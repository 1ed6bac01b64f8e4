/** What runs now, for `status`, `/api/status` and `/metrics`. */
import type { Clock } from '../lib/clock.ts';
import { version } from '../lib/version.ts';
import type { StatusReport } from '../protocol/api.ts';
import type { Store } from '../store/store.ts';
import type { ConfigSource } from './open-config.ts';
import { modelNameOf } from './build-model.ts';

export interface StatusDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly config: ConfigSource;
  readonly turns: () => { running: number; queued: number };
}

export function createStatus(deps: StatusDeps): () => Promise<StatusReport> {
  const startedAt = deps.clock.now();
  return async () => {
    const totals = await deps.store.read.totals();
    const config = deps.config.current();
    const { running } = deps.turns();
    return {
      version,
      pid: process.pid,
      uptime_s: Math.round((deps.clock.now() - startedAt) / 100) / 10,
      sessions: totals.sessions,
      // Agents are built for each run in this version: nothing is kept, so nothing is hit or evicted.
      agent_cache: {
        size: 0,
        cap: config.gateway.agent_cache.max_size,
        active: running,
        hits: 0,
        misses: 0,
        evictions: 0,
      },
      turns: {
        running,
        queued: totals.inboxWaiting,
        done: totals.turnsDone,
        failed: totals.turnsFailed,
        parked: totals.turnsParked,
      },
      outbox: { pending: totals.outboxPending },
      sandbox: 'none',
      store: deps.store.description,
      usage: {
        input_tokens: totals.usage.inputTokens,
        cached_tokens: totals.usage.cachedTokens,
        output_tokens: totals.usage.outputTokens,
        usd: totals.usage.usd,
      },
      model: modelNameOf(config),
      config: { path: deps.config.path, loaded_at: deps.config.loadedAt(), problems: deps.config.problems() },
    };
  };
}
