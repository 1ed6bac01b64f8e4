import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import { systemClock } from '../../lib/clock.ts';
import { FakeClock } from '../../lib/fake-clock.ts';
import type { Model, ModelEvent, ModelRequest } from '../model.ts';
import { collect, modelSuite } from '../model-suite.ts';
import { testRequest } from '../scripted-model.ts';
import { chunksOf, createOfflineModel } from './offline-model.ts';
import { offlineRuntime } from './offline-runtime.ts';
import { rehearsalNotice } from './topics.ts';

const terminal = { name: 'terminal', description: 'Runs a command.', parameters: {} };

function ask(text: string): ModelRequest {
  return testRequest({
    systemPrompt: 'You are Talaria.',
    tools: [terminal],
    messages: [{ role: 'user', parts: [{ kind: 'text', text }] }],
  });
}

for (const name of ['rehearsal', 'rehearsal-instant'] as const) {
  modelSuite(`the offline model ${name}`, {
    create: () => createOfflineModel({ clock: systemClock, name }),
    request: ask('hello'),
    key: offlineRuntime(name).keys[0],
  });
}

const never = new AbortController().signal;
const [key] = offlineRuntime('rehearsal').keys;
const stream = (model: Model, request: ModelRequest, signal = never) =>
  model.stream(model.prepare(request), key, signal);
const spoken = (events: readonly ModelEvent[]) =>
  events.map((event) => (event.kind === 'text-delta' ? event.text : '')).join('');

test('the instant rehearsal sets no timer', async () => {
  const clock = new FakeClock();
  const events = await collect(stream(createOfflineModel({ clock, name: 'rehearsal-instant' }), ask('hello')));
  assert.equal(spoken(events), `Hello! Ask me \`what can you do\`, or try \`run ls -la\`.\n\n${rehearsalNotice}`);
  assert.equal(clock.pendingTimers, 0);
});

/** When each piece of the answer came, counted from the question. */
async function timesOf(text: string): Promise<number[]> {
  const clock = new FakeClock();
  const start = clock.now();
  const times: number[] = [];
  const reading = (async () => {
    for await (const event of stream(createOfflineModel({ clock, name: 'rehearsal' }), ask(text))) {
      if (event.kind === 'text-delta') times.push(clock.now() - start);
    }
  })();
  await clock.advance(1_000);
  await reading;
  return times;
}

test('the rehearsal speaks at the pace of a quick model, and slowly if asked to', async () => {
  assert.deepEqual(await timesOf('echo one two three four five six'), [2, 4]);
  assert.deepEqual(await timesOf('echo slowly two three four five six'), [150, 300]);
});

test('a stop in a slow answer ends it at once', async () => {
  const clock = new FakeClock();
  const stop = new AbortController();
  const model = createOfflineModel({ clock, name: 'rehearsal' });
  const events = collect(stream(model, ask('count to 30 slowly'), stop.signal));
  await clock.advance(450);
  stop.abort();
  const kinds = (await events).map((event) => event.kind);
  assert.deepEqual(kinds, ['text-delta', 'text-delta', 'text-delta', 'failed']);
  assert.equal(clock.pendingTimers, 0);
});

test('a call comes whole, with an id that differs within the request', async () => {
  const model = createOfflineModel({ clock: systemClock, name: 'rehearsal-instant' });
  const events = await collect(stream(model, ask('run date and run uptime at once')));
  assert.deepEqual(events.slice(0, -1), [
    { kind: 'tool-call', providerCallId: 'offline_1_0', name: 'terminal', arguments: '{"command":"date"}' },
    { kind: 'tool-call', providerCallId: 'offline_1_1', name: 'terminal', arguments: '{"command":"uptime"}' },
  ]);
  const end = events.at(-1);
  assert.ok(end?.kind === 'end' && end.stop === 'tool-calls');
});

test('reasoning is streamed before the answer and closed', async () => {
  const model = createOfflineModel({ clock: systemClock, name: 'rehearsal-instant' });
  const kinds = (await collect(stream(model, ask('think about tea')))).map((event) => event.kind);
  const order = kinds.filter((kind, index) => kind !== kinds[index - 1]);
  assert.deepEqual(order, ['reasoning-delta', 'reasoning-end', 'text-delta', 'end']);
});

test('usage counts four characters to a token, and the request before as cached', async () => {
  const model = createOfflineModel({ clock: systemClock, name: 'rehearsal-instant' });
  const usageOf = async (request: ModelRequest) => {
    const end = (await collect(stream(model, request))).at(-1);
    assert.ok(end?.kind === 'end');
    assert.equal(end.usd, 0);
    return end.usage;
  };
  const first: ModelRequest = { ...ask('echo hello'), systemPrompt: 'x'.repeat(90), tools: [] };
  // 90 of prompt, 2 of the empty tool list, 10 of the message.
  assert.deepEqual(await usageOf(first), {
    inputTokens: 26,
    cachedTokens: 0,
    cacheWriteTokens: 0,
    outputTokens: 2,
    reasoningTokens: 0,
  });
  const second: ModelRequest = {
    ...first,
    messages: [
      ...first.messages,
      { role: 'assistant', parts: [{ kind: 'text', text: 'hello' }] },
      { role: 'user', parts: [{ kind: 'text', text: 'echo a' }] },
    ],
  };
  const { inputTokens, cachedTokens } = await usageOf(second);
  assert.deepEqual({ inputTokens, cachedTokens }, { inputTokens: 29, cachedTokens: 26 });
});

test('chunks are a few words long and joined they are the text', () => {
  assert.deepEqual(chunksOf('one two three four'), ['one two three ', 'four']);
  assert.deepEqual(chunksOf(''), []);
  const texts = fc.string({ unit: fc.constantFrom('a', 'word', ' ', '\n', '😀', '\t'), maxLength: 400, size: 'max' });
  fc.assert(
    fc.property(texts, (text) => {
      const chunks = chunksOf(text);
      assert.equal(chunks.join(''), text);
      assert.ok(chunks.every((chunk) => chunk !== '' && chunk.isWellFormed()));
    }),
  );
});

test('a very long answer does not come in endless small pieces', () => {
  for (const text of ['word '.repeat(200_000), 'x'.repeat(1_000_000), ' '.repeat(1_000_000)]) {
    const chunks = chunksOf(text);
    assert.ok(chunks.length <= 2_000);
    assert.equal(chunks.join(''), text);
  }
});
