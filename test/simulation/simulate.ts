/**
 * `npm run simulate -- --seeds N --seed S`: runs N seeds from S on, or one. Prints what they covered, and the first
 * failure with its trace and how to repeat it. `--trace` shows the trace of good runs too. `--survey` goes on after a
 * failure and lists what kinds there are, each with its first seed. `--broken NAME` breaks a part on purpose and fails
 * if that is not found.
 */
import { parseArgs } from 'node:util';
import { brokenParts } from './broken-parts.ts';
import { runSeed } from './run-seed.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string' },
    seed: { type: 'string' },
    trace: { type: 'boolean', default: false },
    survey: { type: 'boolean', default: false },
    broken: { type: 'string' },
  },
});
const firstSeed = Number(values.seed ?? 1);
const seeds = Number(values.seeds ?? (values.seed === undefined ? 2_000 : 1));

interface Kind {
  readonly firstSeed: number;
  readonly times: number;
}

async function main(): Promise<number> {
  if (!Number.isSafeInteger(firstSeed) || !Number.isSafeInteger(seeds) || seeds < 1) {
    console.error('--seed and --seeds are whole numbers, --seeds at least 1.');
    return 2;
  }
  return values.broken === undefined ? runAll() : findBroken(values.broken);
}

async function runAll(): Promise<number> {
  const totals = new Map<string, number>();
  const kinds = new Map<string, Kind>();
  const startedAt = performance.now();
  let virtualMs = 0;
  for (let seed = firstSeed; seed < firstSeed + seeds; seed++) {
    const report = await runSeed(seed, { isTracing: values.trace });
    if (values.trace) console.log(report.trace.join('\n'));
    virtualMs += report.virtualMs;
    for (const [what, number] of report.counts) totals.set(what, (totals.get(what) ?? 0) + number);
    if (report.breaches.length === 0) continue;
    if (!values.survey) return showFailure(seed);
    for (const breach of report.breaches) noteKind(kinds, breach, seed);
  }
  const seconds = (performance.now() - startedAt) / 1_000;
  const hours = (virtualMs / 3_600_000).toFixed(0);
  console.log(
    `${seeds} seeds in ${seconds.toFixed(1)} s (${(seeds / seconds).toFixed(0)}/s), ${hours} h of virtual time`,
  );
  for (const [what, number] of [...totals].sort(([a], [b]) => (a < b ? -1 : 1))) console.log(`  ${what}: ${number}`);
  for (const [kind, found] of kinds) console.log(`${found.times} times, first by seed ${found.firstSeed}: ${kind}`);
  return kinds.size === 0 ? 0 : 1;
}

/** The same finding with other ids and numbers is of the same kind. */
function noteKind(kinds: Map<string, Kind>, breach: string, seed: number): void {
  const kind = (breach.split('\n')[0] ?? '').replaceAll(/\b[a-z]{3}_\d+(\/\d+)?/g, '…').replaceAll(/\d+/g, '#');
  const known = kinds.get(kind) ?? { firstSeed: seed, times: 0 };
  kinds.set(kind, { ...known, times: known.times + 1 });
}

async function showFailure(seed: number): Promise<number> {
  const { breaches, trace } = await runSeed(seed, { isTracing: true });
  console.log(trace.join('\n'));
  console.log(`\nseed ${seed} failed:`);
  for (const breach of breaches) console.log(`  ${breach}`);
  console.log(`\nAgain: npm run simulate -- --seed ${seed}`);
  return 1;
}

/** Found means: a seed fails with the broken part, and does not without it. */
async function findBroken(name: string): Promise<number> {
  const wrapStore = brokenParts[name];
  if (wrapStore === undefined) {
    console.error(`There is no broken part of this name. There are:\n  ${Object.keys(brokenParts).join('\n  ')}`);
    return 2;
  }
  for (let seed = firstSeed; seed < firstSeed + seeds; seed++) {
    const { breaches } = await runSeed(seed, { wrapStore });
    if (breaches.length === 0 || (await runSeed(seed)).breaches.length > 0) continue;
    console.log(`found by seed ${seed}: ${breaches.join('; ')}`);
    return 0;
  }
  console.log(`not found in ${seeds} seeds`);
  return 1;
}

process.exitCode = await main();
