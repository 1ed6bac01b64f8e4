import assert from 'node:assert/strict';
import test from 'node:test';
import { ModelError, type Model, type ModelEvent, type ModelRequest } from './model.ts';
import { collect, modelSuite } from './model-suite.ts';
import {
  callsTools,
  createGate,
  createScriptedModel,
  says,
  scriptedRuntime,
  scriptedUsage,
  testKey,
  testRequest,
} from './scripted-model.ts';

const request = testRequest();
const never = new AbortController().signal;
const ask = (model: Model, signal = never) => model.stream(model.prepare(request), testKey, signal);

const pieces: ModelEvent[] = ['one ', 'two ', 'three'].map((text) => ({ kind: 'text-delta', text }));
modelSuite('the scripted model', {
  create: () => createScriptedModel({ responses: [pieces, pieces, pieces] }),
  request,
  key: testKey,
});

test('responses are played in order, and end by themselves', async () => {
  const model = createScriptedModel({
    responses: [says('first'), () => callsTools({ name: 'terminal', arguments: { command: 'ls' } })],
  });
  assert.deepEqual(await collect(ask(model)), [
    { kind: 'text-delta', text: 'first' },
    { kind: 'end', stop: 'answer', usage: scriptedUsage, usd: null },
  ]);
  assert.deepEqual(await collect(ask(model)), [
    { kind: 'tool-call', providerCallId: 'call_1', name: 'terminal', arguments: '{"command":"ls"}' },
    { kind: 'end', stop: 'tool-calls', usage: scriptedUsage, usd: null },
  ]);
});

test('a response can be made from the request', async () => {
  const model = createScriptedModel({ responses: [(asked) => says(asked.systemPrompt)] });
  assert.deepEqual((await collect(ask(model)))[0], { kind: 'text-delta', text: 'You are a test.' });
});

test('a scripted failure is the end, and nothing follows a terminal event', async () => {
  const error = new ModelError('overloaded', 'busy');
  const model = createScriptedModel({ responses: [[{ kind: 'failed', error }, ...says('too late')]] });
  assert.deepEqual(await collect(ask(model)), [{ kind: 'failed', error }]);
});

test('a request beyond the script, or a script that throws, is a failure and no exception', async () => {
  const model = createScriptedModel({
    responses: [
      () => {
        throw new Error('oops');
      },
    ],
  });
  const failure = (message: string) => [
    { kind: 'failed', error: new ModelError('unknown', message, { retryable: false }) },
  ];
  assert.deepEqual(await collect(ask(model)), failure('oops'));
  assert.deepEqual(await collect(ask(model)), failure('the script has no response to request 2'));
});

test('requests are kept as they were, whatever happens to them later', async () => {
  const model = createScriptedModel({ responses: [says('a')] });
  const messages: ModelRequest['messages'][number][] = [...request.messages];
  await collect(model.stream(model.prepare({ ...request, messages }), testKey, never));
  messages.length = 0;
  assert.deepEqual(model.requests, [request]);
  const [kept] = model.requests;
  for (const value of [
    kept,
    kept?.messages,
    kept?.messages[0],
    kept?.messages[0]?.parts,
    kept?.messages[0]?.parts[0],
  ]) {
    assert.ok(Object.isFrozen(value) && typeof value === 'object');
  }
});

test('a gate holds the stream until it is opened', async () => {
  const gate = createGate();
  const model = createScriptedModel({ responses: [[...says('before'), gate, ...says('after')]] });
  const seen: string[] = [];
  const reading = (async () => {
    for await (const event of ask(model)) seen.push(event.kind === 'text-delta' ? event.text : event.kind);
  })();
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(seen, ['before']);
  gate.open();
  await reading;
  assert.deepEqual(seen, ['before', 'after', 'end']);
});

test('an abort ends a stream that waits at a gate', async () => {
  const stop = new AbortController();
  const model = createScriptedModel({ responses: [[...says('before'), createGate(), ...says('after')]] });
  const events: ModelEvent[] = [];
  for await (const event of ask(model, stop.signal)) {
    events.push(event);
    setImmediate(() => stop.abort());
  }
  assert.deepEqual(events, [
    { kind: 'text-delta', text: 'before' },
    { kind: 'failed', error: new ModelError('cancelled', 'The answer was stopped.') },
  ]);
});

test('which keys were used and how often it was closed can be asked', async () => {
  const model = createScriptedModel({ responses: [says('a')] });
  await collect(ask(model));
  assert.deepEqual([model.keyIds, model.closeCount], [['test-key'], 0]);
  model.close();
  model.close();
  assert.equal(model.closeCount, 2);
});

test('a runtime for tests can be another one in every field', () => {
  assert.deepEqual(scriptedRuntime({ model: 'other' }), { ...scriptedRuntime(), model: 'other' });
});
