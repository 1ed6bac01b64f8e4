/**
 * What a model call costs over bare `fetch`, beside what the official clients cost: all subjects ask the same server for the
 * same streamed answer and take turns. Ours begins with the conversation, `fetch` with ready bytes.
 */
import { systemClock } from '../src/lib/clock.ts';
import { buildRuntime } from '../src/models/build-runtime.ts';
import type { ModelRequest, Runtime } from '../src/models/model.ts';
import { createOpenModel } from '../src/models/open-model.ts';
import type { CallId } from '../src/protocol/ids.ts';
import type { Message } from '../src/protocol/messages.ts';
import { median, type Row } from './measure.ts';
import { startModelServerProcess } from './model-server.ts';

const rounds = 150;
const warmUpRounds = 15;
const answerChars = 2_400;
const historyTurns = 60;
const firstTokenLimitMs = 2;

interface Timing {
  readonly firstMs: number;
  readonly wholeMs: number;
}

interface Subject {
  readonly name: string;
  call(): Promise<Timing>;
}

const apis = [
  { provider: 'openai', apiMode: 'chat_completions', base: '/v1', path: '/v1/chat/completions', sdk: 'openai' },
  { provider: 'openai', apiMode: 'responses', base: '/v1', path: '/v1/responses', sdk: 'openai' },
  { provider: 'anthropic', apiMode: 'anthropic_messages', base: '', path: '/v1/messages', sdk: '@anthropic-ai/sdk' },
] as const;
type Api = (typeof apis)[number];

export async function benchModelCall(): Promise<Row[]> {
  const server = await startModelServerProcess();
  try {
    const rows: Row[] = [];
    for (const api of apis) rows.push(...(await benchApi(api, server.url)));
    return rows;
  } finally {
    await server.stop();
  }
}

async function benchApi(api: Api, url: string): Promise<Row[]> {
  const runtime = buildRuntime(
    {
      provider: api.provider,
      name: 'scripted',
      baseUrl: url + api.base,
      apiMode: api.apiMode,
      apiKeys: ['key-of-the-benchmark'],
      contextLength: null,
      outputTokensMax: null,
      stallMs: null,
      price: null,
      compressor: null,
    },
    {},
  );
  const rows: Row[] = [];
  for (const [size, request] of [
    ['short', conversation(0)],
    ['long', conversation(historyTurns)],
  ] as const) {
    const ours = await ourSubject(runtime, request);
    const bytes = await bareSubject(api, url, runtime, request);
    const sdk = await sdkSubject(api, url, ours.body);
    const subjects = [bytes, ours, sdk];
    const times = await taken(subjects);
    ours.close();
    const at = (name: string) => times.get(name) ?? { firstMs: Number.NaN, wholeMs: Number.NaN };
    const title = `${api.apiMode.split('_')[0]}, ${size} prompt`;
    const bare = at(bytes.name);
    rows.push({ name: `${title}: fetch`, value: bare.wholeMs, unit: 'ms' });
    const whole = at(ours.name).wholeMs;
    rows.push({ name: `${title}: ours`, value: whole, unit: 'ms', ratio: whole / bare.wholeMs });
    const official = at(sdk.name).wholeMs;
    rows.push({ name: `${title}: ${api.sdk}`, value: official, unit: 'ms', ratio: official / bare.wholeMs });
    const added = at(ours.name).firstMs - bare.firstMs;
    rows.push({ name: `${title}: first token later by`, value: added, unit: 'ms', limit: firstTokenLimitMs });
  }
  return rows;
}

/** Medians; the subjects take turns, in changing order. */
async function taken(subjects: readonly Subject[]): Promise<Map<string, Timing>> {
  const all = new Map(subjects.map(({ name }) => [name, [] as Timing[]]));
  for (let round = 0; round < warmUpRounds + rounds; round++) {
    const order = round % 2 === 0 ? subjects : subjects.toReversed();
    for (const subject of order) {
      const timing = await subject.call();
      if (round >= warmUpRounds) all.get(subject.name)?.push(timing);
    }
  }
  return new Map(
    [...all].map(([name, timings]) => {
      const firstMs = median(timings.map((timing) => timing.firstMs));
      return [name, { firstMs, wholeMs: median(timings.map((timing) => timing.wholeMs)) }];
    }),
  );
}

/** Times a stream of pieces: the first that carries text, and the end. */
async function timed(stream: () => Promise<AsyncIterable<boolean>>): Promise<Timing> {
  const start = performance.now();
  let firstMs = Number.NaN;
  for await (const hasText of await stream()) {
    if (hasText && Number.isNaN(firstMs)) firstMs = performance.now() - start;
  }
  return { firstMs, wholeMs: performance.now() - start };
}

async function ourSubject(runtime: Runtime, request: ModelRequest) {
  const model = await createOpenModel({ clock: systemClock, env: {} })(runtime);
  const never = new AbortController().signal;
  const call = () =>
    timed(async function () {
      return (async function* () {
        let last = '';
        for await (const event of model.stream(model.prepare(request), runtime.keys[0], never)) {
          last = event.kind === 'failed' ? event.error.message : event.kind;
          yield event.kind === 'text-delta';
        }
        if (last !== 'end') throw new Error(last);
      })();
    });
  return { name: 'ours', call, body: model.prepare(request).body, close: () => model.close() };
}

/** Reads the bytes and looks for the first that carry text, no more. */
async function bareSubject(api: Api, url: string, runtime: Runtime, request: ModelRequest): Promise<Subject> {
  const model = await createOpenModel({ clock: systemClock, env: {} })(runtime);
  const { body } = model.prepare(request);
  model.close();
  const key = runtime.keys[0].secret;
  const headers = {
    'content-type': 'application/json',
    authorization: `Bearer ${key}`,
    'x-api-key': key,
    'anthropic-version': '2023-06-01',
  };
  return {
    name: 'fetch',
    call: () =>
      timed(async () => {
        const answer = await fetch(url + api.path, { method: 'POST', headers, body });
        if (!answer.ok || answer.body === null) throw new Error(await answer.text());
        const chunks = answer.body as AsyncIterable<Uint8Array>;
        return (async function* () {
          for await (const chunk of chunks) yield Buffer.from(chunk).includes('word1');
        })();
      }),
  };
}

/** The official client of the provider, with the same body. */
async function sdkSubject(api: Api, url: string, body: string): Promise<Subject> {
  const options = { apiKey: 'key-of-the-benchmark', baseURL: url + api.base, maxRetries: 0 };
  const create = await creatorOf(api, options, JSON.parse(body) as never);
  return {
    name: api.sdk,
    call: () =>
      timed(async () => {
        const stream = await create();
        return (async function* () {
          for await (const event of stream) yield JSON.stringify(event).includes('word1');
        })();
      }),
  };
}

async function creatorOf(
  { apiMode }: Api,
  options: { apiKey: string; baseURL: string; maxRetries: number },
  body: never,
): Promise<() => PromiseLike<AsyncIterable<unknown>>> {
  if (apiMode === 'anthropic_messages') {
    const { default: Anthropic } = await import('@anthropic-ai/sdk');
    const client = new Anthropic(options);
    return () => client.messages.create(body) as PromiseLike<unknown> as PromiseLike<AsyncIterable<unknown>>;
  }
  const { default: OpenAI } = await import('openai');
  const client = new OpenAI(options);
  const create = () => (apiMode === 'responses' ? client.responses.create(body) : client.chat.completions.create(body));
  return () => create() as PromiseLike<unknown> as PromiseLike<AsyncIterable<unknown>>;
}

/** A conversation with so many turns of a call and an answer before its last words. */
function conversation(turns: number): ModelRequest {
  const messages = Array.from({ length: turns }, (_, index): Message[] => {
    const callId = `cal_${String(index).padStart(26, '0')}` as CallId;
    const call = { kind: 'tool-call', callId, name: 'terminal', arguments: `{"command":"make ${index}"}` } as const;
    const output = `line ${index} of what the command has printed, and more of it\n`.repeat(20);
    return [
      { role: 'user', parts: [{ kind: 'text', text: `run make ${index}` }] },
      { role: 'assistant', parts: [call] },
      { role: 'tool', parts: [{ kind: 'tool-result', callId, outcome: 'finished', text: output }] },
      { role: 'assistant', parts: [{ kind: 'text', text: 'It is made.' }] },
    ];
  }).flat();
  return {
    systemPrompt: 'You are a helpful agent.\n'.repeat(100),
    tools: [
      {
        name: 'terminal',
        description: 'Runs a command.',
        parameters: { type: 'object', properties: { command: { type: 'string' } }, required: ['command'] },
      },
    ],
    messages: [...messages, { role: 'user', parts: [{ kind: 'text', text: `long ${answerChars}` }] }],
    effort: null,
    cacheKey: 'benchmark',
    cachePace: 'short',
    contents: new Map(),
  };
}
