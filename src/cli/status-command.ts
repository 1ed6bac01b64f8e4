/** `talaria status`: what the running gateway does, for people or as JSON. */
import { resolveHome } from '../config/home.ts';
import type { StatusReport } from '../protocol/api.ts';
import { printable } from '../tui/printable.ts';
import type { CommandInput } from './arguments.ts';
import { CliError, exitCodes, type CommandContext, type ExitCode } from './command.ts';
import { formatDuration, formatTime } from './format-time.ts';
import { findRunningGateway } from './running-gateway.ts';

export async function statusCommand(context: CommandContext, input: CommandInput): Promise<ExitCode> {
  const { streams } = context;
  const home = resolveHome(context.env);
  const found = await findRunningGateway(home, context);
  if (found.kind === 'none') {
    throw new CliError('failed', `no gateway runs on ${home}; start one with: talaria gateway`);
  }
  if (found.kind === 'unwell') throw new CliError('failed', `the gateway at ${found.url} says: ${found.problem}`);
  const text = input.has('json') ? JSON.stringify(found.status, null, 2) : statusText(found.url, found.status);
  await streams.write(`${text}\n`);
  for (const problem of input.has('json') ? [] : found.status.config.problems) {
    streams.note(`talaria: the configuration has a mistake, the last good one goes on: ${printable(problem)}`);
  }
  return exitCodes.ok;
}

function statusText(url: string, status: StatusReport): string {
  const { turns, usage, model } = status;
  const cost = usage.usd === null ? 'cost unknown' : `$${usage.usd.toFixed(2)}`;
  const rows: [string, string][] = [
    ['gateway', `${url}  version ${status.version}, pid ${status.pid}, up ${formatDuration(status.uptime_s)}`],
    ['model', `${model.provider} ${model.name}`],
    ['sessions', String(status.sessions)],
    [
      'turns',
      `${turns.running} running, ${turns.queued} waiting, ${turns.done} done, ${turns.failed} failed, ${turns.parked} parked`,
    ],
    ['outbox', `${status.outbox.pending} pending`],
    ['tokens', `${usage.input_tokens} in (${usage.cached_tokens} cached), ${usage.output_tokens} out, ${cost}`],
    ['store', status.store],
    ['sandbox', status.sandbox],
    ['config', `${status.config.path}, loaded ${formatTime(status.config.loaded_at)}`],
  ];
  return rows.map(([name, value]) => `${name.padEnd(9)} ${printable(value)}`).join('\n');
}
