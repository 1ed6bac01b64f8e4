/** What crash-exactness costs: per tool round, over a long turn, and at the start after a crash. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { RuntimeChain } from '../src/agent/runtime-chain.ts';
import { RuntimeClients } from '../src/agent/runtime-clients.ts';
import { runSession, type SessionAgent } from '../src/agent/run-session.ts';
import { createRemoteApi } from '../src/cli/remote-api.ts';
import { systemClock } from '../src/lib/clock.ts';
import { createIdSource } from '../src/lib/ids.ts';
import { silentLog } from '../src/lib/log.ts';
import { systemRandom } from '../src/lib/random.ts';
import type { ModelEvent } from '../src/models/model.ts';
import { plainUnits } from '../src/models/plain-units.ts';
import { scriptedRuntime } from '../src/models/scripted-model.ts';
import type { SessionId } from '../src/protocol/ids.ts';
import { openSqliteStore } from '../src/store/sqlite/sqlite-store.ts';
import type { Store } from '../src/store/store.ts';
import { median, startGateway, withHome, type Row } from './measure.ts';

const clock = systemClock;
const random = systemRandom;
const ids = createIdSource({ clock, random });
const owner = ids.next('nod');
const usage = { inputTokens: 1, cachedTokens: 0, cacheWriteTokens: 0, outputTokens: 1, reasoningTokens: 0 };
const usd = 0;

const callsInTurn = 200;
const openSessions = 1_000;

export async function benchDurability(): Promise<Row[]> {
  const [durable, volatile] = [await longTurn('file'), await longTurn('memory')];
  const quarter = callsInTurn / 4;
  const early = median(durable.slice(quarter / 2, quarter + quarter / 2));
  const late = median(durable.slice(-quarter));
  const perCall = median(durable);
  return [
    {
      name: 'a model call and a tool call, four commits',
      value: perCall,
      unit: 'ms',
      ratio: perCall / median(volatile),
    },
    { name: 'the same, stored in memory only', value: median(volatile), unit: 'ms' },
    {
      name: `late rounds of ${callsInTurn} against early ones`,
      value: late,
      unit: 'ms',
      ratio: late / early,
      limit: 1.5,
    },
    ...(await recovery()),
  ];
}

/** Milliseconds from call to call in a turn of many rounds. */
async function longTurn(kind: 'file' | 'memory'): Promise<number[]> {
  return withHome('', async (home) => {
    const path = kind === 'file' ? join(home, 'state.db') : ':memory:';
    const store = await openSqliteStore({
      path,
      clock,
      log: silentLog,
      owner,
      writer: kind === 'file' ? 'thread' : 'inline',
    });
    try {
      const sessionId = await admit(store, 'long');
      const times: number[] = [];
      const lease = await store.acquireLease(sessionId, owner, 600_000);
      if (lease === null) throw new Error('no lease');
      const action = new AbortController().signal;
      const control = { leaving: action, nextAction: () => action };
      const deps = { store, clock, ids, random, log: silentLog, publish: () => {} };
      await runSession(deps, countingAgent(times), lease, control);
      return times.slice(1).map((time, index) => time - (times[index] ?? 0));
    } finally {
      await store.close();
    }
  });
}

/** Asks for one call after the other, and notes when each is made. */
function countingAgent(times: number[]): SessionAgent {
  let asked = 0;
  const answer = (): ModelEvent[] =>
    asked++ < callsInTurn
      ? [
          { kind: 'tool-call', providerCallId: 'x', name: 'tick', arguments: `{"n":${asked}}` },
          { kind: 'end', stop: 'tool-calls', usage, usd },
        ]
      : [
          { kind: 'text-delta', text: 'done' },
          { kind: 'end', stop: 'answer', usage, usd },
        ];
  const clients = new RuntimeClients(async () => ({
    prepare: (request) => ({ request, units: plainUnits(request), body: '' }),
    async *stream() {
      yield* answer();
    },
    close() {},
  }));
  return {
    agent: {
      chain: new RuntimeChain([scriptedRuntime()], clients),
      clients,
      titler: null,
      judge: null,
      tools: {
        get: () => ({
          definition: { name: 'tick', description: '', parameters: {} },
          effect: 'read',
          replay: 'safe',
          parse: (value) => ({ ok: true, value }),
          run: () => (times.push(performance.now()), Promise.resolve({ kind: 'finished', text: 'ok' })),
        }),
      },
      workspace: '/',
      spoolFolder: () => '/',
      keepResult: () => Promise.reject(new Error('nothing here is long')),
      headTools: { tools: [] },
      buildHead: () => Promise.resolve({ systemPrompt: 'S', tools: [] }),
    },
    settings: {
      limits: { modelCallsMax: callsInTurn + 1, crashesMax: 3, joinWaiting: true, namesSessions: false },
      effort: null,
      cachePace: 'short',
      modelRetriesMax: 0,
      troubleMaxMs: 0,
      budget: { sessionUsd: 0, dayUsd: 0 },
    },
  };
}

async function admit(store: Store, name: string): Promise<SessionId> {
  const id = ids.next('ses');
  const inboxId = ids.next('inb');
  const message = { role: 'user', parts: [{ kind: 'text', text: 'say hello' }] } as const;
  const session = { kind: 'by-key', key: `cli:direct:${name}`, id, name, owner: 'owner' } as const;
  await store.admit({
    inboxId,
    channel: 'cli',
    externalId: inboxId,
    sender: 'bench',
    message,
    contents: [],
    target: name,
    session,
    title: '',
    waitingMax: 9,
  });
  return id;
}

/** A gateway starts on a home in which very many sessions were in the middle of a turn. */
function recovery(): Promise<Row[]> {
  return withHome('model: { provider: offline, name: rehearsal-instant }\n', async (home) => {
    mkdirSync(home, { recursive: true });
    await leaveTurnsOpen(join(home, 'state.db'));
    const start = performance.now();
    const gateway = await startGateway(home);
    try {
      const api = createRemoteApi({ origin: gateway.url, key: null });
      while ((await api.status()).turns.done < openSessions) await new Promise((resolve) => setTimeout(resolve, 20));
      return [
        {
          name: `ready with ${openSessions} turns left open by a crash`,
          value: gateway.readyMs,
          unit: 'ms',
          limit: 2_000,
        },
        { name: 'all of them answered', value: performance.now() - start, unit: 'ms' },
      ];
    } finally {
      await gateway.stop();
    }
  });
}

async function leaveTurnsOpen(path: string): Promise<void> {
  const store = await openSqliteStore({ path, clock, log: silentLog, owner, writer: 'thread' });
  await Promise.all(
    Array.from({ length: openSessions }, async (_, index) => {
      const sessionId = await admit(store, `open-${index}`);
      const lease = await store.acquireLease(sessionId, owner, 600_000);
      const waiting = (await store.read.journal(sessionId, 0))?.waiting ?? [];
      if (lease === null) throw new Error('no lease');
      const head = { systemPrompt: 'S', tools: [] };
      await store.commit(lease, [
        { verb: 'freeze-head', reason: 'session-started', head },
        { verb: 'open-turn', turnId: ids.next('trn'), promote: waiting.map(({ id }) => id) },
      ]);
    }),
  );
  await store.close();
}
