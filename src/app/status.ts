/** What runs now, for `status`, `/api/status` and `/metrics`. */
import type { Clock } from '../lib/clock.ts';
import { localDay } from '../lib/local-day.ts';
import { version } from '../lib/version.ts';
import type { Runtime } from '../models/model.ts';
import type { StatusReport } from '../protocol/api.ts';
import type { KeyRest, Store } from '../store/store.ts';
import { noSettings, type Agents } from './agents.ts';
import type { HeldThing } from '../tools/holding.ts';
import type { ConfigSource } from './open-config.ts';
import type { SandboxState, Toolbox } from './toolbox.ts';

export interface StatusDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly config: ConfigSource;
  readonly agents: Agents;
  readonly turns: () => { running: number; queued: number };
  readonly toolbox: Pick<Toolbox, 'sandbox' | 'mcp'>;
  /** What sessions' tools hold now. */
  readonly held: () => Promise<readonly HeldThing[]>;
}

export function createStatus(deps: StatusDeps): () => Promise<StatusReport> {
  const startedAt = deps.clock.now();
  return async () => {
    const { read } = deps.store;
    const now = deps.clock.now();
    const today = localDay(now);
    const [totals, sums, rests, { chain }, held] = await Promise.all([
      read.totals(),
      read.usageSums(today),
      read.keyRests(now),
      deps.agents.runtimes(noSettings),
      deps.held(),
    ]);
    const config = deps.config.current();
    const { usage } = totals;
    return {
      version,
      pid: process.pid,
      uptime_s: Math.round((now - startedAt) / 100) / 10,
      sessions: totals.sessions,
      agent_cache: { cap: config.gateway.agent_cache.max_size, ...deps.agents.counts() },
      turns: {
        running: deps.turns().running,
        queued: totals.inboxWaiting,
        done: totals.turnsDone,
        failed: totals.turnsFailed,
        parked: totals.turnsParked,
      },
      outbox: { pending: totals.outboxPending },
      sandbox: sandboxWord(deps.toolbox.sandbox()),
      held: held.map(({ sessionId, kind, what, startedAt, usedAt, isBusy }) => ({
        session: sessionId,
        kind,
        what,
        started_at: startedAt,
        used_at: usedAt,
        busy: isBusy,
      })),
      mcp_servers: deps.toolbox.mcp.states(),
      store: deps.store.description,
      usage: {
        input_tokens: usage.inputTokens,
        cached_tokens: usage.cachedTokens,
        output_tokens: usage.outputTokens,
        reasoning_tokens: usage.reasoningTokens,
        usd: usage.usd,
        unpriced_calls: totals.unpricedCalls,
        today_usd: sums.filter(({ day }) => day === today).reduce((sum, { usd }) => sum + usd, 0),
      },
      model: nameOf(chain[0]),
      fallback: chain.slice(1).map(nameOf),
      keys: keysOf(chain, rests),
      prefix_breaks: totals.prefixBreaks,
      config: { path: deps.config.path, loaded_at: deps.config.loadedAt(), problems: deps.config.problems() },
    };
  };
}

/** The level, and what it does not keep apart. */
function sandboxWord(state: SandboxState): string {
  if (state.kind !== 'chosen') return state.kind === 'refused' ? 'refused' : 'not yet proved';
  const { level, gaps } = state.sandbox;
  return gaps.length === 0 ? level : `${level} (not kept apart: ${gaps.join(', ')})`;
}

const nameOf = ({ provider, model }: Runtime) => ({ provider, name: model });

/** Each key once, although several models of the chain may share it. */
function keysOf(chain: readonly Runtime[], rests: readonly KeyRest[]): StatusReport['keys'] {
  const keys = chain.flatMap(({ provider, keys: own }) => own.map(({ id }) => ({ provider, key: id })));
  const inUse = keys.filter(
    ({ provider, key }, index) =>
      key !== '' && keys.findIndex((other) => other.provider === provider && other.key === key) === index,
  );
  return inUse.map(({ provider, key }) => {
    const rest = rests.find((candidate) => candidate.provider === provider && candidate.keyId === key);
    return { provider, key, reason: rest?.reason ?? null, rests_until: rest?.until ?? null };
  });
}
