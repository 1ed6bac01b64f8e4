/** The status as Prometheus text. Pure. */
import type { StatusReport } from '../protocol/api.ts';

interface Metric {
  readonly name: string;
  readonly type: 'counter' | 'gauge';
  readonly help: string;
  readonly value: number;
}

export function metricsText(status: StatusReport, process: { rssBytes: number }): string {
  const { agent_cache: cache, turns, usage } = status;
  const metrics: Metric[] = [
    gauge('uptime_seconds', 'Seconds since the start.', status.uptime_s),
    gauge('resident_memory_bytes', 'Resident memory.', process.rssBytes),
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
    counter('agent_cache_evictions_total', 'Agents released to make room.', cache.evictions),
    counter('input_tokens_total', 'Tokens sent to models.', usage.input_tokens),
    counter('cached_tokens_total', 'Of those, tokens read from a cache.', usage.cached_tokens),
    counter('output_tokens_total', 'Tokens received from models.', usage.output_tokens),
    gauge('config_problems', 'Mistakes in the configuration file on disk.', status.config.problems.length),
  ];
  return metrics.map(line).join('');
}

const gauge = (name: string, help: string, value: number): Metric => ({ name, type: 'gauge', help, value });
const counter = (name: string, help: string, value: number): Metric => ({ name, type: 'counter', help, value });

function line({ name, type, help, value }: Metric): string {
  return `# HELP talaria_${name} ${help}\n# TYPE talaria_${name} ${type}\ntalaria_${name} ${value}\n`;
}
