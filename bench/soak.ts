/**
 * `npm run soak [TURNS]`: a gateway that works for a long time must not grow. Very many turns; memory, descriptors and timers
 * are compared between an early and a late moment of rest. Prints the rows, and fails if a limit is missed.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { createCollector, type Collector } from './collect-garbage.ts';
import { descriptorsOf, metricsOf } from './gateway-figures.ts';
import { modelConfig } from './load.ts';
import { ManyTurns, type TurnPlan } from './many-turns.ts';
import { formatRow, median, startGateway, withHome, type Row } from './measure.ts';
import { startModelServerProcess } from './model-server.ts';
import { residentBytes } from './process-figures.ts';

const turnsWanted = Number(process.argv[2] ?? 10_000);
/** Memory settles first: caches fill, the compiler is done, the heap has found its size. */
const warmUpShare = 0.2;
const steps = 8;
const turnsPerSession = 25;
const atOnce = 20;
const growthMaxMb = 20;
/** Longer than idle connections are kept on either side. */
const restMs = 16_000;
const restReadings = 3;

interface Rest {
  readonly turns: number;
  /** As it stands, garbage that nobody has needed to collect included. */
  readonly uncollectedMb: number;
  readonly residentMb: number;
  readonly heapMb: number;
  readonly timers: number;
  readonly descriptors: number | null;
}

async function soak(): Promise<Row[]> {
  const server = await startModelServerProcess();
  try {
    return await withHome(modelConfig(server.url), async (home) => {
      const collector = await createCollector();
      const gateway = await startGateway(home, collector.env);
      const pid = gateway.child.pid ?? 0;
      let done = 0;
      let [failed, lost] = [0, 0];
      const work = async (turns: number) => {
        const sessions = Math.ceil(turns / turnsPerSession);
        const many = new ManyTurns(gateway.url, `soak-${done}`);
        const plan: TurnPlan = { sessions, turnsPerSession, atOnce, messagesPerTurn: 1 };
        await many.run(plan);
        const checked = await many.check();
        done += sessions * turnsPerSession;
        failed += many.failed;
        lost += checked.lost + checked.outOfOrder;
      };
      try {
        await work(turnsWanted * warmUpShare);
        const early = await rest(gateway.url, pid, collector, done);
        let late = early;
        for (let step = 0; step < steps; step++) {
          await work((turnsWanted * (1 - warmUpShare)) / steps);
          late = await rest(gateway.url, pid, collector, done);
        }
        return rowsOf(early, late, { failed, lost });
      } finally {
        await gateway.stop();
      }
    });
  } finally {
    await server.stop();
  }
}

/** The median of several readings, each after a collection: what is left is what it keeps. */
async function rest(url: string, pid: number, collector: Collector, turns: number): Promise<Rest> {
  await sleep(restMs);
  const uncollectedMb = residentBytes(pid) / 1e6;
  const readings: Omit<Rest, 'turns' | 'uncollectedMb'>[] = [];
  for (let reading = 0; reading < restReadings; reading++) {
    await collector.collect();
    const metrics = await metricsOf(url);
    readings.push({
      residentMb: residentBytes(pid) / 1e6,
      heapMb: (metrics.get('heap_used_bytes') ?? Number.NaN) / 1e6,
      timers: metrics.get('timers') ?? Number.NaN,
      descriptors: descriptorsOf(pid),
    });
    await sleep(200);
  }
  const usual = (figure: keyof (typeof readings)[0]) => median(readings.map((one) => one[figure] ?? 0));
  const found = {
    turns,
    uncollectedMb,
    residentMb: usual('residentMb'),
    heapMb: usual('heapMb'),
    timers: usual('timers'),
    descriptors: descriptorsOf(pid) === null ? null : usual('descriptors'),
  };
  console.log(`  at rest after ${turns} turns: ${JSON.stringify(found)}`);
  return found;
}

function rowsOf(early: Rest, late: Rest, { failed, lost }: { failed: number; lost: number }): Row[] {
  const grown = (name: string, figure: 'residentMb' | 'timers' | 'descriptors', unit: string, limit: number): Row => {
    return { name, value: (late[figure] ?? 0) - (early[figure] ?? 0), unit, limit };
  };
  return [
    { name: 'turns', value: late.turns, unit: 'turns' },
    { name: 'turns failed', value: failed, unit: 'turns', limit: 0 },
    { name: 'messages lost or out of order', value: lost, unit: 'messages', limit: 0 },
    { name: 'resident at the end', value: late.residentMb, unit: 'MB' },
    { name: 'the same before a collection', value: late.uncollectedMb, unit: 'MB' },
    { name: 'heap at the end', value: late.heapMb, unit: 'MB' },
    grown(`resident, grown since turn ${early.turns}`, 'residentMb', 'MB', growthMaxMb),
    grown('descriptors, more', 'descriptors', 'open', 0),
    grown('timers, more', 'timers', 'set', 0),
  ];
}

console.log('\nsoak');
const rows = await soak();
for (const row of rows) console.log(formatRow(row));
process.exitCode = rows.every(({ value, limit }) => limit === undefined || value <= limit) ? 0 : 1;
