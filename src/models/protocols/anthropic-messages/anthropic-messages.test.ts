import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Message } from '../../../protocol/messages.ts';
import type { ModelRequest, Runtime } from '../../model.ts';
import { anthropicMessages } from './anthropic-messages.ts';
import { assistant, call, callId, result, resultWith, testRequest, testRuntime, user } from '../test-runtime.ts';

interface Body {
  readonly thinking?: unknown;
  readonly system?: unknown;
  readonly tools?: unknown;
  readonly messages: readonly { readonly role: string; readonly content: readonly unknown[] }[];
}

const unmarked = testRuntime({ caching: 'none' });
const bodyOf = (request: ModelRequest, runtime: Runtime = unmarked) =>
  JSON.parse(anthropicMessages.encode(runtime, request).body) as Body;
const wireOf = (messages: readonly Message[], changes: Partial<ModelRequest> = {}, runtime: Runtime = unmarked) =>
  bodyOf(testRequest(messages, changes), runtime).messages;
const text = (words: string) => ({ type: 'text', text: words });
const c1 = callId(1);
const c2 = callId(2);

const ours = 'anthropic/claude-sonnet-4-5';
const thought = (words: string, opaque: string, origin = ours) =>
  ({ kind: 'reasoning', text: words, opaque, origin }) as const;
const signed = '{"type":"thinking","signature":"S"}';

describe('headers', () => {
  test('a key has a header of its own, a token is a bearer with a beta', () => {
    const headers = (key: { secret: string; oauth?: boolean }, model = 'claude-opus-4-6') =>
      anthropicMessages.headers(testRuntime({ model }), { id: 'k', ...key });
    const version = { 'anthropic-version': '2023-06-01' };
    assert.deepEqual(headers({ secret: 's' }), { ...version, 'x-api-key': 's' });
    assert.deepEqual(headers({ secret: '' }), version);
    assert.deepEqual(headers({ secret: '' }, 'claude-sonnet-5-5'), {
      ...version,
      'anthropic-beta': 'thinking-binding-controls-2026-08-01',
    });
    assert.deepEqual(headers({ secret: 's', oauth: true }, 'claude-sonnet-4-5'), {
      ...version,
      'anthropic-beta': 'oauth-2025-04-20,interleaved-thinking-2025-05-14',
      authorization: 'Bearer s',
    });
  });
});

describe('the body', () => {
  test('its bytes are these, keys in this order, without white space', () => {
    const messages = [user('hi'), assistant({ kind: 'text', text: 'Look.' }, call(c1)), result(c1, 'a')];
    const { body, units } = anthropicMessages.encode(testRuntime(), testRequest(messages, { effort: 'low' }));
    const tool =
      '{"name":"echo","description":"Says it again.","input_schema":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}}';
    const mark = ',"cache_control":{"type":"ephemeral"}}';
    const answer = `{"type":"text","text":"Look."},{"type":"tool_use","id":"${c1}","name":"echo","input":{"text":"a"}}`;
    const told = `{"type":"tool_result","tool_use_id":"${c1}","content":"a"}`;
    assert.equal(
      body,
      '{"model":"claude-sonnet-4-5","max_tokens":16000,"stream":true,' +
        `"tools":[${tool.slice(0, -1)}${mark}],"system":[{"type":"text","text":"Be kind."${mark}],` +
        '"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]},' +
        `{"role":"assistant","content":[${answer}]},{"role":"user","content":[${told.slice(0, -1)}${mark}]}]}`,
    );
    assert.deepEqual(units, [
      `[${tool}]`,
      '[{"type":"text","text":"Be kind."}]',
      '{}',
      'user:[{"type":"text","text":"hi"}]',
      `assistant:[${answer}]`,
      `tool:[${told}]`,
    ]);
  });

  test('tools and system prompt are left out where there are none', () => {
    const body = bodyOf(testRequest([user('hi')], { tools: [], systemPrompt: ' ' }));
    assert.deepEqual(body, {
      model: 'claude-sonnet-4-5',
      max_tokens: 16_000,
      stream: true,
      messages: [{ role: 'user', content: [text('hi')] }],
    });
  });

  test('with a token the system prompt begins with the name it is for', () => {
    const runtime = testRuntime({ caching: 'none', keys: [{ id: 'k', secret: 's', oauth: true }] });
    assert.deepEqual(bodyOf(testRequest([user('hi')]), runtime).system, [
      text("You are Claude Code, Anthropic's official CLI for Claude."),
      text('Be kind.'),
    ]);
  });

  test('a long pace asks for an hour', () => {
    const { body } = anthropicMessages.encode(testRuntime(), testRequest([user('hi')], { cachePace: 'long' }));
    assert.equal(body.split('"cache_control":{"type":"ephemeral","ttl":"1h"}').length - 1, 3);
  });
});

describe('messages', () => {
  test('results and what a person adds are one message, results first', () => {
    const wire = wireOf([
      user('hi'),
      user('again'),
      assistant(call(c1), call(c2, 'no json')),
      result(c1, 'no', 'failed'),
      result(c2, 'It was not run.', 'skipped'),
      user('stop that'),
    ]);
    assert.deepEqual(wire, [
      { role: 'user', content: [text('hi'), text('again')] },
      {
        role: 'assistant',
        content: [
          { type: 'tool_use', id: c1, name: 'echo', input: { text: 'a' } },
          { type: 'tool_use', id: c2, name: 'echo', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: c1, content: 'no', is_error: true },
          { type: 'tool_result', tool_use_id: c2, content: '[not run] It was not run.', is_error: true },
          text('stop that'),
        ],
      },
    ]);
  });

  test('a conversation begins and ends with a person', () => {
    const wire = wireOf([assistant({ kind: 'text', text: 'Hello. ' })]);
    assert.deepEqual(wire, [
      { role: 'user', content: [text('(The conversation began earlier.)')] },
      { role: 'assistant', content: [text('Hello. ')] },
      { role: 'user', content: [text('Go on.')] },
    ]);
    assert.deepEqual(wireOf([]), [{ role: 'user', content: [text('Go on.')] }]);
  });

  test('white space alone is never sent', () => {
    const wire = wireOf([
      { role: 'user', parts: [{ kind: 'text', text: ' \n' }] },
      assistant({ kind: 'text', text: '\n\n' }, call(c1)),
      result(c1, ''),
      assistant({ kind: 'text', text: ' ' }),
      user('hi'),
    ]);
    assert.deepEqual(wire, [
      { role: 'user', content: [text('(an empty message)')] },
      { role: 'assistant', content: [{ type: 'tool_use', id: c1, name: 'echo', input: { text: 'a' } }] },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: c1, content: '(It finished and said nothing.)' }, text('hi')],
      },
    ]);
  });

  test('images are sent where they are there and can be seen, and named otherwise', () => {
    const content = { sha256: 'abc', bytes: 3, mediaType: 'image/png' };
    const message: Message = {
      role: 'user',
      parts: [
        { kind: 'image', content },
        { kind: 'file', name: 'a.pdf', content: { ...content, mediaType: 'application/pdf' } },
      ],
    };
    const contents = new Map([['abc', Uint8Array.of(1, 2, 3)]]);
    const seen = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AQID' } };
    const file = text(`[A file named "a.pdf" (application/pdf, 3 bytes) was attached; you can't see it here.]`);
    const named = text("[An image (image/png, 3 bytes) was attached; you can't see it here.]");
    assert.deepEqual(wireOf([message], { contents })[0]?.content, [seen, file]);
    assert.deepEqual(wireOf([message])[0]?.content, [named, file]);
    const blind = testRuntime({ caching: 'none', seesImages: false });
    assert.deepEqual(wireOf([message], { contents }, blind)[0]?.content, [named, file]);
  });

  test('pictures of a result are in it, and named where they can not be seen', () => {
    const content = { sha256: 'abc', bytes: 3, mediaType: 'image/png' };
    const shown = resultWith(c1, 'a', [content, { ...content, sha256: 'lost' }]);
    const messages = [user('hi'), assistant(call(c1)), shown];
    const contents = new Map([['abc', Uint8Array.of(1, 2, 3)]]);
    const seen = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AQID' } };
    const named = "[An image (image/png, 3 bytes) was attached; you can't see it here.]";
    const of = (sent: unknown) => [{ type: 'tool_result', tool_use_id: c1, content: sent }];
    assert.deepEqual(wireOf(messages, { contents })[2]?.content, of([text(`a\n${named}`), seen]));
    const blind = testRuntime({ caching: 'none', seesImages: false });
    assert.deepEqual(wireOf(messages, { contents }, blind)[2]?.content, of(`a\n${named}\n${named}`));
    assert.deepEqual(wireOf(messages, { contents, tools: [] })[2]?.content, [text(`[result] a\n${named}`), seen]);
  });

  test('without tools, calls and results are told as text', () => {
    const wire = wireOf([user('hi'), assistant(call(c1)), result(c1, 'a', 'failed')], { tools: [] });
    assert.deepEqual(wire, [
      { role: 'user', content: [text('hi')] },
      { role: 'assistant', content: [text('[called echo with {"text":"a"}]')] },
      { role: 'user', content: [text('[result] [failed] a')] },
    ]);
  });
});

describe('thoughts', () => {
  test('go back as they came, in their place, to the model that had them and to no other', () => {
    const message = assistant(
      thought('Hm.', signed),
      thought('', '{"type":"redacted_thinking","data":"D"}'),
      thought('', '{"type":"thinking","signature":"T"}'),
      { kind: 'text', text: 'Look.' },
      thought('More.', signed),
      call(c1),
    );
    const request = [user('hi'), message, result(c1, 'a')];
    assert.deepEqual(wireOf(request)[1]?.content, [
      { type: 'thinking', thinking: 'Hm.', signature: 'S' },
      { type: 'redacted_thinking', data: 'D' },
      { type: 'thinking', thinking: '', signature: 'T' },
      text('Look.'),
      { type: 'thinking', thinking: 'More.', signature: 'S' },
      { type: 'tool_use', id: c1, name: 'echo', input: { text: 'a' } },
    ]);
    const other = testRuntime({ caching: 'none', model: 'claude-opus-4-6' });
    assert.deepEqual(
      wireOf(request, {}, other)[1]?.content.map((block) => (block as { type: string }).type),
      ['text', 'tool_use'],
    );
  });

  test('what has no seal, a damaged one or one of another dialect stays here', () => {
    const parts = [
      { kind: 'reasoning', text: 'a', origin: ours } as const,
      thought('b', 'damaged'),
      thought('c', 'null'),
      thought('d', '{"type":"reasoning","encrypted_content":"x"}'),
      thought('e', '{"type":"thinking","signature":""}'),
    ];
    assert.deepEqual(wireOf([user('hi'), assistant(...parts, { kind: 'text', text: 'x' })])[1]?.content, [text('x')]);
  });

  test('a message never ends with one, and one that is nothing else is left out', () => {
    const wire = wireOf([
      user('hi'),
      assistant({ kind: 'text', text: 'x' }, thought('late', signed)),
      user('more'),
      assistant(thought('only', signed)),
      user('again'),
    ]);
    assert.deepEqual(
      wire.map(({ content }) => content),
      [[text('hi')], [text('x')], [text('more'), text('again')]],
    );
  });
});

describe('thinking with a budget', () => {
  const thinks = (messages: readonly Message[], runtime = unmarked) =>
    bodyOf(testRequest(messages, { effort: 'high' }), runtime).thinking !== undefined;
  const foreign = [user('hi'), assistant(call(c1)), result(c1, 'a')];
  const own = [user('hi'), assistant(thought('Hm.', signed), call(c1)), result(c1, 'a')];

  test('is off while a turn lasts that began without a thought of this model', () => {
    assert.deepEqual([thinks([user('hi')]), thinks(foreign), thinks(own)], [true, false, true]);
    const later = [...own, assistant(call(c2)), result(c2, 'b')];
    assert.equal(thinks(later), true);
    assert.equal(thinks(own, testRuntime({ model: 'claude-opus-4-5' })), false);
  });

  test('is off also when a person spoke in the middle of such a turn, and on again in the next', () => {
    assert.equal(thinks([...foreign, user('hurry')]), false);
    assert.equal(thinks([...own, user('hurry')]), true);
    assert.equal(thinks([...own, user('hurry'), assistant(call(c2)), result(c2, 'b')]), false);
    assert.equal(thinks([...foreign, assistant({ kind: 'text', text: 'done' }), user('next')]), true);
  });

  test('models that decide by themselves are not asked for a thought to begin with', () => {
    assert.equal(thinks(foreign, testRuntime({ model: 'claude-opus-4-6' })), true);
  });
});
