/**
 * The contract of a model as tests. Every implementation runs them: one request, one stream, exactly one end, never an
 * exception, and soon after an abort a `cancelled`.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Model, ModelEvent, ModelRequest } from './model.ts';

export interface ModelUnderTest {
  /** A model that answers `request` with several pieces of text before it ends. */
  readonly create: () => Model;
  readonly request: ModelRequest;
}

export function modelSuite(name: string, { create, request }: ModelUnderTest): void {
  describe(`${name} keeps the contract of a model`, () => {
    test('a stream ends in exactly one terminal event, and it is the last', async () => {
      const events = await collect(create().stream(request, new AbortController().signal));
      assert.deepEqual(events.filter(isTerminal), [events.at(-1)]);
      assert.equal(events.at(-1)?.kind, 'end');
    });

    test('the text arrives in pieces', async () => {
      const events = await collect(create().stream(request, new AbortController().signal));
      assert.ok(events.filter((event) => event.kind === 'text-delta').length > 1);
    });

    test('usage is counted in whole tokens that fit together', async () => {
      const end = (await collect(create().stream(request, new AbortController().signal))).at(-1);
      assert.ok(end?.kind === 'end');
      const { inputTokens, cachedTokens, outputTokens, reasoningTokens } = end.usage;
      for (const tokens of [inputTokens, cachedTokens, outputTokens, reasoningTokens]) {
        assert.ok(Number.isInteger(tokens) && tokens >= 0);
      }
      assert.ok(cachedTokens <= inputTokens && reasoningTokens <= outputTokens);
    });

    test('aborted before it starts, a stream says only that it was cancelled', async () => {
      const events = await collect(create().stream(request, AbortSignal.abort()));
      assert.deepEqual(events.map(kindOf), ['cancelled']);
    });

    test('aborted in the middle, a stream says nothing more than that it was cancelled', async () => {
      const stop = new AbortController();
      const events: ModelEvent[] = [];
      for await (const event of create().stream(request, stop.signal)) {
        events.push(event);
        stop.abort();
      }
      assert.deepEqual(events.map(kindOf), [kindOf(events[0]), 'cancelled']);
    });

    test('aborted while it waits, a stream ends without waiting on', async () => {
      const stop = new AbortController();
      const iterator = create().stream(request, stop.signal)[Symbol.asyncIterator]();
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
      for await (const event of create().stream(request, new AbortController().signal)) {
        assert.ok(event);
        break;
      }
    });

    test('the same model serves several streams at once', async () => {
      const model = create();
      const run = () => collect(model.stream(request, new AbortController().signal));
      const streams = await Promise.all([run(), run(), run()]);
      for (const events of streams) assert.deepEqual(events.filter(isTerminal).length, 1);
    });

    test('the request is left as it was', async () => {
      const before = structuredClone(request);
      await collect(create().stream(request, new AbortController().signal));
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
