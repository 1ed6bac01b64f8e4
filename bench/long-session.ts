/**
 * One conversation of 10,000 messages, shortened as often as it must be: what a turn costs at its end against one
 * of a young session, what a prompt has, and what all of it takes on disk. Every tenth turn runs a tool with a long result.
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { RuntimeChain } from '../src/agent/runtime-chain.ts';
import { RuntimeClients } from '../src/agent/runtime-clients.ts';
import { runSession, type SessionAgent } from '../src/agent/run-session.ts';
import { systemClock } from '../src/lib/clock.ts';
import { createIdSource } from '../src/lib/ids.ts';
import { silentLog } from '../src/lib/log.ts';
import { systemRandom } from '../src/lib/random.ts';
import type { ModelEvent, ModelRequest } from '../src/models/model.ts';
import { plainUnits } from '../src/models/plain-units.ts';
import { scriptedRuntime } from '../src/models/scripted-model.ts';
import type { SessionId } from '../src/protocol/ids.ts';
import { openSqliteStore } from '../src/store/sqlite/sqlite-store.ts';
import type { Store } from '../src/store/store.ts';
import { median, quantile, withHome, type Row } from './measure.ts';

const messages = Number(process.env['TALARIA_BENCH_MESSAGES'] ?? 10_000);
const turns = messages / 2;
/** Turns at the end that are held against those of a young session. */
const compared = Math.min(300, turns / 2);
const warmUp = 100;
const thresholdTokens = 20_000;
const words = 'The quick brown fox jumps over the lazy dog and says what it thinks of it. '.repeat(5);
const clock = systemClock;
const random = systemRandom;
const ids = createIdSource({ clock, random });
const owner = ids.next('nod');

interface Seen {
  compressions: number;
  bytes: number[];
}

export async function benchLongSession(): Promise<Row[]> {
  return withHome('', async (home) => {
    const path = join(home, 'state.db');
    const store = await openSqliteStore({ path, clock, log: silentLog, owner, writer: 'thread' });
    try {
      const long = new Conversation(store, 'long');
      const young = new Conversation(store, 'young');
      for (let turn = 0; turn < turns - compared; turn += 1) await long.turn();
      for (let turn = 0; turn < warmUp; turn += 1) await young.turn();
      // They take turns, so that a noisy moment hits both.
      const times = { long: [] as number[], young: [] as number[] };
      for (let turn = 0; turn < compared; turn += 1) {
        times.young.push(await young.turn());
        times.long.push(await long.turn());
      }
      const { prefixBreaks } = await store.read.totals();
      return rowsOf(times, long.seen, statSync(path).size, prefixBreaks);
    } finally {
      await store.close();
    }
  });
}

/** A session that is told something again and again. */
class Conversation {
  readonly seen: Seen = { compressions: 0, bytes: [] };
  readonly #agent = talkingAgent(this.seen);
  readonly #id = ids.next('ses');
  readonly #store: Store;
  readonly #name: string;
  #turns = 0;

  constructor(store: Store, name: string) {
    this.#store = store;
    this.#name = name;
  }

  /** How long it took, in milliseconds. */
  async turn(): Promise<number> {
    const start = performance.now();
    await admit(this.#store, this.#id, this.#name, this.#turns++);
    await run(this.#store, this.#id, this.#agent);
    return performance.now() - start;
  }
}

interface Times {
  readonly long: readonly number[];
  readonly young: readonly number[];
}

function rowsOf({ long, young }: Times, { compressions, bytes }: Seen, stored: number, breaks: number): Row[] {
  const [first, last] = [median(young), median(long)];
  return [
    { name: 'a turn of a session that is young', value: first, unit: 'ms' },
    { name: `a turn at the end of ${messages} messages`, value: last, unit: 'ms', ratio: last / first, limit: 1.5 },
    { name: 'the slowest hundredth at the end', value: quantile(long, 0.99), unit: 'ms' },
    { name: 'compressions', value: compressions, unit: '' },
    {
      name: 'the longest prompt',
      value: Math.max(...bytes) / 1_024,
      unit: 'KB',
      limit: (thresholdTokens * 4.4) / 1_024,
    },
    { name: 'prompts that broke their prefix for no reason', value: breaks, unit: '', limit: 0 },
    { name: 'stored', value: stored / 1_048_576, unit: 'MB' },
  ];
}

async function run(store: Store, sessionId: SessionId, agent: SessionAgent): Promise<void> {
  const lease = await store.acquireLease(sessionId, owner, 600_000);
  if (lease === null) throw new Error('no lease');
  const action = new AbortController().signal;
  const control = { leaving: action, nextAction: () => action };
  await runSession({ store, clock, ids, random, log: silentLog, publish: () => {} }, agent, lease, control);
  await store.releaseLease(lease);
}

function talkingAgent(seen: Seen): SessionAgent {
  const answer = ({ systemPrompt, messages: sent }: ModelRequest, body: string): ModelEvent[] => {
    const usage = {
      inputTokens: Math.ceil(body.length / 4),
      cachedTokens: 0,
      cacheWriteTokens: 0,
      outputTokens: 100,
      reasoningTokens: 0,
    };
    const end = { kind: 'end', stop: 'answer', usage, usd: 0 } as const;
    if (systemPrompt.startsWith('You keep')) {
      seen.compressions += 1;
      return [{ kind: 'text-delta', text: `## Goal\nto talk\n${words}` }, end];
    }
    seen.bytes.push(body.length);
    const last = sent.at(-1)?.parts[0];
    if (last?.kind !== 'text' || !last.text.includes('look it up')) return [{ kind: 'text-delta', text: words }, end];
    return [
      { kind: 'tool-call', providerCallId: 'x', name: 'look', arguments: '{}' },
      { ...end, stop: 'tool-calls' },
    ];
  };
  const clients = new RuntimeClients(async () => ({
    prepare: (request) => ({ request, units: plainUnits(request), body: JSON.stringify(request.messages) }),
    async *stream({ request, body }) {
      yield* answer(request, body);
    },
    close() {},
  }));
  const compressor = { provider: 'scripted', model: 'script', contextLength: 100_000, thresholdTokens };
  return {
    agent: {
      chain: new RuntimeChain([scriptedRuntime({ compressor })], clients),
      clients,
      titler: null,
      judge: null,
      tools: {
        get: () => ({
          definition: { name: 'look', description: '', parameters: {} },
          effect: 'read',
          replay: 'safe',
          parse: (value) => ({ ok: true, value }),
          run: () => Promise.resolve({ kind: 'finished', text: words.repeat(8) }),
        }),
      },
      workspace: '/',
      spoolFolder: () => '/',
      keepResult: () => Promise.reject(new Error('nothing here is long')),
      headTools: { tools: [] },
      buildHead: () => Promise.resolve({ systemPrompt: 'S', tools: [] }),
    },
    settings: {
      limits: { modelCallsMax: 10, crashesMax: 3, joinWaiting: true, namesSessions: false },
      effort: null,
      cachePace: 'short',
      modelRetriesMax: 0,
      troubleMaxMs: 0,
      budget: { sessionUsd: 0, dayUsd: 0 },
    },
  };
}

async function admit(store: Store, id: SessionId, name: string, turn: number): Promise<void> {
  const inboxId = ids.next('inb');
  const text = turn % 10 === 9 ? `look it up: ${turn}` : `${turn}: ${words}`;
  await store.admit({
    inboxId,
    channel: 'cli',
    externalId: inboxId,
    sender: 'bench',
    message: { role: 'user', parts: [{ kind: 'text', text }] },
    contents: [],
    target: name,
    session: { kind: 'by-key', key: `cli:direct:${name}`, id, name, owner: 'owner' },
    title: '',
    waitingMax: 9,
  });
}
