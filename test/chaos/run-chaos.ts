/**
 * A whole run: the cases of a schedule, one after the other in a few worlds side by side, and then the judgement. A case
 * that does not settle ends its world's part of the run.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { standingMaxMs } from '../../src/gateway/delivery/draft-shelf.ts';
import { buildGateway } from './build-gateway.ts';
import { pointsWithin, type NamedPoint } from './fault-point-names.ts';
import { noModel } from './gather.ts';
import { badColumns, judge, type Evidence, type Verdict } from './judge.ts';
import { leftRunning } from './left-running.ts';
import { runCase, type Tally } from './run-case.ts';
import { describe, schedule, sharesOf, type Case } from './schedule.ts';
import type { Setup } from './scenes.ts';
import { World } from './world.ts';

/** A case that has not settled by then never does. Generous: the machine may be busy. */
const casePatienceMs = 60_000;
/** Beyond the time that a draft may stand without a turn. */
const draftPatienceMs = 10_000;
const draftLookMs = 2_000;
/** What the worlds are, in turn. */
const setupsOf = { own: ['surrounded', 'bundle', 'surrounded'], telegram: ['telegram'] } as const satisfies Record<
  string,
  readonly Setup[]
>;

export interface ChaosOptions {
  readonly kills: number;
  readonly seed: number;
  /** How many homes are worked on at once. */
  readonly worlds: number;
  /** What people speak through: by default the gateway's own API and a scripted platform. */
  readonly channel?: 'telegram';
  readonly onCase?: (line: string) => void;
  /** Leaves the folder of a world that failed, and says where it is. */
  readonly keepFailed?: boolean;
}

export interface ChaosReport {
  readonly seed: number;
  readonly kills: number;
  readonly cases: number;
  readonly verdict: Verdict;
  /** Those that the run could come to. */
  readonly points: readonly NamedPoint[];
  /** How often the gateway died at each point. */
  readonly hits: ReadonlyMap<string, number>;
  readonly readyMs: readonly number[];
  readonly settledMs: readonly number[];
  /** What to look at if it failed. */
  readonly lastWords: string;
}

export async function runChaos(options: ChaosOptions): Promise<ChaosReport> {
  const tally: Tally = { kills: 0, cases: 0, hits: new Map(), readyMs: [], settledMs: [] };
  const setups: readonly Setup[] = setupsOf[options.channel ?? 'own'];
  const chosen = Array.from({ length: options.worlds }, (_, index) => setups[index % setups.length] ?? 'bundle');
  const cases = new Map<Setup, Iterator<Case>>();
  for (const [setup, share] of sharesOf([...new Set(chosen)])) cases.set(setup, schedule(options.seed, setup, share));
  const folder = await mkdtemp(join(tmpdir(), 'talaria-chaos-gateway-'));
  try {
    const gatewayFile = await buildGateway(folder);
    const results = await Promise.all(
      [...cases].flatMap(([setup, list]) =>
        chosen.filter((one) => one === setup).map(() => runWorld(options, { setup, gatewayFile }, list, tally)),
      ),
    );
    const verdict = results.map((result) => result.verdict).reduce(added);
    const lastWords = results.flatMap((result) => result.lastWords ?? []).join('\n\n');
    return { seed: options.seed, points: pointsWithin(chosen), verdict, lastWords, ...tally };
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function runWorld(
  options: ChaosOptions,
  where: { readonly setup: Setup; readonly gatewayFile: string },
  cases: Iterator<Case>,
  tally: Tally,
) {
  const hopeless = new AbortController();
  const world = await World.create({ ...where, signal: hopeless.signal });
  let current: Case | null = null;
  let failure: string | null = null;
  let verdict: Verdict | null = null;
  try {
    while (tally.kills < options.kills) {
      current = next(cases);
      const startedAt = performance.now();
      await withPatience(hopeless, runCase(world, current, tally, options.kills));
      const tookMs = Math.round(performance.now() - startedAt);
      options.onCase?.(`${tookMs} ms, ${where.setup} ${current.number}: ${describe(current)}`);
    }
    current = null;
    if (world.gateway.running === null) world.gateway.start(null);
    await withPatience(hopeless, world.allDelivered());
    verdict = await judged(world);
    await world.gateway.stop();
    for (const orphan of await leftRunning(world.folder)) verdict.problems.push(`still running: ${orphan}`);
  } catch (error) {
    const during = current === null ? 'the judgement' : `case ${current.number} (${describe(current)})`;
    failure = `${during} did not end: ${error instanceof Error ? error.message : String(error)}`;
  }
  verdict ??= judge(noEvidence);
  verdict.problems.push(...world.problems, ...world.gateway.problems, ...(failure === null ? [] : [failure]));
  const isFine = verdict.problems.length === 0;
  const lastWords = isFine ? null : `${world.folder}:\n${await world.logTail()}`;
  hopeless.abort(new Error('the run is over'));
  await world.destroy(!isFine && options.keepFailed === true);
  return { verdict, lastWords };
}

/** A draft that a process left behind is taken away by the next one when nothing has taken its place for a while. */
async function judged(world: World): Promise<Verdict> {
  const deadline = performance.now() + standingMaxMs + draftPatienceMs;
  for (;;) {
    const verdict = judge(await world.evidence());
    if (verdict.draftsLeft === 0 || performance.now() > deadline) return verdict;
    await sleep(draftLookMs);
  }
}

const noEvidence: Evidence = {
  sent: [],
  transcripts: new Map(),
  shown: new Map(),
  chats: [],
  telegram: [],
  model: noModel,
  prefixBreaks: 0,
  ledger: [],
  effectsOfRemoved: new Set(),
};

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
  const columns = [
    ...badColumns,
    'acknowledged',
    'answered',
    'stopped',
    'parked',
    'effects',
    'unknownCalls',
    'markedCopies',
    'commandsAnswered',
    'orphanedDrafts',
    'modelRequests',
    'modelFaults',
  ] as const;
  for (const column of columns) sum[column] += b[column];
  return sum;
}
