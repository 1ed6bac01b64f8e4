import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { efforts } from '../../../protocol/usage.ts';
import { anthropicMessages } from './anthropic-messages.ts';
import { anthropicProblems } from './test-anthropic-rules.ts';
import { conversations, requestsOf } from '../test-journals.ts';
import { oddEvents } from '../test-odd-events.ts';
import { decodeAll, echoTool, testRequest, testRuntime } from '../test-runtime.ts';

const contents = new Map([['known', Uint8Array.of(1, 2, 3)]]);
const settings = fc.record({
  effort: fc.constantFrom(null, ...efforts),
  cachePace: fc.constantFrom('short' as const, 'long' as const),
  tools: fc.constantFrom([echoTool], [], [{ name: 'a.b', description: '', parameters: {} }, echoTool]),
  systemPrompt: fc.constantFrom('Be kind.', '', '\ud800'),
});
// Every other model's thinking is told in the older form here, the one with more rules.
const runtimes = fc
  .record({
    caching: fc.constantFrom('breakpoints' as const, 'none' as const),
    seesImages: fc.boolean(),
    reasons: fc.boolean(),
    isToken: fc.boolean(),
  })
  .map(({ isToken, ...rest }) =>
    testRuntime({ provider: 'test', model: 'model', keys: [{ id: 'k', secret: 's', oauth: isToken }], ...rest }),
  );

test('every conversation becomes a request that the API accepts', () => {
  fc.assert(
    fc.property(runtimes, conversations, settings, (runtime, messages, changes) => {
      for (const request of [messages, ...requestsOf(messages)]) {
        const { body } = anthropicMessages.encode(runtime, testRequest(request, { contents, ...changes }));
        assert.deepEqual(anthropicProblems(body), []);
      }
    }),
  );
});

test('a longer conversation begins with the units of the shorter one, and only says more', () => {
  fc.assert(
    fc.property(runtimes, conversations, settings, (runtime, messages, changes) => {
      const unitsOf = (count: number) => {
        const request = testRequest(messages.slice(0, count), { contents, ...changes });
        const [tools, system, , ...rest] = anthropicMessages.encode(runtime, request).units;
        return [tools, system, ...rest];
      };
      const whole = unitsOf(messages.length);
      for (let count = 0; count <= messages.length; count++) {
        assert.deepEqual(unitsOf(count), whole.slice(0, count + 2));
      }
    }),
  );
});

test('the same request gives the same bytes', () => {
  fc.assert(
    fc.property(runtimes, conversations, settings, (runtime, messages, changes) => {
      const request = testRequest(messages, { contents, ...changes });
      const copy = structuredClone({ messages, changes });
      assert.deepEqual(
        anthropicMessages.encode(runtime, request),
        anthropicMessages.encode(runtime, testRequest(copy.messages, { contents, ...copy.changes })),
      );
    }),
  );
});

test('a stream of anything ends exactly once, with its last event, and never throws', () => {
  const types = ['message_start', 'content_block_start', 'content_block_delta', 'content_block_stop', 'message_delta'];
  const blocks = [
    'text',
    'thinking',
    'redacted_thinking',
    'tool_use',
    'text_delta',
    'input_json_delta',
    'signature_delta',
  ];
  fc.assert(
    fc.property(fc.array(oddEvents([...types, 'message_stop', 'error'], blocks), { maxLength: 12 }), (events) => {
      const meant = decodeAll(anthropicMessages.decoder(testRuntime()), events);
      const ends = meant.flatMap(({ kind }, index) => (kind === 'end' || kind === 'failed' ? [index] : []));
      assert.deepEqual(ends, [meant.length - 1]);
    }),
  );
});
