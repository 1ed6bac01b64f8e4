import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { decodeAll, plain, testRuntime } from '../test-runtime.ts';
import { createResponsesDecoder } from './decode-stream.ts';

const runtime = testRuntime({ provider: 'openai', model: 'gpt-5.4', apiMode: 'responses' });
const decode = (payloads: readonly unknown[]) => plain(decodeAll(createResponsesDecoder(runtime), payloads));

const usage = { inputTokens: 0, cachedTokens: 0, cacheWriteTokens: 0, outputTokens: 0, reasoningTokens: 0 };
const end = (stop: string) => ({ kind: 'end', stop, usage, usd: null });
const broken = (message: string) => ({ kind: 'failed', reason: 'malformed-stream', message, retryable: true });
const midAnswer = broken('The model stopped in mid-answer.');
const said = (text: string) => ({ kind: 'text-delta', text });
const toolCall = (providerCallId: string, args: string) => ({
  kind: 'tool-call',
  providerCallId,
  name: 'echo',
  arguments: args,
});

const created = {
  type: 'response.created',
  response: { id: 'resp_1', status: 'in_progress', output: [], usage: null },
};
const inProgress = { ...created, type: 'response.in_progress' };
const added = (index: number, item: object) => ({ type: 'response.output_item.added', output_index: index, item });
const done = (index: number, item: object) => ({ type: 'response.output_item.done', output_index: index, item });
const delta = (kind: string, index: number, text: string) => ({
  type: `response.${kind}.delta`,
  output_index: index,
  item_id: 'x',
  delta: text,
  obfuscation: 'JsZTJiFEPO',
});
const message = (text: string, status = 'completed') => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  status,
  phase: 'final_answer',
  content: text === '' ? [] : [{ type: 'output_text', text, annotations: [], logprobs: [] }],
});
const call = (callId: string, args: string, status = 'completed') => ({
  id: `fc_${callId}`,
  type: 'function_call',
  status,
  call_id: callId,
  name: 'echo',
  arguments: args,
});
const reasoning = (words: readonly string[], sealed: string | null) => ({
  id: 'rs_1',
  type: 'reasoning',
  content: [],
  summary: words.map((text) => ({ type: 'summary_text', text })),
  encrypted_content: sealed,
});
const completed = (output: readonly object[] = [], extra: object = {}) => ({
  type: 'response.completed',
  response: { id: 'resp_1', status: 'completed', error: null, incomplete_details: null, output, usage: null, ...extra },
});
const incomplete = (reason: string, output: readonly object[] = []) => ({
  type: 'response.incomplete',
  response: { id: 'resp_1', status: 'incomplete', incomplete_details: { reason }, output, usage: null },
});
const kept = (words: readonly string[]) =>
  JSON.stringify({
    type: 'reasoning',
    id: 'rs_1',
    summary: words.map((text) => ({ type: 'summary_text', text })),
    encrypted_content: 'gAAA',
  });

describe('what a stream of responses means', () => {
  test('a thought, words and a call, as recorded from the API', () => {
    const events = decode([
      created,
      inProgress,
      added(0, reasoning([], 'early')),
      { type: 'response.reasoning_summary_part.added', output_index: 0, summary_index: 0, part: { text: '' } },
      delta('reasoning_summary_text', 0, '**Su'),
      delta('reasoning_summary_text', 0, 'm**'),
      { type: 'response.reasoning_summary_text.done', output_index: 0, summary_index: 0, text: '**Sum**' },
      { type: 'response.reasoning_summary_part.done', output_index: 0, summary_index: 0, part: { text: '**Sum**' } },
      { type: 'response.reasoning_summary_part.added', output_index: 0, summary_index: 1, part: { text: '' } },
      delta('reasoning_summary_text', 0, 'Two'),
      done(0, reasoning(['**Sum**', 'Two'], 'gAAA')),
      added(1, message('', 'in_progress')),
      { type: 'response.content_part.added', output_index: 1, content_index: 0, part: { type: 'output_text' } },
      delta('output_text', 1, 'Hi'),
      delta('output_text', 1, ' you'),
      { type: 'response.output_text.done', output_index: 1, content_index: 0, text: 'Hi you' },
      done(1, message('Hi you')),
      added(2, call('call_1', '', 'in_progress')),
      delta('function_call_arguments', 2, '{"text"'),
      delta('function_call_arguments', 2, ':"a"}'),
      { type: 'response.function_call_arguments.done', output_index: 2, arguments: '{"text":"a"}' },
      done(2, call('call_1', '{"text":"a"}')),
      completed([reasoning(['**Sum**', 'Two'], 'gAAA'), message('Hi you'), call('call_1', '{"text":"a"}')], {
        usage: {
          input_tokens: 1_000,
          input_tokens_details: { cached_tokens: 900, cache_write_tokens: 50 },
          output_tokens: 105,
          output_tokens_details: { reasoning_tokens: 44 },
          total_tokens: 1_105,
          cost: 0.25,
        },
      }),
    ]);
    assert.deepEqual(events, [
      { kind: 'reasoning-delta', text: '**Su' },
      { kind: 'reasoning-delta', text: 'm**' },
      { kind: 'reasoning-delta', text: '\n\n' },
      { kind: 'reasoning-delta', text: 'Two' },
      { kind: 'reasoning-end', opaque: kept(['**Sum**', 'Two']) },
      said('Hi'),
      said(' you'),
      toolCall('call_1', '{"text":"a"}'),
      {
        kind: 'end',
        stop: 'tool-calls',
        usage: {
          inputTokens: 1_000,
          cachedTokens: 900,
          cacheWriteTokens: 50,
          outputTokens: 105,
          reasoningTokens: 44,
        },
        usd: 0.25,
      },
    ]);
  });

  const items = [reasoning(['Hm'], 'gAAA'), message('Hi'), call('c', '{}')];
  const whole = [
    { kind: 'reasoning-delta', text: 'Hm' },
    { kind: 'reasoning-end', opaque: kept(['Hm']) },
    said('Hi'),
    toolCall('c', '{}'),
    end('tool-calls'),
  ];

  test('items that only come when they are done', () => {
    assert.deepEqual(decode([created, ...items.map((item, index) => done(index, item)), completed(items)]), whole);
    assert.deepEqual(decode([created, ...items.map((item, index) => done(index, item)), completed()]), whole);
  });

  test('items that only come at the very end', () => {
    assert.deepEqual(decode([created, completed(items)]), whole);
    assert.deepEqual(decode([{ ...completed(items), type: 'response.done' }]), whole);
  });

  test('what was told once is not told again', () => {
    const hi = done(0, message('Hi'));
    assert.deepEqual(decode([created, hi, hi, completed([message('Hi'), call('c', '{}')])]), [
      said('Hi'),
      toolCall('c', '{}'),
      end('tool-calls'),
    ]);
  });

  test('items that grew and are not told to be done', () => {
    const grown = [
      created,
      added(0, reasoning([], 'early')),
      delta('reasoning_summary_text', 0, 'H'),
      added(1, message('', 'in_progress')),
      delta('output_text', 1, 'H'),
      added(2, call('c', '', 'in_progress')),
      delta('function_call_arguments', 2, '{}'),
    ];
    assert.deepEqual(decode([...grown, completed(items)]), [
      { kind: 'reasoning-delta', text: 'H' },
      said('H'),
      { kind: 'reasoning-delta', text: 'm' },
      { kind: 'reasoning-end', opaque: kept(['Hm']) },
      said('i'),
      toolCall('c', '{}'),
      end('tool-calls'),
    ]);
    assert.deepEqual(decode([...grown, completed()]), [
      { kind: 'reasoning-delta', text: 'H' },
      said('H'),
      { kind: 'reasoning-end' },
      toolCall('c', '{}'),
      end('tool-calls'),
    ]);
  });

  test('items are told apart by their place, not by ids that change', () => {
    const events = decode([
      created,
      added(0, { ...message(''), id: 'one' }),
      delta('output_text', 0, 'Hi'),
      done(0, { ...message('Hi'), id: 'two' }),
      completed([{ ...message('Hi'), id: 'three' }]),
    ]);
    assert.deepEqual(events, [said('Hi'), end('answer')]);
  });

  test('servers that count every item as the first, or none', () => {
    const all = [message('Hi'), call('c1', '{"a":1}'), call('c2', '{"a":2}')];
    for (const { index, output } of [0, undefined].flatMap((place) => [
      { index: place, output: all },
      { index: place, output: [] },
    ])) {
      const at = (event: object) => ({ ...event, output_index: index });
      const events = decode([
        created,
        at(added(0, message(''))),
        at(delta('output_text', 0, 'Hi')),
        at(done(0, message('Hi'))),
        at(added(0, call('c1', ''))),
        at(done(0, call('c1', '{"a":1}'))),
        at(added(0, call('c2', ''))),
        at(done(0, call('c2', '{"a":2}'))),
        completed(output),
      ]);
      assert.deepEqual(events, [said('Hi'), toolCall('c1', '{"a":1}'), toolCall('c2', '{"a":2}'), end('tool-calls')]);
    }
  });

  test('calls with the same id are two calls', () => {
    const events = decode([created, done(0, call('c', '{}')), done(1, call('c', '{}')), completed()]);
    assert.deepEqual(events, [toolCall('c', '{}'), toolCall('c', '{}'), end('tool-calls')]);
  });

  test('a thought without a seal, or with an id that nobody takes back', () => {
    assert.deepEqual(decode([created, done(0, reasoning([], null)), completed()])[0], { kind: 'reasoning-end' });
    const long = { ...reasoning([], 'gAAA'), id: 'x'.repeat(65) };
    assert.deepEqual(decode([created, done(0, long), completed()])[0], {
      kind: 'reasoning-end',
      opaque: '{"type":"reasoning","summary":[],"encrypted_content":"gAAA"}',
    });
  });

  test('the words of an open model', () => {
    const item = { type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'Hm' }] };
    assert.deepEqual(decode([created, delta('reasoning_text', 0, 'H'), done(0, item), completed()]).slice(0, 3), [
      { kind: 'reasoning-delta', text: 'H' },
      { kind: 'reasoning-delta', text: 'm' },
      { kind: 'reasoning-end' },
    ]);
  });

  test('a refusal is one, in pieces or as a whole', () => {
    const item = { type: 'message', content: [{ type: 'refusal', refusal: 'No.' }] };
    const expected = [said('No.'), end('refused')];
    assert.deepEqual(decode([created, delta('refusal', 0, 'No.'), done(0, item), completed()]), expected);
    assert.deepEqual(decode([created, completed([item])]), expected);
  });

  test('events and items that do not exist yet are passed over', () => {
    const search = { type: 'web_search_call', id: 'ws_1', status: 'completed' };
    const events = decode([
      created,
      { type: 'response.something.new', output_index: 0, delta: 'x' },
      added(0, search),
      { type: 'response.web_search_call.searching', output_index: 0 },
      done(0, search),
      delta('output_text', 1, 'Hi'),
      completed([search, message('Hi')]),
    ]);
    assert.deepEqual(events, [said('Hi'), end('answer')]);
  });
});

describe('answers that were cut short', () => {
  test('by their length, or by a filter', () => {
    const stop = (reason: string) => decode([created, delta('output_text', 0, 'Hi'), incomplete(reason)]);
    assert.deepEqual(stop('max_output_tokens'), [said('Hi'), end('length')]);
    assert.deepEqual(stop('content_filter'), [said('Hi'), end('refused')]);
    assert.deepEqual(stop('something_new'), [said('Hi'), end('length')]);
  });

  test('half the arguments are told as they are; a call that got none is not made up', () => {
    const cut = (args: string) => {
      const item = call('c', args, 'incomplete');
      return decode([created, added(0, call('c', '')), done(0, item), incomplete('max_output_tokens', [item])]);
    };
    assert.deepEqual(cut('{"text":"a'), [toolCall('c', '{"text":"a'), end('length')]);
    assert.deepEqual(cut(''), [end('length')]);
    assert.deepEqual(decode([created, added(0, call('c', '')), incomplete('max_output_tokens')]), [end('length')]);
  });

  test('a whole call without arguments has none', () => {
    assert.deepEqual(decode([created, done(0, call('c', '')), completed()])[0], toolCall('c', '{}'));
  });
});

describe('streams that are not as they should be', () => {
  test('one that is cut anywhere before its last event is malformed', () => {
    const whole = [created, inProgress, delta('output_text', 0, 'Hi'), done(0, message('Hi'))];
    for (let length = 0; length <= whole.length; length++) {
      assert.deepEqual(decode(whole.slice(0, length)).at(-1), midAnswer, `after ${length} events`);
    }
  });

  test('errors end it with their reason, in each of their shapes, and nothing after them counts', () => {
    const quota = { code: 'insufficient_quota', message: 'You exceeded your current quota.' };
    const table: readonly (readonly [object, string])[] = [
      [{ type: 'error', error: { type: 'insufficient_quota', ...quota, param: null } }, 'billing'],
      [{ type: 'error', ...quota, param: null, sequence_number: 2 }, 'billing'],
      [{ type: 'error', error: { type: 'server_error', code: null, message: 'An error occurred.' } }, 'server'],
      [{ type: 'response.failed', response: { status: 'failed', error: quota } }, 'billing'],
      [{ type: 'response.completed', response: { status: 'failed', error: quota } }, 'billing'],
      [{ type: 'response.failed', response: { status: 'failed', error: null } }, 'unknown'],
      [{ type: 'response.cancelled' }, 'unknown'],
      [{ error: { code: 'context_length_exceeded', message: 'Too long.' } }, 'context-overflow'],
    ];
    for (const [event, reason] of table) {
      const events = decode([created, event, delta('output_text', 0, 'Hi'), completed()]);
      assert.deepEqual(
        events.map((one) => [(one as { kind: string }).kind, (one as { reason?: string }).reason]),
        [['failed', reason]],
        JSON.stringify(event),
      );
    }
  });

  test('what is no JSON object is malformed; nothing, and an end mark, mean nothing', () => {
    for (const data of ['{"type":"resp', 'null', '[]', 'hello']) {
      assert.deepEqual(decode([data]), [broken('The answer of the model can not be read.')], data);
    }
    assert.deepEqual(decode(['', created, completed(), '[DONE]', completed()]), [end('answer')]);
  });

  test('events whose members have other types than they should do no harm', () => {
    const odd = [
      { type: 'response.output_item.added', output_index: 'x', item: 7 },
      { type: 'response.output_text.delta', output_index: 0, delta: 7 },
      { type: 'response.function_call_arguments.delta', delta: null },
      { type: 'response.output_item.done', output_index: 0, item: { type: 'message', content: 'Hi' } },
      { type: 'response.output_item.done', output_index: 1, item: { type: 'function_call', call_id: 7 } },
      { type: 'response.completed', response: { output: 'x', usage: { input_tokens: 'x' } } },
    ];
    assert.deepEqual(decode(odd), [
      { kind: 'tool-call', providerCallId: '', name: '', arguments: '{}' },
      end('tool-calls'),
    ]);
  });
});
