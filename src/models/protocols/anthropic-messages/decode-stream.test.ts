import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createMessagesDecoder } from './decode-stream.ts';
import { decodeAll, plain, testRuntime } from '../test-runtime.ts';

const decode = (payloads: readonly unknown[]) => plain(decodeAll(createMessagesDecoder(testRuntime()), payloads));

const usage = { inputTokens: 0, cachedTokens: 0, cacheWriteTokens: 0, outputTokens: 0, reasoningTokens: 0 };
const end = (stop: string, counts: object = {}) => ({ kind: 'end', stop, usage: { ...usage, ...counts }, usd: null });
const broken = (message: string) => ({ kind: 'failed', reason: 'malformed-stream', message, retryable: true });
const midAnswer = broken('The model stopped in mid-answer.');

const start = (counts: object = {}) => ({
  type: 'message_start',
  message: {
    id: 'msg_01',
    type: 'message',
    role: 'assistant',
    model: 'claude-sonnet-5',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    stop_details: null,
    usage: counts,
  },
});
const blockStart = (index: number, block: object) => ({ type: 'content_block_start', index, content_block: block });
const delta = (index: number, change: object) => ({ type: 'content_block_delta', index, delta: change });
const blockStop = (index: number) => ({ type: 'content_block_stop', index });
const text = (index: number, words: string) => delta(index, { type: 'text_delta', text: words });
const json = (index: number, partial: string) => delta(index, { type: 'input_json_delta', partial_json: partial });
const toolStart = (index: number, id: string, input: object = {}) =>
  blockStart(index, { type: 'tool_use', id, name: 'echo', input });
const stopped = (reason: string, counts: object = {}) => ({
  type: 'message_delta',
  delta: { stop_reason: reason, stop_sequence: null, stop_details: null },
  usage: counts,
});
const messageStop = { type: 'message_stop' };
const words = [blockStart(0, { type: 'text', text: '' }), text(0, 'Hi'), blockStop(0)];
const toolCall = (providerCallId: string, args: string) => ({
  kind: 'tool-call',
  providerCallId,
  name: 'echo',
  arguments: args,
});

describe('what a stream of Anthropic messages means', () => {
  test('a thought, words and two calls, as recorded from the API', () => {
    const events = decode([
      start({
        input_tokens: 47,
        cache_creation_input_tokens: 100,
        cache_read_input_tokens: 900,
        cache_creation: { ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 0 },
        output_tokens: 2,
        service_tier: 'standard',
      }),
      blockStart(0, { type: 'thinking', thinking: '', signature: '' }),
      { type: 'ping' },
      delta(0, { type: 'thinking_delta', thinking: 'I' }),
      delta(0, { type: 'thinking_delta', thinking: ' wonder.' }),
      delta(0, { type: 'signature_delta', signature: 'EsEC' }),
      blockStop(0),
      blockStart(1, { type: 'redacted_thinking', data: 'EmwK' }),
      blockStop(1),
      blockStart(2, { type: 'text', text: '' }),
      text(2, 'Let me'),
      text(2, ' look.'),
      blockStop(2),
      toolStart(3, 'toolu_1'),
      json(3, ''),
      json(3, '{"text": "a'),
      json(3, '"}'),
      blockStop(3),
      toolStart(4, 'toolu_2'),
      json(4, ''),
      blockStop(4),
      stopped('tool_use', {
        input_tokens: 47,
        cache_creation_input_tokens: 100,
        cache_read_input_tokens: 900,
        output_tokens: 373,
        output_tokens_details: { thinking_tokens: 62 },
      }),
      messageStop,
    ]);
    assert.deepEqual(events, [
      { kind: 'reasoning-delta', text: 'I' },
      { kind: 'reasoning-delta', text: ' wonder.' },
      { kind: 'reasoning-end', opaque: '{"type":"thinking","signature":"EsEC"}' },
      { kind: 'reasoning-end', opaque: '{"type":"redacted_thinking","data":"EmwK"}' },
      { kind: 'text-delta', text: 'Let me' },
      { kind: 'text-delta', text: ' look.' },
      toolCall('toolu_1', '{"text": "a"}'),
      toolCall('toolu_2', '{}'),
      {
        kind: 'end',
        stop: 'tool-calls',
        usage: {
          inputTokens: 1047,
          cachedTokens: 900,
          cacheWriteTokens: 100,
          outputTokens: 373,
          reasoningTokens: 62,
        },
        usd: null,
      },
    ]);
  });

  test('every reason to stop has its meaning', () => {
    const stops = (reason: string) => decode([start(), ...words, stopped(reason), messageStop]).at(-1);
    const table = {
      end_turn: 'answer',
      stop_sequence: 'answer',
      tool_use: 'answer',
      max_tokens: 'length',
      model_context_window_exceeded: 'length',
      pause_turn: 'length',
      refusal: 'refused',
      something_new: 'answer',
    };
    for (const [reason, stop] of Object.entries(table)) assert.deepEqual(stops(reason), end(stop), reason);
  });

  test('a server that says end_turn beside calls means the calls', () => {
    const events = decode([start(), toolStart(0, 't'), json(0, '{}'), blockStop(0), stopped('end_turn'), messageStop]);
    assert.deepEqual(events, [toolCall('t', '{}'), end('tool-calls')]);
  });

  test('a refusal before any word', () => {
    const refusal = {
      type: 'message_delta',
      delta: { stop_reason: 'refusal', stop_details: { type: 'refusal', category: 'cyber' } },
      usage: { output_tokens: 5 },
    };
    assert.deepEqual(decode([start({ input_tokens: 18 }), { type: 'ping' }, refusal, messageStop]), [
      end('refused', { inputTokens: 18, outputTokens: 5 }),
    ]);
  });

  test('tools of the server and kinds that do not exist yet are passed over', () => {
    const events = decode([
      start(),
      blockStart(0, { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} }),
      json(0, '{"query":"x"}'),
      blockStop(0),
      blockStart(1, { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] }),
      blockStop(1),
      { type: 'something_new', index: 7 },
      blockStart(2, { type: 'text', text: '' }),
      delta(2, { type: 'citations_delta', citation: {} }),
      text(2, 'Hi'),
      blockStop(2),
      stopped('end_turn'),
      messageStop,
    ]);
    assert.deepEqual(events, [{ kind: 'text-delta', text: 'Hi' }, end('answer')]);
  });

  test('what a block starts with counts', () => {
    const events = decode([
      start(),
      blockStart(0, { type: 'thinking', thinking: 'Hm', signature: 'S' }),
      blockStop(0),
      blockStart(1, { type: 'text', text: 'Hi' }),
      blockStop(1),
      toolStart(2, 't', { text: 'a' }),
      blockStop(2),
      stopped('tool_use'),
      messageStop,
    ]);
    assert.deepEqual(events, [
      { kind: 'reasoning-delta', text: 'Hm' },
      { kind: 'reasoning-end', opaque: '{"type":"thinking","signature":"S"}' },
      { kind: 'text-delta', text: 'Hi' },
      toolCall('t', '{"text":"a"}'),
      end('tool-calls'),
    ]);
  });

  test('a thought without a signature ends without anything to send back', () => {
    const events = decode([
      start(),
      blockStart(0, { type: 'thinking', thinking: '' }),
      delta(0, { type: 'thinking_delta', thinking: 'Hm' }),
      blockStop(0),
      ...words.map((event) => ({ ...event, index: 1 })),
      stopped('end_turn'),
      messageStop,
    ]);
    assert.deepEqual(events.slice(0, 2), [{ kind: 'reasoning-delta', text: 'Hm' }, { kind: 'reasoning-end' }]);
  });
});

describe('calls in a stream that was cut short by its length', () => {
  const cut = (...events: readonly unknown[]) => decode([start(), ...events, stopped('max_tokens'), messageStop]);

  test('half the arguments are told as they are, without the end of their block', () => {
    assert.deepEqual(cut(toolStart(0, 't'), json(0, '{"text": "a')), [toolCall('t', '{"text": "a'), end('length')]);
  });

  test('a call that got no arguments at all is not made up', () => {
    assert.deepEqual(cut(toolStart(0, 't'), json(0, '')), [end('length')]);
    assert.deepEqual(cut(toolStart(0, 't'), json(0, ''), blockStop(0)), [end('length')]);
  });

  test('a call without arguments that something follows was whole', () => {
    const events = cut(toolStart(0, 't1'), blockStop(0), toolStart(1, 't2'), json(1, '{"'));
    assert.deepEqual(events, [toolCall('t1', '{}'), toolCall('t2', '{"'), end('length')]);
  });
});

describe('streams that are not as they should be', () => {
  test('one that is cut anywhere before the reason to stop is malformed', () => {
    const whole = [start(), ...words, toolStart(1, 't'), json(1, '{}'), blockStop(1)];
    for (let length = 0; length <= whole.length; length++) {
      assert.deepEqual(decode(whole.slice(0, length)).at(-1), midAnswer, `after ${length} events`);
    }
  });

  test('one that lacks only its last event is whole', () => {
    assert.deepEqual(decode([start(), ...words, stopped('end_turn', { output_tokens: 3 })]), [
      { kind: 'text-delta', text: 'Hi' },
      end('answer', { outputTokens: 3 }),
    ]);
    assert.deepEqual(decode([start(), ...words.slice(0, 2), stopped('end_turn')]).at(-1), midAnswer);
  });

  test('an error in the middle ends it with its reason, and nothing after it counts', () => {
    const error = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
    const events = decode([start(), ...words.slice(0, 2), error, ...words, stopped('end_turn'), messageStop]);
    assert.equal(events.length, 2);
    assert.deepEqual(
      events.map((event) => [(event as { kind: string }).kind, (event as { reason?: string }).reason]),
      [
        ['text-delta', undefined],
        ['failed', 'overloaded'],
      ],
    );
  });

  test('an error object without a type is an error, too', () => {
    const [failed] = decode(['{"error":{"type":"invalid_request_error","message":"prompt is too long: 9 > 8"}}']);
    assert.equal((failed as { reason: string }).reason, 'context-overflow');
  });

  test('what is no JSON object is malformed', () => {
    const unreadable = broken('The answer of the model can not be read.');
    for (const data of ['{"type":"mess', 'null', '[]', '7', 'hello'])
      assert.deepEqual(decode([data]), [unreadable], data);
  });

  test('nothing, and the end mark of another dialect, mean nothing', () => {
    const events = decode(['', ' ', start(), ...words, stopped('end_turn'), messageStop, '[DONE]', messageStop]);
    assert.deepEqual(events, [{ kind: 'text-delta', text: 'Hi' }, end('answer')]);
  });

  test('an index that starts twice ends the first block; blocks without an index follow each other', () => {
    const withoutIndex = (event: object) => ({ ...event, index: undefined });
    assert.deepEqual(
      decode([
        start(),
        start({ input_tokens: 5 }),
        toolStart(0, 't1'),
        json(0, '{"a":1}'),
        toolStart(0, 't2'),
        json(0, '{"b":2}'),
        blockStop(0),
        withoutIndex(toolStart(0, 't3')),
        withoutIndex(json(0, '{"c":3}')),
        withoutIndex(blockStop(0)),
        blockStop(9),
        stopped('tool_use'),
        messageStop,
      ]),
      [
        toolCall('t1', '{"a":1}'),
        toolCall('t2', '{"b":2}'),
        toolCall('t3', '{"c":3}'),
        end('tool-calls', { inputTokens: 5 }),
      ],
    );
  });

  test('words without a block count; arguments without a call are malformed', () => {
    assert.deepEqual(decode([start(), text(0, 'Hi'), stopped('end_turn'), messageStop])[0], {
      kind: 'text-delta',
      text: 'Hi',
    });
    const lost = broken('The model sent arguments of a call that it never began.');
    assert.deepEqual(decode([start(), json(0, '{}'), messageStop]), [lost]);
  });

  test('events whose members have other types than they should do no harm', () => {
    const odd = [
      { type: 'message_start' },
      { type: 'message_start', message: 7 },
      { type: 'content_block_start', index: 0 },
      { type: 'content_block_delta', index: 0, delta: null },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 7 } },
      { type: 'content_block_start', index: 1, content_block: { type: 'tool_use', id: 7, name: null } },
      { type: 'message_delta', delta: { stop_reason: 7 }, usage: { output_tokens: 'x', input_tokens: null } },
      messageStop,
    ];
    assert.deepEqual(decode(odd), [
      { kind: 'tool-call', providerCallId: '', name: '', arguments: '{}' },
      end('tool-calls'),
    ]);
  });
});
