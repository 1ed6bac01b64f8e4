/** `talaria status`: what the running gateway does, or with `--usage` what models used; for people or as JSON. */
import { resolveHome } from '../config/home.ts';
import { systemClock } from '../lib/clock.ts';
import type { StatusReport } from '../protocol/api.ts';
import { noTokens } from '../protocol/usage.ts';
import { formatDuration, formatTime } from '../tui/format-time.ts';
import { modelWords, restingKeyLines } from '../tui/model-words.ts';
import { printable } from '../tui/printable.ts';
import { totalCost } from '../tui/status-lines.ts';
import { tokensText, usdText } from '../protocol/usage-text.ts';
import type { CommandInput } from './arguments.ts';
import { CliError, exitCodes, type CommandContext, type ExitCode } from './command.ts';
import { findRunningGateway, silentWords } from './running-gateway.ts';

const heldShownMax = 20;

export async function statusCommand(context: CommandContext, input: CommandInput): Promise<ExitCode> {
  if (input.has('usage')) return (await import('./status-usage.ts')).statusUsage(context, input);
  if (input.has('days')) throw new CliError('wrongUsage', '--days goes with --usage: talaria status --usage --days 30');
  const { streams } = context;
  const home = resolveHome(context.env);
  const found = await findRunningGateway(home, context);
  if (found.kind === 'none') {
    throw new CliError('failed', `no gateway runs on ${home}; start one with: talaria gateway`);
  }
  if (found.kind === 'silent') throw new CliError('failed', silentWords(found.url, found.pid));
  if (found.kind === 'unwell') throw new CliError('failed', `the gateway at ${found.url} says: ${found.problem}`);
  const text = input.has('json')
    ? JSON.stringify(found.status, null, 2)
    : statusText(found.url, found.status, systemClock.now());
  await streams.write(`${text}\n`);
  for (const problem of input.has('json') ? [] : found.status.config.problems) {
    streams.note(`talaria: the configuration has a mistake, the last good one goes on: ${printable(problem)}`);
  }
  return exitCodes.ok;
}

export function statusText(url: string, status: StatusReport, now: number): string {
  const { turns, usage, fallback } = status;
  const tokens = tokensText({
    ...noTokens,
    inputTokens: usage.input_tokens,
    cachedTokens: usage.cached_tokens,
    outputTokens: usage.output_tokens,
    reasoningTokens: usage.reasoning_tokens,
  });
  const resting = restingKeyLines(status.keys, now);
  const rows: [string, string][] = [
    ['gateway', `${url}  version ${status.version}, pid ${status.pid}, up ${formatDuration(status.uptime_s)}`],
    ['model', modelWords(status.model)],
    ...(fallback.length === 0 ? [] : [row('fallback', fallback.map(modelWords).join(', '))]),
    ...(status.keys.length === 0
      ? []
      : [row('keys', `${status.keys.length - resting.length} of ${status.keys.length} work`)]),
    ...resting.map((line) => row('', line)),
    ['sessions', String(status.sessions)],
    [
      'turns',
      `${turns.running} running, ${turns.queued} waiting, ${turns.done} done, ${turns.failed} failed, ${turns.parked} parked`,
    ],
    ['outbox', `${status.outbox.pending} pending`],
    ['tokens', tokens],
    ['cost', `${usdText(usage.today_usd)} today, ${totalCost(usage)} in all`],
    ...(status.prefix_breaks === 0
      ? []
      : [row('prompts', `${status.prefix_breaks} broke their prefix without a reason`)]),
    ['store', status.store],
    ['sandbox', status.sandbox],
    ...heldRows(status, now),
    ...status.mcp_servers.map(({ name, state, tools, problem }, index) =>
      row(index === 0 ? 'mcp' : '', `${name}: ${state}, ${tools} tools${problem === null ? '' : `; ${problem}`}`),
    ),
    ['config', `${status.config.path}, loaded ${formatTime(status.config.loaded_at)}`],
  ];
  return rows.map(([name, value]) => `${name.padEnd(9)} ${printable(value)}`).join('\n');
}

/** What sessions' tools hold, the newest use first. */
function heldRows({ held }: StatusReport, now: number): [string, string][] {
  const shown = held.toSorted((one, other) => other.used_at - one.used_at).slice(0, heldShownMax);
  const lines = shown.map(({ session, kind, what, used_at: usedAt, busy }) => {
    const used = `used ${formatDuration((now - usedAt) / 1_000)} ago`;
    return `${kind}${busy ? ', at work' : ''}, ${used}: ${what} (${session})`;
  });
  const more = held.length - shown.length;
  return [...lines, ...(more > 0 ? [`and ${more} more`] : [])].map((line, index) =>
    row(index === 0 ? 'held' : '', line),
  );
}

function row(name: string, value: string): [string, string] {
  return [name, value];
}
