/**
 * Kills the real gateway many times and judges what is left:
 *
 *   npm run chaos -- --kills N [--seed S] [--worlds W] [--channel telegram] [--verbose]
 *
 * Prints a table; exits with 1 if anything is in a column that must be zero.
 */
import { parseArgs } from 'node:util';
import { badColumns, isClean } from './judge.ts';
import { runChaos, type ChaosReport } from './run-chaos.ts';

const problemsShownMax = 30;

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '150' },
    seed: { type: 'string', default: '1' },
    worlds: { type: 'string', default: '3' },
    channel: { type: 'string' },
    verbose: { type: 'boolean', default: false },
  },
});

if (values.channel !== undefined && values.channel !== 'telegram') {
  console.error('--channel must be telegram; without it people speak through the API and a scripted platform.');
  process.exit(2);
}
const isOnTelegram = values.channel === 'telegram';

function wholeNumber(name: 'kills' | 'seed' | 'worlds'): number {
  const value = Number(values[name]);
  if (Number.isSafeInteger(value) && value >= (name === 'seed' ? 0 : 1)) return value;
  console.error(`--${name} must be a whole number.`);
  process.exit(2);
}

function tableOf(report: ChaosReport): string {
  const { verdict } = report;
  const rows: [string, string | number][] = [
    ['kills', report.kills],
    ['acknowledged', verdict.acknowledged],
    ['answered', verdict.answered],
    ...badColumns.map((column): [string, number] => [words[column], verdict[column]]),
    ['other problems', verdict.problems.length - badColumns.reduce((sum, column) => sum + verdict[column], 0)],
    ['recovery to ready, p50 / p99', `${percentile(report.readyMs, 50)} / ${percentile(report.readyMs, 99)} ms`],
    [
      'recovery to all settled, p50 / p99',
      `${percentile(report.settledMs, 50)} / ${percentile(report.settledMs, 99)} ms`,
    ],
    ['cases', report.cases],
    ['stopped, as asked', verdict.stopped],
    ['parked, after three kills', verdict.parked - verdict.parkedTooEarly],
    ['effects', verdict.effects],
    ['calls told as unknown', verdict.unknownCalls],
    ['posts marked as repeated', verdict.markedCopies],
    ...(isOnTelegram
      ? [
          ['commands answered', verdict.commandsAnswered] as [string, number],
          ['drafts orphaned as they were sent', verdict.orphanedDrafts] as [string, number],
        ]
      : []),
    ['requests to the model server, spoiled ones', `${verdict.modelRequests}, ${verdict.modelFaults}`],
    ['points hit', `${report.points.filter(({ name }) => report.hits.has(name)).length} of ${report.points.length}`],
  ];
  const width = Math.max(...rows.map(([label]) => label.length));
  return rows.map(([label, value]) => `${label.padEnd(width)}  ${value}`).join('\n');
}

const words: Record<(typeof badColumns)[number], string> = {
  lost: 'lost',
  doubled: 'doubled',
  cutShort: 'answers cut short',
  outOfOrder: 'parts out of order',
  draftsLeft: 'drafts left standing',
  repeatedEffects: 'effects repeated unmarked',
  effectsWithoutCall: 'effects without a call',
  effectsMissing: 'effects that never came',
  invalidTranscripts: 'invalid transcripts',
  shownButNotStored: 'shown but not stored',
  parkedTooEarly: 'parked too early',
  prefixBreaks: 'prefixes broken unexplained',
};

function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return Math.round(sorted[Math.ceil((sorted.length * percent) / 100) - 1] ?? 0);
}

const startedAt = performance.now();
const report = await runChaos({
  kills: wholeNumber('kills'),
  seed: wholeNumber('seed'),
  worlds: wholeNumber('worlds'),
  keepFailed: true,
  ...(isOnTelegram ? { channel: 'telegram' as const } : {}),
  ...(values.verbose ? { onCase: (line: string) => console.log(line) } : {}),
});
console.log(tableOf(report));
const missed = report.points.filter(({ name }) => !report.hits.has(name)).map(({ name }) => name);
if (missed.length > 0) console.log(`not hit: ${missed.join(', ')}`);
console.log(`seed ${report.seed}, ${Math.round((performance.now() - startedAt) / 1_000)} s`);
if (!isClean(report.verdict)) {
  for (const problem of report.verdict.problems.slice(0, problemsShownMax)) console.error(problem);
  console.error(`\n${report.lastWords}`);
  process.exitCode = 1;
}
