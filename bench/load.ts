/** A gateway under load: many sessions at once with a model that takes its time, and very many sessions that do nothing. */
import { join } from 'node:path';
import { systemClock } from '../src/lib/clock.ts';
import { createIdSource } from '../src/lib/ids.ts';
import { silentLog } from '../src/lib/log.ts';
import { systemRandom } from '../src/lib/random.ts';
import type { Entry } from '../src/protocol/messages.ts';
import { openSqliteStore } from '../src/store/sqlite/sqlite-store.ts';
import { metricsOf, peakBytes, processorSeconds } from './gateway-figures.ts';
import { ManyTurns, type TurnPlan } from './many-turns.ts';
import { median, quantile, startGateway, withHome, type Row } from './measure.ts';
import { startModelServerProcess } from './model-server.ts';
import { residentBytes } from './process-figures.ts';

const modelMs = 200;
const plan: TurnPlan = { sessions: 1_000, turnsPerSession: 3, atOnce: 100, messagesPerTurn: 1, spreadMs: modelMs };
/** The last round sends while turns are running. */
const joiningPlan: TurnPlan = { ...plan, turnsPerSession: 1, messagesPerTurn: 2 };

const idleSessions = 10_000;
const idleTurns = 5;
/** After a start: what is set off by it has come to rest. */
const settleMs = 2_000;

export async function benchLoad(): Promise<Row[]> {
  return [...(await busy()), ...(await idle())];
}

export function modelConfig(url: string): string {
  return `model: { provider: custom, name: scripted, base_url: ${url}/v1, api_mode: chat_completions, api_key: bench }\n`;
}

async function busy(): Promise<Row[]> {
  const server = await startModelServerProcess();
  try {
    return await withHome(modelConfig(server.url), async (home) => {
      const gateway = await startGateway(home);
      try {
        await server.inject({ name: 'slow-first-byte', delayMs: modelMs, times: null });
        return await measureBusy(gateway.url, gateway.child.pid ?? 0);
      } finally {
        await gateway.stop();
      }
    });
  } finally {
    await server.stop();
  }
}

async function measureBusy(url: string, pid: number): Promise<Row[]> {
  await new ManyTurns(url, 'warm-up').run({ ...plan, sessions: 50, turnsPerSession: 1 });
  await metricsOf(url);
  const turns = new ManyTurns(url, 'load');
  const [start, processorStart] = [performance.now(), processorSeconds(pid) ?? Number.NaN];
  await turns.run(plan);
  const seconds = (performance.now() - start) / 1_000;
  const loop = await metricsOf(url);
  const processor = (processorSeconds(pid) ?? Number.NaN) - processorStart;
  const latencies = [...turns.latenciesMs];
  await turns.run(joiningPlan);
  const { messages, lost, outOfOrder } = await turns.check();
  const ms = (name: string) => 1_000 * (loop.get(name) ?? Number.NaN);
  const count = latencies.length;
  return [
    { name: `turns, ${plan.sessions} sessions, ${plan.atOnce} at once`, value: count / seconds, unit: 'turns/s' },
    { name: `most possible with a model at ${modelMs} ms`, value: (plan.atOnce * 1_000) / modelMs, unit: 'turns/s' },
    { name: 'a turn, p50', value: median(latencies), unit: 'ms' },
    { name: 'a turn, p99', value: quantile(latencies, 0.99), unit: 'ms' },
    { name: 'messages lost or unanswered', value: lost, unit: `of ${messages}`, limit: 0 },
    { name: 'sessions out of order', value: outOfOrder, unit: 'sessions', limit: 0 },
    { name: 'turns failed', value: turns.failed, unit: 'turns', limit: 0 },
    { name: 'event loop late, p50', value: ms('event_loop_delay_p50_seconds'), unit: 'ms' },
    { name: 'event loop late, p99', value: ms('event_loop_delay_p99_seconds'), unit: 'ms', limit: 50 },
    { name: 'event loop late, worst', value: ms('event_loop_delay_max_seconds'), unit: 'ms' },
    { name: 'gateway, processor per turn', value: (1_000 * processor) / count, unit: 'ms' },
    { name: 'gateway, resident', value: residentBytes(pid) / 1e6, unit: 'MB' },
    { name: 'gateway, resident at most', value: (peakBytes(pid) ?? Number.NaN) / 1e6, unit: 'MB' },
  ];
}

/** A gateway starts on a home with very many sessions that wait for nothing. */
function idle(): Promise<Row[]> {
  return withHome('model: { provider: offline, name: rehearsal-instant }\n', async (home) => {
    await fillWithSessions(join(home, 'state.db'));
    const gateway = await startGateway(home);
    try {
      const pid = gateway.child.pid ?? 0;
      await new Promise((resolve) => setTimeout(resolve, settleMs));
      const sessions = (await metricsOf(gateway.url)).get('sessions') ?? Number.NaN;
      if (sessions !== idleSessions) throw new Error(`there are ${sessions} sessions`);
      return [
        { name: `ready with ${idleSessions} idle sessions`, value: gateway.readyMs, unit: 'ms', limit: 2_000 },
        { name: 'resident then', value: residentBytes(pid) / 1e6, unit: 'MB', limit: 200 },
      ];
    } finally {
      await gateway.stop();
    }
  });
}

async function fillWithSessions(path: string): Promise<void> {
  const deps = { clock: systemClock, random: systemRandom };
  const ids = createIdSource(deps);
  const store = await openSqliteStore({ path, ...deps, log: silentLog, owner: ids.next('nod'), writer: 'thread' });
  const createdAt = systemClock.now();
  const session = async (index: number) => {
    const id = ids.next('ses');
    const entries = Array.from({ length: idleTurns }, (_, turn) => turnEntries(turn, createdAt)).flat();
    const name = `idle-${index}`;
    await store.importSession(id, `cli:direct:${name}`, 'owner', { name, title: `Idle ${index}`, createdAt, entries });
  };
  const turnEntries = (turn: number, at: number): Entry[] => {
    const turnId = ids.next('trn');
    const inboxId = ids.next('inb');
    const modelCallId = ids.next('mdl');
    const said = { role: 'user', parts: [{ kind: 'text', text: `say something about ${turn}` }] } as const;
    const answer = { role: 'assistant', parts: [{ kind: 'text', text: `something about ${turn}` }] } as const;
    const seq = turn * 4;
    return [
      { kind: 'turn-opened', seq: seq + 1, at, turnId },
      { kind: 'message', message: said, inboxId, seq: seq + 2, at, turnId },
      { kind: 'message', message: answer, modelCallId, seq: seq + 3, at, turnId },
      { kind: 'turn-closed', outcome: 'answered', seq: seq + 4, at, turnId },
    ];
  };
  for (let index = 0; index < idleSessions; index += 100) {
    await Promise.all(Array.from({ length: 100 }, (_, more) => session(index + more)));
  }
  await store.close();
}
