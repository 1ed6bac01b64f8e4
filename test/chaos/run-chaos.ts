/**
 * A whole run: the cases of a schedule, one after the other in a few worlds side by side, and then the judgement. A case
 * that does not settle ends its world's part of the run.
 */
import { badColumns, judge, type Verdict } from './judge.ts';
import { leftRunning } from './left-running.ts';
import { runCase, type Tally } from './run-case.ts';
import { describe, schedule, type Case } from './schedule.ts';
import { World } from './world.ts';

/** A case that has not settled by then never does. Generous: the machine may be busy. */
const casePatienceMs = 60_000;

export interface ChaosOptions {
  readonly kills: number;
  readonly seed: number;
  /** How many homes are worked on at once. */
  readonly worlds: number;
  readonly onCase?: (line: string) => void;
  /** Leaves the folder of a world that failed, and says where it is. */
  readonly keepFailed?: boolean;
}

export interface ChaosReport {
  readonly seed: number;
  readonly kills: number;
  readonly cases: number;
  readonly verdict: Verdict;
  /** How often the gateway died at each point. */
  readonly hits: ReadonlyMap<string, number>;
  readonly readyMs: readonly number[];
  readonly settledMs: readonly number[];
  /** What to look at if it failed. */
  readonly lastWords: string;
}

export async function runChaos(options: ChaosOptions): Promise<ChaosReport> {
  const tally: Tally = { kills: 0, cases: 0, hits: new Map(), readyMs: [], settledMs: [] };
  const cases = schedule(options.seed);
  const results = await Promise.all(Array.from({ length: options.worlds }, () => runWorld(options, cases, tally)));
  const verdict = results.map((result) => result.verdict).reduce(added);
  const lastWords = results.flatMap((result) => result.lastWords ?? []).join('\n\n');
  return { seed: options.seed, verdict, lastWords, ...tally };
}

async function runWorld(options: ChaosOptions, cases: Iterator<Case>, tally: Tally) {
  const hopeless = new AbortController();
  const world = await World.create(hopeless.signal);
  let current: Case | null = null;
  let failure: string | null = null;
  let verdict: Verdict | null = null;
  try {
    while (tally.kills < options.kills) {
      current = next(cases);
      const startedAt = performance.now();
      await withPatience(hopeless, runCase(world, current, tally, options.kills));
      options.onCase?.(`${Math.round(performance.now() - startedAt)} ms, case ${current.number}: ${describe(current)}`);
    }
    current = null;
    if (world.gateway?.isAlive !== true) world.start(null);
    await world.quiet();
    verdict = judge(await world.evidence());
    await world.stopGateway();
    for (const orphan of await leftRunning(world.folder)) verdict.problems.push(`still running: ${orphan}`);
  } catch (error) {
    const during = current === null ? 'the judgement' : `case ${current.number} (${describe(current)})`;
    failure = `${during} did not end: ${error instanceof Error ? error.message : String(error)}`;
  }
  verdict ??= judge({ sent: [], transcripts: new Map(), shown: new Map(), ledger: [], effectsOfRemoved: new Set() });
  verdict.problems.push(...world.problems, ...(failure === null ? [] : [failure]));
  const isFine = verdict.problems.length === 0;
  const lastWords = isFine ? null : `${world.folder}:\n${await world.logTail()}`;
  hopeless.abort(new Error('the run is over'));
  await world.destroy(!isFine && options.keepFailed === true);
  return { verdict, lastWords };
}

function next(cases: Iterator<Case>): Case {
  const { value, done } = cases.next();
  if (done === true) throw new Error('the schedule has no end');
  return value;
}

async function withPatience(hopeless: AbortController, work: Promise<void>): Promise<void> {
  const timer = setTimeout(() => hopeless.abort(new Error('it did not settle')), casePatienceMs);
  try {
    const aborted = new Promise<never>((_resolve, reject) => {
      hopeless.signal.addEventListener('abort', () => reject(hopeless.signal.reason as Error), { once: true });
    });
    await Promise.race([work, aborted]);
  } finally {
    clearTimeout(timer);
  }
}

function added(a: Verdict, b: Verdict): Verdict {
  const sum = { ...a, problems: [...a.problems, ...b.problems] };
  const columns = [...badColumns, 'acknowledged', 'answered', 'stopped', 'parked', 'effects', 'unknownCalls'] as const;
  for (const column of columns) sum[column] += b[column];
  return sum;
}
