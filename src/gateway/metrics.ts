/** The status as Prometheus text. Pure. */
import type { StatusReport } from '../protocol/api.ts';

interface Metric {
  readonly name: string;
  readonly type: 'counter' | 'gauge';
  readonly help: string;
  readonly value: number;
}

export interface ProcessFigures {
  readonly rssBytes: number;
  readonly heapUsedBytes: number;
  readonly externalBytes: number;
  /** Timers that keep the process alive. */
  readonly timers: number;
  /** Since the last time they were asked for. */
  readonly loopDelayMs: { readonly p50: number; readonly p99: number; readonly max: number };
}

export function metricsText(status: StatusReport, process: ProcessFigures): string {
  const { agent_cache: cache, turns, usage } = status;
  const { p50, p99, max } = process.loopDelayMs;
  const metrics: Metric[] = [
    gauge('uptime_seconds', 'Seconds since the start.', status.uptime_s),
    gauge('resident_memory_bytes', 'Resident memory.', process.rssBytes),
    gauge('heap_used_bytes', 'Memory of objects.', process.heapUsedBytes),
    gauge('external_memory_bytes', 'Memory of buffers.', process.externalBytes),
    gauge('timers', 'Timers that are set.', process.timers),
    gauge('event_loop_delay_p50_seconds', 'How late the loop was since the last reading, median.', p50 / 1_000),
    gauge('event_loop_delay_p99_seconds', 'The same, 99th percentile.', p99 / 1_000),
    gauge('event_loop_delay_max_seconds', 'The same, the worst.', max / 1_000),
    gauge('sessions', 'Stored sessions.', status.sessions),
    gauge('turns_running', 'Turns in progress.', turns.running),
    gauge('turns_queued', 'Sessions that wait for a place, and messages that wait for a turn.', turns.queued),
    counter('turns_done_total', 'Turns answered or stopped.', turns.done),
    counter('turns_failed_total', 'Turns that failed.', turns.failed),
    gauge('turns_parked', 'Turns that took the program down too often.', turns.parked),
    gauge('outbox_pending', 'Replies not delivered yet.', status.outbox.pending),
    gauge('agent_cache_size', 'Agents kept alive.', cache.size),
    gauge('agent_cache_active', 'Agents in a turn.', cache.active),
    counter('agent_cache_hits_total', 'Turns that found their agent alive.', cache.hits),
    counter('agent_cache_misses_total', 'Turns that had to build their agent.', cache.misses),
    counter('agent_cache_evictions_total', 'Agents released to make room, or memory.', cache.evictions),
    counter('agent_cache_sweeps_total', 'Agents released because they were idle for too long.', cache.sweeps),
    counter('agent_cache_releases_total', 'Agents released for whatever reason.', cache.releases),
    counter('input_tokens_total', 'Tokens sent to models.', usage.input_tokens),
    counter('cached_tokens_total', 'Of those, tokens read from a cache.', usage.cached_tokens),
    counter('output_tokens_total', 'Tokens received from models.', usage.output_tokens),
    counter('cost_usd_total', 'Dollars for calls whose price is known.', usage.usd ?? 0),
    counter('unpriced_calls_total', 'Model calls whose price is not known.', usage.unpriced_calls),
    counter('prefix_breaks_total', 'Prompts that broke their prefix with no reason on record.', status.prefix_breaks),
    gauge('keys_resting', 'Keys that are left alone for a while.', status.keys.filter(isResting).length),
    gauge('config_problems', 'Mistakes in the configuration file on disk.', status.config.problems.length),
  ];
  return metrics.map(line).join('');
}

const isResting = (key: StatusReport['keys'][number]) => key.rests_until !== null;

const gauge = (name: string, help: string, value: number): Metric => ({ name, type: 'gauge', help, value });
const counter = (name: string, help: string, value: number): Metric => ({ name, type: 'counter', help, value });

function line({ name, type, help, value }: Metric): string {
  return `# HELP talaria_${name} ${help}\n# TYPE talaria_${name} ${type}\ntalaria_${name} ${value}\n`;
}
