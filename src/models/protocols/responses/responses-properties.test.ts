import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { efforts } from '../../../protocol/usage.ts';
import { conversations, requestsOf } from '../test-journals.ts';
import { oddEvents } from '../test-odd-events.ts';
import { decodeAll, echoTool, testRequest, testRuntime } from '../test-runtime.ts';
import { responses } from './responses.ts';
import { responsesProblems } from './test-responses-rules.ts';

const contents = new Map([['known', Uint8Array.of(1, 2, 3)]]);
const settings = fc.record({
  effort: fc.constantFrom(null, ...efforts),
  tools: fc.constantFrom([echoTool], [], [{ name: 'a.b', description: '', parameters: {} }, echoTool]),
  systemPrompt: fc.constantFrom('Be kind.', '', '\ud800'),
  cacheKey: fc.constantFrom('ses_1', 'x'.repeat(100)),
});
const runtimes = fc
  .record({
    caching: fc.constantFrom('automatic' as const, 'none' as const),
    seesImages: fc.boolean(),
    reasons: fc.boolean(),
    quirks: fc.constantFrom([], ['codex']),
  })
  .map((changes) => testRuntime({ provider: 'test', model: 'model', apiMode: 'responses', ...changes }));

test('every conversation becomes a request that the API accepts', () => {
  fc.assert(
    fc.property(runtimes, conversations, settings, (runtime, messages, changes) => {
      for (const request of [messages, ...requestsOf(messages)]) {
        const { body } = responses.encode(runtime, testRequest(request, { contents, ...changes }));
        assert.deepEqual(responsesProblems(body), []);
      }
    }),
  );
});

test('a longer conversation begins with the units of the shorter one, and its body with the same bytes', () => {
  fc.assert(
    fc.property(runtimes, conversations, settings, (runtime, messages, changes) => {
      const encode = (count: number) =>
        responses.encode(runtime, testRequest(messages.slice(0, count), { contents, ...changes }));
      const whole = encode(messages.length);
      for (let count = 1; count <= messages.length; count++) {
        const { body, units } = encode(count);
        assert.deepEqual(units, whole.units.slice(0, count + 3));
        assert.ok(whole.body.startsWith(body.slice(0, -2)));
      }
    }),
  );
});

test('a stream of anything ends exactly once, with its last event, and never throws', () => {
  const types =
    'created completed incomplete failed output_item.added output_item.done output_text.delta refusal.delta ' +
    'reasoning_summary_text.delta reasoning_summary_part.added reasoning_text.delta function_call_arguments.delta ' +
    'function_call_arguments.done';
  const blocks = ['message', 'reasoning', 'function_call', 'web_search_call'];
  fc.assert(
    fc.property(
      fc.array(oddEvents([...types.split(' ').map((type) => `response.${type}`), 'error'], blocks), { maxLength: 12 }),
      (events) => {
        const meant = decodeAll(responses.decoder(testRuntime()), events);
        const ends = meant.flatMap(({ kind }, index) => (kind === 'end' || kind === 'failed' ? [index] : []));
        assert.deepEqual(ends, [meant.length - 1]);
      },
    ),
  );
});
