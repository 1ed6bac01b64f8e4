/** `talaria status --usage`: what models used in the last days, summed in every way the sums are kept. */
import { systemClock } from '../lib/clock.ts';
import { localDay } from '../lib/local-day.ts';
import type { UsageSum } from '../protocol/usage.ts';
import { printableLine } from '../tui/printable.ts';
import type { Style } from '../tui/style.ts';
import { costText, countText, shareText, tokensText, totalOfSums } from '../protocol/usage-text.ts';
import type { CommandInput } from './arguments.ts';
import { exitCodes, type CommandContext, type ExitCode } from './command.ts';
import { withApi } from './open-connection.ts';
import { formatTable } from './table.ts';
import { wholeNumber } from './whole-number.ts';

const daysOtherwise = 7;
const daysMax = 3_650;
const nameCharsMax = 60;

export async function statusUsage(context: CommandContext, input: CommandInput): Promise<ExitCode> {
  const { streams } = context;
  const days = wholeNumber(input, 'days', { min: 1, max: daysMax }) ?? daysOtherwise;
  const since = firstDay(systemClock.now(), days);
  const sums = await withApi(context, 'status --usage', (api) => api.usage(since));
  const text = input.has('json')
    ? JSON.stringify({ since, sums }, null, 2)
    : usageLines(since, sums, streams.outStyle).join('\n');
  await streams.write(`${text}\n`);
  return exitCodes.ok;
}

/** The first of so many days of which today is the last. Days are of the calendar: not all have 24 hours. */
export function firstDay(now: number, days: number): string {
  const today = new Date(now);
  return localDay(new Date(today.getFullYear(), today.getMonth(), today.getDate() - (days - 1)).getTime());
}

const groups: readonly (readonly [title: string, keyOf: (sum: UsageSum) => string])[] = [
  ['DAY', ({ day }) => day],
  ['CHANNEL', ({ channel }) => channel],
  ['USER', ({ user }) => user],
  ['MODEL', ({ provider, model }) => `${provider}/${model}`],
  ['PURPOSE', ({ purpose }) => purpose],
];

export function usageLines(since: string, sums: readonly UsageSum[], style: Style): string[] {
  if (sums.length === 0) return [`no model was called since ${since}`];
  const total = totalOfSums(sums);
  const calls = `${countText(total.calls)} ${total.calls === 1 ? 'call' : 'calls'}`;
  const lines = [`since ${since}: ${calls}, ${tokensText(total)}, ${costText(total)}`];
  for (const [title, keyOf] of groups) lines.push('', ...groupLines(title, Map.groupBy(sums, keyOf), style));
  if (total.unpricedCalls > 0) {
    lines.push('', 'Where the cost is not known, no price is known for the model: the sums leave those calls out.');
  }
  return lines;
}

function groupLines(title: string, groupsByName: ReadonlyMap<string, readonly UsageSum[]>, style: Style): string[] {
  const rows = [...groupsByName].map(([name, sums]) => {
    const total = totalOfSums(sums);
    return [
      printableLine(name, nameCharsMax),
      countText(total.calls),
      countText(total.inputTokens),
      countText(total.cachedTokens),
      shareText(total.cachedTokens, total.inputTokens),
      countText(total.outputTokens),
      costText(total),
    ];
  });
  const [head = '', ...lines] = formatTable(
    [[title, 'CALLS', 'INPUT', 'CACHED', 'SHARE', 'OUTPUT', 'COST'], ...rows],
    Infinity,
  );
  return [style.dim(head), ...lines];
}
