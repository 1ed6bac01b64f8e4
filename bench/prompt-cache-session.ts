/**
 * A session on a real gateway that lives through everything that costs other agents their prompt cache: an evicted agent,
 * a restart, a `kill -9` in the middle of a turn, a fallback and the way back, answers with more calls than a mark looks
 * back. What the caches made of it is counted by the model server, from the bytes that it received.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRemoteApi } from '../src/cli/remote-api.ts';
import type { TalariaApi } from '../src/protocol/api.ts';
import type { SessionEvent } from '../src/protocol/events.ts';
import type { PrefixReason } from '../src/protocol/usage.ts';
import type { RequestRecord } from '../test/model-server/request-log.ts';
import { startGateway, withHome, type RunningGateway } from './measure.ts';
import { startModelServerProcess, type ModelServerProcess } from './model-server.ts';

const turnTimeoutMs = 120_000;
const session = 'bench';

/** A provider of a protocol, with a model to fall back to. */
export interface Subject {
  readonly name: string;
  readonly provider: string;
  readonly model: string;
  readonly fallback: string;
  readonly apiMode: string;
  readonly base: string;
}

/** One for each protocol, and one for marks in the envelope of an aggregator. */
export const subjects: readonly Subject[] = [
  {
    name: 'chat completions',
    provider: 'deepseek',
    model: 'deepseek-flash',
    fallback: 'deepseek-other',
    apiMode: 'chat_completions',
    base: '/v1',
  },
  {
    name: 'chat completions with marks',
    provider: 'openrouter',
    model: 'anthropic/claude-sonnet-5.5',
    fallback: 'anthropic/claude-other',
    apiMode: 'chat_completions',
    base: '/v1',
  },
  {
    name: 'responses',
    provider: 'openai',
    model: 'gpt-6.1-sol',
    fallback: 'gpt-other',
    apiMode: 'responses',
    base: '/v1',
  },
  {
    name: 'messages',
    provider: 'anthropic',
    model: 'claude-sonnet-5-5',
    fallback: 'claude-other',
    apiMode: 'anthropic_messages',
    base: '',
  },
];

export interface Plan {
  readonly turns: number;
  /** What happens at which turn, besides the turn itself. */
  readonly trouble: Readonly<Record<number, 'evict' | 'restart' | 'kill' | 'fall-back'>>;
  /** Turns that ask for something of their own. */
  readonly words: Readonly<Record<number, string>>;
}

export interface Lived {
  /** All that the server was asked, without bodies. */
  readonly requests: readonly RequestRecord[];
  readonly evictions: number;
  /** Why prompts did not go on from the one before, as the gateway recorded it, and how often. */
  readonly breaks: ReadonlyMap<PrefixReason, number>;
  /** Turns that ended otherwise than with an answer. */
  readonly failed: number;
}

/** Needs the built program. */
export async function liveThrough(subject: Subject, plan: Plan): Promise<Lived> {
  const server = await startModelServerProcess();
  try {
    return await withHome(configFor(subject, server.url), async (home) => {
      const told = await converse(subject, plan, home, server);
      return { ...told, requests: await server.requests() };
    });
  } finally {
    await server.stop();
  }
}

function configFor({ provider, model, fallback, apiMode, base }: Subject, url: string): string {
  const address = `provider: ${provider}, base_url: ${url}${base}, api_mode: ${apiMode}, api_key: key-of-the-benchmark`;
  return [
    `model: { name: ${model}, ${address} }`,
    `fallback: [{ name: ${fallback}, ${address} }]`,
    'agent: { api_max_retries: 0, reasoning_effort: low }',
    'gateway: { agent_cache: { max_size: 1 } }',
    '',
  ].join('\n');
}

async function converse(
  subject: Subject,
  { turns, trouble, words }: Plan,
  home: string,
  server: ModelServerProcess,
): Promise<Omit<Lived, 'requests'>> {
  let gateway = await startGateway(home);
  let evictions = 0;
  let failed = 0;
  try {
    for (let turn = 1; turn <= turns; turn++) {
      if (trouble[turn] === 'evict') {
        const api = apiOf(gateway);
        await say(api, 'another', 'say something else').closed;
        evictions = (await api.status()).agent_cache.evictions;
      }
      if (trouble[turn] === 'restart') {
        await gateway.stop();
        gateway = await startGateway(home);
      }
      if (trouble[turn] === 'fall-back') await server.inject({ name: 'status-529', model: subject.model, times: 1 });
      const turned = say(apiOf(gateway), session, words[turn] ?? usualWords(turn));
      if (trouble[turn] === 'kill') {
        await kill(gateway, turned);
        gateway = await startGateway(home);
        if ((await closedFrom(apiOf(gateway), await turned.afterSeq)) !== 'answered') failed += 1;
      } else if ((await turned.closed) !== 'answered') failed += 1;
    }
    const breaks = new Map<PrefixReason, number>();
    for (const { prefixBreak } of await apiOf(gateway).modelCalls(session)) {
      if (prefixBreak !== null) breaks.set(prefixBreak, (breaks.get(prefixBreak) ?? 0) + 1);
    }
    return { evictions, breaks, failed };
  } finally {
    await gateway.stop();
  }
}

function usualWords(turn: number): string {
  switch (turn % 5) {
    case 0:
      return `say a few words about turn ${turn}`;
    case 1:
      return `run echo turn ${turn}`;
    case 2:
      return `both run echo left ${turn} and run echo right ${turn}`;
    case 3:
      return `run seq 1 40 then run echo done with ${turn}`;
    default:
      return `write notes-${turn}.txt: what is to be said of turn ${turn} then read notes-${turn}.txt`;
  }
}

function apiOf({ url }: RunningGateway): TalariaApi {
  return createRemoteApi({ origin: url, key: null });
}

interface Saying {
  readonly afterSeq: Promise<number>;
  /** How the turn ended. */
  readonly closed: Promise<string>;
}

function say(api: TalariaApi, name: string, text: string): Saying {
  const receipt = api.send({ session: name, text, externalId: randomUUID(), channel: 'cli' });
  const afterSeq = receipt.then((sent) => sent.afterSeq);
  const closed = afterSeq.then((seq) => closedFrom(api, seq, name));
  // The gateway may be killed before anybody looks.
  closed.catch(() => {});
  return { afterSeq, closed };
}

async function closedFrom(api: TalariaApi, after: number, name = session): Promise<string> {
  const event = await seen(api, after, (entry) => entry.kind === 'turn-closed', name);
  return event.kind === 'turn-closed' ? event.outcome : '';
}

type StoredEntry = Extract<SessionEvent, { kind: 'entry' }>['entry'];

async function seen(
  api: TalariaApi,
  after: number,
  isIt: (entry: StoredEntry) => boolean,
  name = session,
): Promise<StoredEntry> {
  const done = new AbortController();
  const limit = AbortSignal.any([done.signal, AbortSignal.timeout(turnTimeoutMs)]);
  try {
    for await (const event of api.events(name, after, limit)) {
      if (event.kind === 'entry' && isIt(event.entry)) return event.entry;
    }
    throw new Error('the turn did not come to its end in time');
  } finally {
    done.abort();
  }
}

/** In the middle of the first call: its start is stored and nobody knows its end. */
async function kill(gateway: RunningGateway, { afterSeq }: Saying): Promise<void> {
  const isAnswer = (entry: StoredEntry) => entry.kind === 'message' && entry.message.role === 'assistant';
  await seen(apiOf(gateway), await afterSeq, isAnswer);
  await sleep(100);
  const ended = once(gateway.child, 'exit');
  gateway.child.kill('SIGKILL');
  await ended;
}
