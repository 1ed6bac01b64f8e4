import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import type { AssistantMessage, Message, ReasoningPart } from '../../../protocol/messages.ts';
import { efforts } from '../../../protocol/usage.ts';
import { conversations, requestsOf } from '../test-journals.ts';
import { assistant, call, callId, echoTool, result, resultWith, user } from '../test-runtime.ts';
import type { ModelRequest, Runtime } from '../../model.ts';
import { scriptedRuntime, testRequest } from '../../scripted-model.ts';
import { encode } from './encode.ts';
import { chatCompletionsQuirks, type ChatCompletionsQuirk } from './quirks.ts';

interface Body {
  readonly messages: readonly Readonly<Record<string, unknown>>[];
  readonly [field: string]: unknown;
}

function runtimeWith(quirks: readonly ChatCompletionsQuirk[], overrides: Partial<Runtime> = {}): Runtime {
  return scriptedRuntime({ provider: 'test', model: 'model', reasons: true, quirks, ...overrides });
}

function bodyOf(runtime: Runtime, request: ModelRequest): Body {
  return JSON.parse(encode(runtime, request).body) as Body;
}

function messagesOf(messages: readonly Message[], runtime = runtimeWith([])): Body['messages'] {
  return bodyOf(runtime, testRequest({ systemPrompt: '', messages })).messages;
}

const id = callId(1);
const thought = (text: string, more: Partial<ReasoningPart> = {}): ReasoningPart => ({
  kind: 'reasoning',
  text,
  origin: 'test/model',
  ...more,
});
const asked = (parts: AssistantMessage['parts']): Message[] => [
  user('go'),
  { role: 'assistant', parts: [...parts, call(id)] },
  result(id, 'done'),
];

test('the plainest request, byte for byte', () => {
  const request = testRequest({ tools: [echoTool], messages: [user('hello')] });
  assert.equal(
    encode(runtimeWith([]), request).body,
    '{"model":"model","stream":true,"stream_options":{"include_usage":true},"max_tokens":8000,' +
      '"tools":[{"type":"function","function":{"name":"echo","description":"Says it again.","parameters":' +
      '{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}}}],' +
      '"messages":[{"role":"system","content":"You are a test."},{"role":"user","content":"hello"}]}',
  );
});

test('what a server may refuse when it is empty is left out', () => {
  const body = bodyOf(runtimeWith([]), testRequest({ systemPrompt: ' ', tools: [] }));
  assert.deepEqual(Object.keys(body), ['model', 'stream', 'stream_options', 'max_tokens', 'messages']);
  assert.deepEqual(body.messages, [{ role: 'user', content: 'hello' }]);
});

test('a round of calls: results behind their calls, with ids of our own and words for how they went', () => {
  const [first, second] = [callId(1), callId(2)];
  const messages = [
    user('go'),
    assistant({ kind: 'text', text: 'I will.' }, call(first, '{"text": "a"}'), call(second, 'oops')),
    result(first, 'a'),
    result(second, 'arguments can not be read', 'failed'),
  ];
  const wireCall = (of: string, args: string) => ({
    id: of,
    type: 'function',
    function: { name: 'echo', arguments: args },
  });
  assert.deepEqual(messagesOf(messages), [
    { role: 'user', content: 'go' },
    { role: 'assistant', content: 'I will.', tool_calls: [wireCall(first, '{"text": "a"}'), wireCall(second, '{}')] },
    { role: 'tool', content: 'a', tool_call_id: first },
    { role: 'tool', content: '[failed] arguments can not be read', tool_call_id: second },
  ]);
});

test('results that stand elsewhere, or nowhere, are put where they belong', () => {
  const [first, second] = [callId(1), callId(2)];
  const messages = [
    assistant(call(first), call(second)),
    user('wait'),
    result(second, 'b'),
    result(callId(9), 'whose?'),
  ];
  assert.deepEqual(
    messagesOf(messages).map(({ role, content, tool_call_id: of }) => [role, content, of]),
    [
      ['assistant', null, undefined],
      ['tool', '(There is no result of this call.)', first],
      ['tool', 'b', second],
      ['user', 'wait', undefined],
    ],
  );
});

test('an answer that said nothing is not quoted', () => {
  assert.deepEqual(messagesOf([user('a'), assistant({ kind: 'text', text: ' \n' }, thought('hm')), user('b')]), [
    { role: 'user', content: 'a' },
    { role: 'user', content: 'b' },
  ]);
});

test('images go as data; what can not be seen is named', () => {
  const content = { sha256: 'h', bytes: 3, mediaType: 'image/png' };
  const message: Message = {
    role: 'user',
    parts: [
      { kind: 'text', text: 'look' },
      { kind: 'image', content },
      { kind: 'file', name: 'a.pdf', content: { ...content, mediaType: 'application/pdf' } },
    ],
  };
  const request = testRequest({
    systemPrompt: '',
    messages: [message],
    contents: new Map([['h', Uint8Array.of(1, 2, 3)]]),
  });
  const named = (what: string, type: string) => `[${what} (${type}, 3 bytes) was attached; you can't see it here.]`;
  const file = named('A file named "a.pdf"', 'application/pdf');
  assert.deepEqual(bodyOf(runtimeWith([]), request).messages[0]?.['content'], [
    { type: 'text', text: 'look' },
    { type: 'image_url', image_url: { url: 'data:image/png;base64,AQID' } },
    { type: 'text', text: file },
  ]);
  assert.equal(
    bodyOf(runtimeWith([], { seesImages: false }), request).messages[0]?.['content'],
    `look\n${named('An image', 'image/png')}\n${file}`,
  );
});

test('pictures of results follow the last result of their round, as data; what can not be seen is named', () => {
  const content = { sha256: 'h', bytes: 3, mediaType: 'image/png' };
  const [first, second] = [callId(1), callId(2)];
  const messages = [
    user('look'),
    assistant(call(first), call(second)),
    resultWith(first, 'one', [content, { ...content, sha256: 'lost' }]),
    resultWith(second, 'two', [{ ...content, mediaType: 'image/webp' }]),
    user('well?'),
  ];
  const request = testRequest({ systemPrompt: '', messages, contents: new Map([['h', Uint8Array.of(1, 2, 3)]]) });
  const contentsOf = (runtime: Runtime) =>
    bodyOf(runtime, request)
      .messages.slice(2)
      .map(({ role, content: sent }) => [role, sent]);
  const lost = "[An image (image/png, 3 bytes) was attached; you can't see it here.]";
  const pictures = [
    { type: 'text', text: '[The pictures of the tool results above, in their order.]' },
    { type: 'image_url', image_url: { url: 'data:image/png;base64,AQID' } },
    { type: 'image_url', image_url: { url: 'data:image/webp;base64,AQID' } },
  ];
  assert.deepEqual(contentsOf(runtimeWith([])), [
    ['tool', `one\n${lost}`],
    ['tool', 'two'],
    ['user', pictures],
    ['user', 'well?'],
  ]);
  assert.deepEqual(contentsOf(runtimeWith(['assistant-after-tool'])), [
    ['tool', `one\n${lost}`],
    ['tool', 'two'],
    ['assistant', 'Understood.'],
    ['user', pictures],
    ['user', 'well?'],
  ]);
  const webp = lost.replace('png', 'webp');
  assert.deepEqual(contentsOf(runtimeWith([], { seesImages: false })), [
    ['tool', `one\n${lost}\n${lost}`],
    ['tool', `two\n${webp}`],
    ['user', 'well?'],
  ]);
});

test('thoughts stay at home unless they are asked for', () => {
  const messages = asked([thought('hm', { opaque: '{"details":[{"type":"reasoning.text"}],"signatures":["S"]}' })]);
  assert.deepEqual(Object.keys(messagesOf(messages)[1] ?? {}), ['role', 'content', 'tool_calls']);
});

test('reasoning content goes back with calls, only to who thought it; where it is missing a space stands for it', () => {
  const runtime = runtimeWith(['reasoning-content-back']);
  const sent = (parts: AssistantMessage['parts']) => messagesOf(asked(parts), runtime)[1]?.['reasoning_content'];
  assert.equal(sent([thought('I '), { kind: 'text', text: 'x' }, thought('see')]), 'I see');
  assert.equal(sent([thought('not mine', { origin: 'other/model' })]), ' ');
  assert.equal(sent([]), ' ');
  const answered = messagesOf([user('a'), assistant(thought('hm'), { kind: 'text', text: 'b' })], runtime);
  assert.deepEqual(answered[1], { role: 'assistant', content: 'b' });
});

test('reasoning details go back as they were', () => {
  const runtime = runtimeWith(['reasoning-details-back']);
  const details = [
    { type: 'reasoning.text', text: 'hm', signature: 'S' },
    { type: 'reasoning.encrypted', data: 'E' },
  ];
  const sent = (part: ReasoningPart) => messagesOf(asked([part]), runtime)[1]?.['reasoning_details'];
  assert.deepEqual(sent(thought('hm', { opaque: JSON.stringify({ details }) })), details);
  assert.equal(sent(thought('hm', { opaque: JSON.stringify({ details }), origin: 'other/model' })), undefined);
  assert.equal(sent(thought('hm', { opaque: 'damaged' })), undefined);
  assert.equal(sent(thought('hm')), undefined);
});

test('calls go back with their signatures, and calls of others with a word for it', () => {
  const runtime = runtimeWith(['thought-signatures']);
  const sent = (parts: AssistantMessage['parts']) => {
    const calls = messagesOf(asked(parts), runtime)[1]?.['tool_calls'];
    return (calls as { extra_content: unknown }[])[0]?.extra_content;
  };
  assert.deepEqual(sent([thought('', { opaque: '{"signatures":["SIG"]}' })]), { google: { thought_signature: 'SIG' } });
  assert.deepEqual(sent([]), { google: { thought_signature: 'skip_thought_signature_validator' } });
});

test('quirks change what they say and nothing else', () => {
  const request = testRequest({ effort: 'high' });
  const fieldsOf = (...quirks: readonly ChatCompletionsQuirk[]) => {
    const { messages, ...fields } = bodyOf(runtimeWith(quirks), request);
    return { ...fields, role: messages[0]?.['role'] };
  };
  const plain = {
    model: 'model',
    stream: true,
    stream_options: { include_usage: true },
    max_tokens: 8_000,
    role: 'system',
  };
  const { max_tokens: limit, ...unlimited } = plain;
  const { stream_options: _options, ...silent } = plain;
  assert.deepEqual(fieldsOf(), plain);
  assert.deepEqual(fieldsOf('developer-role'), { ...plain, role: 'developer' });
  assert.deepEqual(fieldsOf('max-completion-tokens'), { ...unlimited, max_completion_tokens: limit });
  assert.deepEqual(fieldsOf('no-output-limit'), unlimited);
  assert.deepEqual(fieldsOf('no-stream-options'), silent);
  assert.deepEqual(fieldsOf('prompt-cache-key'), { ...plain, prompt_cache_key: 'test-session' });
  assert.deepEqual(fieldsOf('usage-include'), { ...plain, usage: { include: true } });
  assert.deepEqual(fieldsOf('reasoning-effort'), { ...plain, reasoning_effort: 'high' });
  assert.deepEqual(fieldsOf('reasoning-object'), { ...plain, reasoning: { effort: 'high' } });
  assert.deepEqual(fieldsOf('thinking-switch'), { ...plain, thinking: { type: 'enabled' } });
});

test('efforts become the nearest ones that the model knows', () => {
  const sent = (...quirks: readonly ChatCompletionsQuirk[]) =>
    efforts.map(
      (effort) => bodyOf(runtimeWith(['reasoning-effort', ...quirks]), testRequest({ effort }))['reasoning_effort'],
    );
  assert.deepEqual(sent(), ['low', 'low', 'low', 'medium', 'high', 'high']);
  assert.deepEqual(sent('effort-none', 'effort-minimal', 'effort-xhigh'), [
    'none',
    'minimal',
    'low',
    'medium',
    'high',
    'xhigh',
  ]);
  assert.deepEqual(sent('effort-minimal'), ['minimal', 'minimal', 'low', 'medium', 'high', 'high']);
  const off = bodyOf(runtimeWith(['thinking-switch', 'reasoning-effort']), testRequest({ effort: 'none' }));
  assert.deepEqual([off['thinking'], off['reasoning_effort']], [{ type: 'disabled' }, undefined]);
});

test('no effort is asked of a model that does not think, nor where nobody chose one', () => {
  const runtime = runtimeWith(['reasoning-effort'], { reasons: false });
  assert.equal(bodyOf(runtime, testRequest({ effort: 'high' }))['reasoning_effort'], undefined);
  assert.equal(bodyOf(runtimeWith(['reasoning-effort']), testRequest())['reasoning_effort'], undefined);
});

test('a key of the cache that is too long becomes a shorter one, always the same', () => {
  const runtime = runtimeWith(['prompt-cache-key']);
  const keyOf = (cacheKey: string) => String(bodyOf(runtime, testRequest({ cacheKey }))['prompt_cache_key']);
  assert.match(keyOf('x'.repeat(65)), /^[a-z0-9]{40}$/);
  assert.equal(keyOf('x'.repeat(65)), keyOf('x'.repeat(65)));
  assert.notEqual(keyOf('x'.repeat(65)), keyOf('x'.repeat(66)));
});

test('short ids of calls have nine letters and digits, the same in call and result', () => {
  const sent = messagesOf(asked([]), runtimeWith(['short-call-ids']));
  const [made] = (sent[1]?.['tool_calls'] ?? []) as { id: string }[];
  const short = made?.id ?? '';
  assert.match(short, /^[a-zA-Z0-9]{9}$/);
  assert.equal(sent[2]?.['tool_call_id'], short);
});

test('where nobody may speak straight after a tool, a short answer stands between', () => {
  const roles = messagesOf([...asked([]), user('and?')], runtimeWith(['assistant-after-tool'])).map(({ role }) => role);
  assert.deepEqual(roles, ['user', 'assistant', 'tool', 'assistant', 'user']);
});

test('marks for the cache: the system prompt and the newest message, in parts of text', () => {
  const runtime = runtimeWith([], { caching: 'breakpoints' });
  const cache_control = { type: 'ephemeral' };
  const request = testRequest({ messages: [user('a'), assistant({ kind: 'text', text: 'b' }), user('c')] });
  const part = (text: string) => ({ type: 'text', text });
  assert.deepEqual(bodyOf(runtime, request).messages, [
    { role: 'system', content: [{ ...part('You are a test.'), cache_control }] },
    { role: 'user', content: [part('a')] },
    { role: 'assistant', content: [part('b')] },
    { role: 'user', content: [{ ...part('c'), cache_control }] },
  ]);
  const slow = bodyOf(runtime, { ...request, cachePace: 'long' }).messages[0]?.['content'];
  assert.deepEqual(slow, [{ ...part('You are a test.'), cache_control: { type: 'ephemeral', ttl: '1h' } }]);
});

test('a long round of calls is marked where the request before it ended, with four marks at most', () => {
  const runtime = runtimeWith([], { caching: 'breakpoints' });
  const ids = Array.from({ length: 50 }, (_, index) => callId(index));
  const messages = [user('go'), assistant(...ids.map((each) => call(each))), ...ids.map((each) => result(each, 'ok'))];
  const marks = bodyOf(runtime, testRequest({ messages })).messages.flatMap((message, index) =>
    JSON.stringify(message).includes('cache_control') ? [index] : [],
  );
  assert.deepEqual(marks, [0, 1, 52]);
});

test('effort is a unit of its own, marks are none', () => {
  const runtime = runtimeWith(['reasoning-effort'], { caching: 'breakpoints' });
  const { units } = encode(runtime, testRequest({ effort: 'low' }));
  assert.deepEqual(units, [
    '[]',
    '{"role":"system","content":[{"type":"text","text":"You are a test."}]}',
    '{"reasoning_effort":"low"}',
    '{"role":"user","content":[{"type":"text","text":"hello"}]}',
  ]);
});

// --- every conversation there can be ---------------------------------------------------------------------------------

const runtimes = fc
  .record({
    quirks: fc.subarray([...chatCompletionsQuirks]),
    caching: fc.constantFrom('none' as const, 'automatic' as const, 'breakpoints' as const),
    seesImages: fc.boolean(),
  })
  .map(({ quirks, ...overrides }) => runtimeWith(quirks, overrides));
const contents = new Map([['known', Uint8Array.of(1)]]);

test('every request of every conversation is one that servers take', () => {
  fc.assert(
    fc.property(conversations, runtimes, (messages, runtime) => {
      for (const beginning of requestsOf(messages)) {
        const { body } = encode(runtime, testRequest({ tools: [echoTool], messages: beginning, contents }));
        assert.ok(body.isWellFormed());
        assertTakeable(JSON.parse(body) as Body, runtime);
      }
    }),
  );
});

test('a conversation that grows only appends to what was sent', () => {
  fc.assert(
    fc.property(conversations, runtimes, (messages, runtime) => {
      let before: readonly string[] = [];
      for (const beginning of requestsOf(messages)) {
        const { units, body } = encode(runtime, testRequest({ messages: beginning, contents }));
        assert.deepEqual(units.slice(0, before.length), before);
        before = units;
        const unmarked = body.replaceAll(/,"cache_control":\{[^}]*\}/g, '');
        assert.ok(unmarked.endsWith(`[${units.toSpliced(2, 1).slice(1).join(',')}]}`));
      }
    }),
  );
});

/** What servers are known to refuse. */
function assertTakeable({ messages }: Body, runtime: Runtime): void {
  const idPattern = runtime.quirks.includes('short-call-ids') ? /^[a-zA-Z0-9]{9}$/ : /^[a-zA-Z0-9_-]{1,64}$/;
  let open: unknown[] = [];
  let marks = 0;
  for (const { role, content, tool_calls: calls, tool_call_id: of } of messages) {
    if (role === 'tool') assert.equal(of, open.shift());
    else assert.deepEqual(open, []);
    const parts = typeof content === 'string' ? [{ text: content }] : ((content ?? []) as { text?: string }[]);
    assert.ok(parts.length > 0 || calls !== undefined);
    for (const part of parts) {
      assert.ok(part.text === undefined || part.text.trim() !== '');
      if ('cache_control' in part) marks++;
    }
    if (calls === undefined) continue;
    const made = calls as { id: string; function: { name: string; arguments: string } }[];
    for (const each of made) {
      assert.match(each.id, idPattern);
      assert.match(each.function.name, /^[a-zA-Z0-9_-]{1,64}$/);
      const given: unknown = JSON.parse(each.function.arguments);
      assert.ok(typeof given === 'object' && given !== null && !Array.isArray(given));
    }
    open = made.map((each) => each.id);
  }
  assert.deepEqual(open, []);
  assert.ok(marks <= 4);
}
