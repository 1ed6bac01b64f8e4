/**
 * The contract of a model as tests. Every implementation runs them: one request, one stream, exactly one end, never an
 * exception, and soon after an abort a `cancelled`.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ApiKey, Model, ModelEvent, ModelRequest } from './model.ts';

export interface ModelUnderTest {
  /** A model that answers `request` with several pieces of text before it ends. */
  readonly create: () => Model;
  readonly request: ModelRequest;
  readonly key: ApiKey;
}

export function modelSuite(name: string, { create, request, key }: ModelUnderTest): void {
  const start = (model: Model, signal: AbortSignal) => model.stream(model.prepare(request), key, signal);

  describe(`${name} keeps the contract of a model`, () => {
    test('a stream ends in exactly one terminal event, and it is the last', async () => {
      const events = await collect(start(create(), new AbortController().signal));
      assert.deepEqual(events.filter(isTerminal), [events.at(-1)]);
      assert.equal(events.at(-1)?.kind, 'end');
    });

    test('the text arrives in pieces', async () => {
      const events = await collect(start(create(), new AbortController().signal));
      assert.ok(events.filter((event) => event.kind === 'text-delta').length > 1);
    });

    test('usage is counted in whole tokens that fit together', async () => {
      const end = (await collect(start(create(), new AbortController().signal))).at(-1);
      assert.ok(end?.kind === 'end');
      const { inputTokens, cachedTokens, cacheWriteTokens, outputTokens, reasoningTokens } = end.usage;
      for (const tokens of [inputTokens, cachedTokens, cacheWriteTokens, outputTokens, reasoningTokens]) {
        assert.ok(Number.isInteger(tokens) && tokens >= 0);
      }
      assert.ok(cachedTokens + cacheWriteTokens <= inputTokens && reasoningTokens <= outputTokens);
      assert.ok(end.usd === null || end.usd >= 0);
    });

    test('aborted before it starts, a stream says only that it was cancelled', async () => {
      const events = await collect(start(create(), AbortSignal.abort()));
      assert.deepEqual(events.map(kindOf), ['cancelled']);
    });

    test('aborted in the middle, a stream says nothing more than that it was cancelled', async () => {
      const stop = new AbortController();
      const events: ModelEvent[] = [];
      for await (const event of start(create(), stop.signal)) {
        events.push(event);
        stop.abort();
      }
      assert.deepEqual(events.map(kindOf), [kindOf(events[0]), 'cancelled']);
    });

    test('aborted while it waits, a stream ends without waiting on', async () => {
      const stop = new AbortController();
      const iterator = start(create(), stop.signal)[Symbol.asyncIterator]();
      await iterator.next();
      const next = iterator.next();
      stop.abort();
      const rest: ModelEvent[] = [];
      for (let result = await next; result.done !== true; result = await iterator.next()) rest.push(result.value);
      // What was under way when the abort came may still arrive.
      assert.equal(kindOf(rest.at(-1)), 'cancelled');
      assert.ok(rest.length <= 2);
    });

    test('one who stops listening leaves nothing behind', async () => {
      for await (const event of start(create(), new AbortController().signal)) {
        assert.ok(event);
        break;
      }
    });

    test('the same model serves several streams at once', async () => {
      const model = create();
      const run = () => collect(start(model, new AbortController().signal));
      const streams = await Promise.all([run(), run(), run()]);
      for (const events of streams) assert.deepEqual(events.filter(isTerminal).length, 1);
    });

    test('preparing a request twice gives the same bytes', () => {
      const [one, other] = [create(), create()].map((model) => model.prepare(structuredClone(request)));
      assert.deepEqual(one, other);
    });

    test('a conversation that grows only appends units', () => {
      const model = create();
      const { units } = model.prepare(request);
      const messages: ModelRequest['messages'] = [
        ...request.messages,
        { role: 'assistant', parts: [{ kind: 'text', text: 'Yes?' }] },
        { role: 'user', parts: [{ kind: 'text', text: 'Never mind.' }] },
      ];
      const grown = model.prepare({ ...request, messages }).units;
      assert.ok(grown.length > units.length);
      assert.deepEqual(grown.slice(0, units.length), units);
    });

    test('closed, a model fails what is under way and what comes after, and may be closed again', async () => {
      const model = create();
      const iterator = start(model, new AbortController().signal)[Symbol.asyncIterator]();
      await iterator.next();
      model.close();
      const rest: ModelEvent[] = [];
      for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) rest.push(next.value);
      assert.deepEqual(rest.map(kindOf), ['connection']);
      assert.deepEqual((await collect(start(model, new AbortController().signal))).map(kindOf), ['connection']);
      model.close();
    });

    test('the request is left as it was', async () => {
      const before = structuredClone(request);
      await collect(start(create(), new AbortController().signal));
      assert.deepEqual(request, before);
    });
  });
}

export async function collect(stream: AsyncIterable<ModelEvent>): Promise<ModelEvent[]> {
  const events: ModelEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

function isTerminal(event: ModelEvent): boolean {
  return event.kind === 'end' || event.kind === 'failed';
}

/** A failure by its reason, anything else by its kind. */
function kindOf(event: ModelEvent | undefined): string | undefined {
  return event?.kind === 'failed' ? event.error.reason : event?.kind;
}
