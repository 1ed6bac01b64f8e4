import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import { noTokens } from '../../../protocol/usage.ts';
import type { ModelEvent } from '../../model.ts';
import { scriptedRuntime } from '../../scripted-model.ts';
import { createChatCompletionsDecoder } from './decode.ts';
import { answerWithCalls, answerWithWords, refusalStream } from './test-streams.ts';

const runtime = scriptedRuntime({ provider: 'openai' });

/** What a stream of these events means; a failure by its reason. */
function decode(events: readonly (object | string)[], isOver = true): unknown[] {
  const decoder = createChatCompletionsDecoder(runtime);
  const decoded = events.flatMap((event) =>
    decoder.push({ name: '', data: typeof event === 'string' ? event : JSON.stringify(event) }),
  );
  return [...decoded, ...(isOver ? decoder.finish() : [])].map(plain);
}

function plain(event: ModelEvent): unknown {
  return event.kind === 'failed' ? ['failed', event.error.reason] : event;
}

const delta = (fields: object | null, finish: string | null = null, more: object = {}) => ({
  choices: [{ index: 0, delta: fields, finish_reason: finish }],
  ...more,
});
const calls = (...tool_calls: readonly object[]) => delta({ tool_calls });
const text = (said: string) => ({ kind: 'text-delta', text: said });
const thought = (said: string) => ({ kind: 'reasoning-delta', text: said });
const call = (providerCallId: string, name: string, args: string) => ({
  kind: 'tool-call',
  providerCallId,
  name,
  arguments: args,
});
const end = (stop: string, usage: object = {}, usd: number | null = null) => ({
  kind: 'end',
  stop,
  usage: { ...noTokens, ...usage },
  usd,
});

test('an answer as OpenAI sends it', () => {
  assert.deepEqual(decode(answerWithWords), [
    text('Hello'),
    text('!'),
    end('answer', { inputTokens: 1_117, cachedTokens: 1_024, outputTokens: 46, reasoningTokens: 40 }),
  ]);
});

test('calls as OpenAI sends them, side by side', () => {
  assert.deepEqual(decode(answerWithCalls), [
    call('call_DdmO9pD3xa9XTPNJ32zg2hcA', 'get_weather', '{"city":"Paris"}'),
    call('call_5CAPvx0SbEfQkVvH2DHbbRLc', 'get_time', '{"zone":"CET"}'),
    end('tool-calls', { inputTokens: 80, outputTokens: 45 }),
  ]);
});

test('a refusal as OpenAI sends it is said and marked', () => {
  assert.deepEqual(decode(refusalStream), [text("I'm sorry, "), text("I can't."), end('refused')]);
});

test('the end is told at [DONE], and nothing follows it', () => {
  const decoder = createChatCompletionsDecoder(runtime);
  decoder.push({ name: '', data: JSON.stringify(delta({ content: 'a' }, 'stop')) });
  assert.deepEqual(decoder.push({ name: '', data: '[DONE]' }).map(plain), [end('answer')]);
  assert.deepEqual(decoder.push({ name: '', data: '[DONE]' }), []);
  assert.deepEqual(decoder.push({ name: '', data: JSON.stringify(delta({ content: 'b' })) }), []);
  assert.deepEqual(decoder.finish(), []);
});

test('usage alone after a finish reason is the end, too: nobody has to wait for more', () => {
  const events = [delta({ content: 'a' }, 'stop'), { choices: [], usage: { prompt_tokens: 3, completion_tokens: 1 } }];
  assert.deepEqual(decode(events, false), [text('a'), end('answer', { inputTokens: 3, outputTokens: 1 })]);
});

test('a stream without [DONE] is whole if it has its finish reason', () => {
  assert.deepEqual(decode([delta({ content: 'a' }), delta({}, 'stop')]), [text('a'), end('answer')]);
});

test('a stream that is cut before its finish reason is malformed, whatever it has said', () => {
  assert.deepEqual(decode([]), [['failed', 'malformed-stream']]);
  assert.deepEqual(decode([delta({ content: 'a' })]), [text('a'), ['failed', 'malformed-stream']]);
  assert.deepEqual(decode([calls({ index: 0, id: 'c', function: { name: 'f', arguments: '{"a":' } })]), [
    ['failed', 'malformed-stream'],
  ]);
  assert.deepEqual(decode(['[DONE]']), [['failed', 'malformed-stream']]);
});

test('a server that never gives a finish reason is believed when it says [DONE]', () => {
  assert.deepEqual(decode([delta({ content: 'a' }), '[DONE]']), [text('a'), end('answer')]);
});

test('an answer may be empty', () => {
  assert.deepEqual(decode([delta({ role: 'assistant', content: '' }), delta({}, 'stop'), '[DONE]']), [end('answer')]);
});

test('what can not be read ends the stream, but not after the answer', () => {
  assert.deepEqual(decode([delta({ content: 'a' }), '{"choices":[{"del']), [text('a'), ['failed', 'malformed-stream']]);
  assert.deepEqual(decode([delta({ content: 'a' }, 'stop'), 'bye']), [text('a'), end('answer')]);
});

test('events that came as lines of one are read one by one', () => {
  const [one, two] = [JSON.stringify(delta({ content: 'a' })), JSON.stringify(delta({ content: 'b' }, 'stop'))];
  assert.deepEqual(decode([`${one}\n${two}\n[DONE]`]), [text('a'), text('b'), end('answer')]);
});

test('empty choices, missing deltas, nulls and unknown fields say nothing', () => {
  const noise = [
    { choices: [] },
    { choices: null },
    {},
    { choices: [null] },
    delta(null),
    { choices: [{ index: 0 }] },
    delta({ content: null, tool_calls: null, reasoning: null, refusal: null, novelty: 1 }, null, { usage: null }),
    '',
    ' ',
  ];
  assert.deepEqual(decode([...noise, delta({ content: 'a' }, 'stop'), ...noise, '[DONE]']), [text('a'), end('answer')]);
});

test('finish reasons mean what they mean, in the spellings of all', () => {
  const stopOf = (reason: string) => decode([delta({ content: 'a' }, reason), '[DONE]']).at(-1);
  for (const reason of ['stop', 'STOP', 'eos', 'end_turn', 'tool_calls', 'whatever']) {
    assert.deepEqual(stopOf(reason), end('answer'), reason);
  }
  for (const reason of ['length', 'max_tokens']) assert.deepEqual(stopOf(reason), end('length'));
  for (const reason of ['content_filter', 'sensitive', 'SAFETY']) assert.deepEqual(stopOf(reason), end('refused'));
  assert.deepEqual(stopOf('error'), ['failed', 'server']);
  assert.deepEqual(stopOf('network_error'), ['failed', 'server']);
  assert.deepEqual(stopOf('insufficient_system_resource'), ['failed', 'overloaded']);
  assert.deepEqual(stopOf('MALFORMED_FUNCTION_CALL'), ['failed', 'malformed-stream']);
});

test('calls are calls whatever the finish reason', () => {
  const made = calls({ index: 0, id: 'c1', function: { name: 'f', arguments: '{}' } });
  assert.deepEqual(decode([made, delta({}, 'stop')]), [call('c1', 'f', '{}'), end('tool-calls')]);
  assert.deepEqual(decode([made, delta({}, 'function_call')]), [call('c1', 'f', '{}'), end('tool-calls')]);
  assert.deepEqual(decode([made, delta({}, 'content_filter')]), [end('refused')]);
});

test('a call that the limit cut off before its arguments is left out; one in the middle of them is shown as it is', () => {
  const cut = (args: string) =>
    decode([calls({ index: 0, id: 'c', function: { name: 'f', arguments: args } }), delta({}, 'length')]);
  assert.deepEqual(cut(''), [end('length')]);
  assert.deepEqual(cut('{"a":'), [call('c', 'f', '{"a":'), end('length')]);
});

test('error objects in a stream are failures with their reason', () => {
  const failing: [object, string][] = [
    [{ error: { message: 'Overloaded', type: 'overloaded_error' } }, 'overloaded'],
    [
      { error: { code: 502, message: 'Provider disconnected' }, choices: [{ delta: {}, finish_reason: 'error' }] },
      'server',
    ],
    [{ error: 'Rate limit exceeded' }, 'rate-limit'],
    [{ object: 'error', message: 'maximum context length is 10 tokens', code: 400 }, 'context-overflow'],
    [{ detail: 'Internal Server Error' }, 'server'],
    [{ choices: [{ error: { code: 429, message: 'slow down' } }] }, 'rate-limit'],
  ];
  for (const [event, reason] of failing) {
    assert.deepEqual(decode([delta({ content: 'a' }), event]), [text('a'), ['failed', reason]]);
  }
  const named = createChatCompletionsDecoder(runtime).push({ name: 'error', data: '{"message":"boom"}' });
  assert.deepEqual(named.map(plain), [['failed', 'unknown']]);
});

test('thoughts come in fields of several names, and end where words begin', () => {
  for (const field of ['reasoning_content', 'reasoning']) {
    const events = [delta({ [field]: 'hm' }), delta({ [field]: '!' }), delta({ content: 'a' }), delta({}, 'stop')];
    assert.deepEqual(decode(events), [
      thought('hm'),
      thought('!'),
      { kind: 'reasoning-end' },
      text('a'),
      end('answer'),
    ]);
  }
  assert.deepEqual(decode([delta({ reasoning: 'hm' }), delta({}, 'stop')]), [
    thought('hm'),
    { kind: 'reasoning-end' },
    end('answer'),
  ]);
});

test('the same thought in two fields is thought once', () => {
  const events = [delta({ reasoning_content: 'hm', reasoning: 'hm' }), delta({ content: 'a' }, 'stop')];
  assert.deepEqual(decode(events).slice(0, 2), [thought('hm'), { kind: 'reasoning-end' }]);
});

test('reasoning details are kept in order for the way back, pieces of one block joined', () => {
  const events = [
    delta({ reasoning: 'I ', reasoning_details: [{ type: 'reasoning.text', text: 'I ', format: 'x', index: 0 }] }),
    delta({
      reasoning: 'see',
      reasoning_details: [{ type: 'reasoning.text', text: 'see', index: 0, signature: null }],
    }),
    delta({ reasoning_details: [{ type: 'reasoning.text', signature: 'S1', index: 0 }] }),
    delta({ content: 'Well' }),
    delta({ reasoning_details: [{ type: 'reasoning.encrypted', data: 'E', id: 'rs_1', index: 1 }] }),
    delta({}, 'stop'),
  ];
  const details = [
    { type: 'reasoning.text', text: 'I see', format: 'x', index: 0, signature: 'S1' },
    { type: 'reasoning.encrypted', data: 'E', id: 'rs_1', index: 1 },
  ];
  assert.deepEqual(decode(events), [
    thought('I '),
    thought('see'),
    { kind: 'reasoning-end' },
    text('Well'),
    { kind: 'reasoning-end', opaque: JSON.stringify({ details }) },
    end('answer'),
  ]);
});

test('details speak where nothing else does', () => {
  const events = [delta({ reasoning_details: [{ type: 'reasoning.summary', summary: 'hm' }] }), delta({}, 'stop')];
  assert.deepEqual(decode(events)[0], thought('hm'));
});

test('signatures of calls are kept for the way back', () => {
  const signed = { google: { thought_signature: 'SIG' } };
  const events = [
    calls({ index: 0, id: 'a', function: { name: 'f', arguments: '{}' }, extra_content: signed }),
    calls({ index: 1, id: 'b', function: { name: 'g', arguments: '{}' } }),
    delta({}, 'tool_calls'),
  ];
  assert.deepEqual(decode(events)[0], { kind: 'reasoning-end', opaque: '{"signatures":["SIG",null]}' });
});

test('content may be a list of words and thoughts', () => {
  const events = [
    delta({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] }] }),
    delta({
      content: [
        { type: 'text', text: 'a' },
        { type: 'reference', reference_ids: [1] },
      ],
    }),
    delta({ content: 'b' }, 'stop'),
  ];
  assert.deepEqual(decode(events), [thought('hm'), { kind: 'reasoning-end' }, text('a'), text('b'), end('answer')]);
});

test('thoughts in tags are thoughts', () => {
  const events = [
    delta({ content: '<think>h' }),
    delta({ content: 'm</think>\n\na' }),
    delta({ content: 'b' }, 'stop'),
  ];
  assert.deepEqual(decode(events), [
    thought('h'),
    thought('m'),
    { kind: 'reasoning-end' },
    text('a'),
    text('b'),
    end('answer'),
  ]);
  assert.deepEqual(decode([delta({ content: ' ' }), delta({}, 'stop')]), [text(' '), end('answer')]);
});

test('calls are told apart however they are numbered', () => {
  const madeOf = (...events: readonly object[]) => decode([...events, delta({}, 'tool_calls')]).slice(0, -1);
  const f = (args: unknown) => ({ function: { name: 'f', arguments: args } });
  const two = [call('a', 'f', '{"n":1}'), call('b', 'f', '{"n":2}')];

  // By index, pieces mixed.
  assert.deepEqual(
    madeOf(
      calls({ index: 0, id: 'a', ...f('{"n":') }, { index: 1, id: 'b', ...f('') }),
      calls({ index: 1, function: { arguments: '{"n":2}' } }, { index: 0, function: { arguments: '1}' } }),
    ),
    two,
  );
  // Without an index.
  assert.deepEqual(madeOf(calls({ id: 'a', ...f('{"n":1}') }), calls({ id: 'b', ...f('{"n":2}') })), two);
  assert.deepEqual(
    madeOf(
      calls({ id: 'a', ...f('{"n"') }),
      calls({ function: { arguments: ':1}' } }),
      calls({ id: 'b', ...f('{"n":2}') }),
    ),
    two,
  );
  // The same index for all.
  assert.deepEqual(madeOf(calls({ index: 0, id: 'a', ...f('{"n":1}') }, { index: 0, id: 'b', ...f('{"n":2}') })), two);
  assert.deepEqual(madeOf(calls({ index: 0, id: '', ...f('{"n":1}') }), calls({ index: 0, id: '', ...f('{"n":2}') })), [
    call('call_0', 'f', '{"n":1}'),
    call('call_1', 'f', '{"n":2}'),
  ]);
  // The same id for all.
  assert.deepEqual(madeOf(calls({ index: 0, id: 'x', ...f('{"n":1}') }, { index: 1, id: 'x', ...f('{"n":2}') })), [
    call('x', 'f', '{"n":1}'),
    call('x', 'f', '{"n":2}'),
  ]);
});

test('names come in pieces, or again and again; arguments as objects, or not at all', () => {
  const madeOf = (...events: readonly object[]) => decode([...events, delta({}, 'tool_calls')])[0];
  assert.deepEqual(
    madeOf(
      calls({ index: 0, id: 'a', function: { name: 'get_' } }),
      calls({ index: 0, function: { name: 'time', arguments: '{}' } }),
    ),
    call('a', 'get_time', '{}'),
  );
  assert.deepEqual(
    madeOf(
      calls({ index: 0, id: 'a', function: { name: 'f', arguments: '{"a"' } }),
      calls({ index: 0, id: 'a', function: { name: 'f', arguments: ':1}' } }),
    ),
    call('a', 'f', '{"a":1}'),
  );
  assert.deepEqual(
    madeOf(calls({ index: 0, id: 'a', function: { name: 'f', arguments: { b: [1] } } })),
    call('a', 'f', '{"b":[1]}'),
  );
  assert.deepEqual(
    madeOf(calls({ index: 0, id: 'a', function: { name: 'f', arguments: null } })),
    call('a', 'f', '{}'),
  );
  assert.deepEqual(madeOf(delta({ function_call: { name: 'f', arguments: '{}' } })), call('call_0', 'f', '{}'));
});

test('arguments that are no JSON are passed on as they are', () => {
  const events = [calls({ index: 0, id: 'a', function: { name: 'f', arguments: '{oops' } }), delta({}, 'tool_calls')];
  assert.deepEqual(decode(events)[0], call('a', 'f', '{oops'));
});

test('an answer with calls without end is given up', () => {
  const many = Array.from({ length: 300 }, (_, index) => ({ index, id: `c${index}`, function: { name: 'f' } }));
  assert.deepEqual(decode([calls(...many)]), [['failed', 'malformed-stream']]);
});

test('usage is read in the spellings of all, the last one counts', () => {
  const usageOf = (usage: object, more: object = {}) =>
    decode([delta({ content: 'a' }, 'stop', more), { choices: [], usage }]).at(-1);
  assert.deepEqual(
    usageOf({ prompt_tokens: 9, completion_tokens: 2, prompt_cache_hit_tokens: 7, prompt_cache_miss_tokens: 2 }),
    end('answer', { inputTokens: 9, cachedTokens: 7, outputTokens: 2 }),
  );
  assert.deepEqual(
    usageOf({
      prompt_tokens: 9,
      completion_tokens: 2,
      prompt_tokens_details: { cached_tokens: 3, cache_write_tokens: 4 },
      cost: 0.0125,
    }),
    end('answer', { inputTokens: 9, cachedTokens: 3, cacheWriteTokens: 4, outputTokens: 2 }, 0.0125),
  );
  assert.deepEqual(
    usageOf({
      prompt_tokens: 9,
      completion_tokens: 2,
      cost: 0.01,
      is_byok: true,
      cost_details: { upstream_inference_cost: 0.2 },
    }),
    end('answer', { inputTokens: 9, outputTokens: 2 }, 0.21000000000000002),
  );
  // Reasoning that is counted apart was written, too.
  assert.deepEqual(
    usageOf({
      prompt_tokens: 9,
      completion_tokens: 2,
      total_tokens: 16,
      completion_tokens_details: { reasoning_tokens: 5 },
    }),
    end('answer', { inputTokens: 9, outputTokens: 7, reasoningTokens: 5 }),
  );
  assert.deepEqual(
    usageOf({ prompt_tokens: 9, completion_tokens: 2, cached_tokens: 50 }, { usage: { prompt_tokens: 1 } }),
    end('answer', { inputTokens: 9, cachedTokens: 9, outputTokens: 2 }),
  );
});

test('usage may stand in the choice, in every chunk, or in a field of its own', () => {
  const usage = { prompt_tokens: 3, completion_tokens: 1 };
  const told = end('answer', { inputTokens: 3, outputTokens: 1 });
  const inChoice = { choices: [{ index: 0, delta: { content: 'a' }, finish_reason: 'stop', usage }] };
  assert.deepEqual(decode([inChoice, '[DONE]']).at(-1), told);
  const earlier = { usage: { prompt_tokens: 3, completion_tokens: 0 } };
  assert.deepEqual(
    decode([delta({ content: 'a' }, null, earlier), delta({}, 'stop', { usage }), '[DONE]']).at(-1),
    told,
  );
  assert.deepEqual(decode([delta({ content: 'a' }, 'stop', { x_groq: { usage } }), '[DONE]']).at(-1), told);
});

test('whatever comes, there is one end and nothing after it', () => {
  const samples = [
    ...answerWithWords,
    ...answerWithCalls,
    ...refusalStream,
    delta({}, 'stop'),
    { error: {} },
    '[DONE]',
  ];
  const events = fc.array(
    fc.oneof(
      fc.constantFrom(...samples).map((event) => (typeof event === 'string' ? event : JSON.stringify(event))),
      fc.json(),
      fc.string(),
    ),
  );
  fc.assert(
    fc.property(events, (sent) => {
      const kinds = decode(sent).map((event) => (Array.isArray(event) ? 'failed' : (event as ModelEvent).kind));
      assert.equal(kinds.filter((kind) => kind === 'end' || kind === 'failed').length, 1);
      assert.ok(['end', 'failed'].includes(kinds.at(-1) ?? ''));
    }),
  );
});
