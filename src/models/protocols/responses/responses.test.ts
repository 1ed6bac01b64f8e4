import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Message } from '../../../protocol/messages.ts';
import type { ModelRequest, Runtime } from '../../model.ts';
import { assistant, call, callId, result, resultWith, testRequest, testRuntime, user } from '../test-runtime.ts';
import { responses } from './responses.ts';

const plain = testRuntime({
  provider: 'openai',
  model: 'gpt-5.4',
  apiMode: 'responses',
  caching: 'automatic',
  quirks: ['effort-none', 'effort-xhigh'],
});
const codex = { ...plain, provider: 'openai-codex' };
const bodyOf = (request: ModelRequest, runtime: Runtime = plain) =>
  JSON.parse(responses.encode(runtime, request).body) as Record<string, unknown>;
const inputOf = (messages: readonly Message[], changes: Partial<ModelRequest> = {}, runtime: Runtime = plain) =>
  bodyOf(testRequest(messages, changes), runtime)['input'];
const c1 = callId(1);
const c2 = callId(2);
const said = (text: string) => ({ type: 'message', role: 'user', content: [{ type: 'input_text', text }] });
const answered = (text: string) => ({
  type: 'message',
  role: 'assistant',
  content: [{ type: 'output_text', text }],
});

describe('headers', () => {
  const token = (claims: object) => `x.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.y`;

  test('a key is a bearer', () => {
    assert.deepEqual(responses.headers(plain, { id: 'k', secret: 's' }), { authorization: 'Bearer s' });
    assert.deepEqual(responses.headers(plain, { id: '', secret: '' }), {});
  });

  test("a subscription's token names its account", () => {
    const secret = token({ 'https://api.openai.com/auth': { chatgpt_account_id: 'acc-1' } });
    const expected = { 'openai-beta': 'responses=experimental', originator: 'talaria' };
    assert.deepEqual(responses.headers(codex, { id: 'k', secret }), {
      authorization: `Bearer ${secret}`,
      ...expected,
      'chatgpt-account-id': 'acc-1',
    });
    assert.deepEqual(responses.headers({ ...plain, quirks: ['codex'] }, { id: 'k', secret: 's' }), {
      authorization: 'Bearer s',
      ...expected,
    });
  });

  test('a token without a readable account has none', () => {
    const secrets = [
      token({}),
      token({ 'https://api.openai.com/auth': null }),
      token({ 'https://api.openai.com/auth': { chatgpt_account_id: 'a\r\nb' } }),
      'x.%%%.y',
      '..',
    ];
    for (const secret of secrets) {
      assert.equal('chatgpt-account-id' in responses.headers(codex, { id: 'k', secret }), false, secret);
    }
  });
});

describe('the body', () => {
  test('its bytes are these, keys in this order, without white space', () => {
    const messages = [user('hi'), assistant({ kind: 'text', text: 'Look.' }, call(c1)), result(c1, 'a')];
    const { body, units } = responses.encode(plain, testRequest(messages, { effort: 'low' }));
    const tool =
      '{"type":"function","name":"echo","description":"Says it again.","parameters":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]},"strict":false}';
    const items = [
      '{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}',
      '{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Look."}]},' +
        `{"type":"function_call","call_id":"${c1}","name":"echo","arguments":"{\\"text\\":\\"a\\"}"}`,
      `{"type":"function_call_output","call_id":"${c1}","output":"a"}`,
    ];
    assert.equal(
      body,
      '{"model":"gpt-5.4","stream":true,"store":false,"max_output_tokens":16000,' +
        '"include":["reasoning.encrypted_content"],"reasoning":{"effort":"low","summary":"auto"},' +
        `"prompt_cache_key":"ses_1","tool_choice":"auto","parallel_tool_calls":true,"tools":[${tool}],` +
        `"instructions":"Be kind.","input":[${items.join(',')}]}`,
    );
    assert.deepEqual(units, [
      `[${tool}]`,
      '"Be kind."',
      '{"effort":"low","summary":"auto"}',
      ...items.map((item) => `[${item}]`),
    ]);
  });

  test('what does not apply is left out', () => {
    const runtime = { ...plain, reasons: false, caching: 'none' as const };
    const body = bodyOf(testRequest([user('hi')], { tools: [], systemPrompt: '', effort: 'high' }), runtime);
    assert.deepEqual(body, {
      model: 'gpt-5.4',
      stream: true,
      store: false,
      max_output_tokens: 16_000,
      input: [said('hi')],
    });
  });

  test('how hard to think is said only if somebody chose it', () => {
    const reasoning = (effort: ModelRequest['effort']) => bodyOf(testRequest([user('hi')], { effort }))['reasoning'];
    assert.deepEqual(reasoning(null), { summary: 'auto' });
    assert.deepEqual(reasoning('none'), { effort: 'none' });
    assert.deepEqual(reasoning('max'), { effort: 'xhigh', summary: 'auto' });
  });

  test('a subscription takes no limit and wants instructions', () => {
    const {
      max_output_tokens: limit,
      instructions,
      store,
    } = bodyOf(testRequest([user('hi')], { systemPrompt: ' ' }), codex);
    assert.deepEqual(
      { limit, instructions, store },
      {
        limit: undefined,
        instructions: 'You are a helpful assistant.',
        store: false,
      },
    );
  });

  test('an answer may not be limited to less than the API allows', () => {
    const limit = bodyOf(testRequest([user('hi')]), { ...plain, outputTokensMax: 1 })['max_output_tokens'];
    assert.equal(limit, 16);
  });

  test('a long cache key becomes one of 64 characters, the same every time', () => {
    const key = (cacheKey: string) => String(bodyOf(testRequest([user('hi')], { cacheKey }))['prompt_cache_key']);
    assert.equal(key('x'.repeat(64)), 'x'.repeat(64));
    assert.match(key('x'.repeat(65)), /^[0-9a-f]{64}$/);
    assert.equal(key('x'.repeat(65)), key('x'.repeat(65)));
    assert.notEqual(key('x'.repeat(65)), key('x'.repeat(66)));
  });
});

describe('items', () => {
  test('calls, results and people follow each other as they did', () => {
    const input = inputOf([
      user('hi'),
      user(' '),
      assistant({ kind: 'text', text: '\n' }, call(c1, 'no json', 'a.b'), call(c2)),
      result(c1, 'no', 'failed'),
      result(c2, '', 'unknown'),
      user('stop that'),
    ]);
    assert.deepEqual(input, [
      said('hi'),
      said('(an empty message)'),
      { type: 'function_call', call_id: c1, name: 'a_b', arguments: '{}' },
      { type: 'function_call', call_id: c2, name: 'echo', arguments: '{"text":"a"}' },
      { type: 'function_call_output', call_id: c1, output: '[failed] no' },
      { type: 'function_call_output', call_id: c2, output: '[outcome unknown] (Whether it finished is not known.)' },
      said('stop that'),
    ]);
  });

  test('images are data where they can be seen, and named otherwise', () => {
    const content = { sha256: 'abc', bytes: 3, mediaType: 'image/png' };
    const message: Message = { role: 'user', parts: [{ kind: 'image', content }] };
    const contents = new Map([['abc', Uint8Array.of(1, 2, 3)]]);
    assert.deepEqual(inputOf([message], { contents }), [
      {
        type: 'message',
        role: 'user',
        content: [{ type: 'input_image', image_url: 'data:image/png;base64,AQID', detail: 'auto' }],
      },
    ]);
    const named = [said("[An image (image/png, 3 bytes) was attached; you can't see it here.]")];
    assert.deepEqual(inputOf([message]), named);
    assert.deepEqual(inputOf([message], { contents }, { ...plain, seesImages: false }), named);
  });

  test('pictures of a result are in it, and named where they can not be seen', () => {
    const content = { sha256: 'abc', bytes: 3, mediaType: 'image/png' };
    const shown = resultWith(c1, 'a', [content]);
    const messages = [user('hi'), assistant(call(c1)), shown];
    const contents = new Map([['abc', Uint8Array.of(1, 2, 3)]]);
    assert.deepEqual((inputOf(messages, { contents }) as unknown[])[2], {
      type: 'function_call_output',
      call_id: c1,
      output: [
        { type: 'input_text', text: 'a' },
        { type: 'input_image', image_url: 'data:image/png;base64,AQID', detail: 'auto' },
      ],
    });
    assert.deepEqual((inputOf(messages, { contents }, { ...plain, seesImages: false }) as unknown[])[2], {
      type: 'function_call_output',
      call_id: c1,
      output: "a\n[An image (image/png, 3 bytes) was attached; you can't see it here.]",
    });
  });

  test('thoughts go back sealed, to the model that had them, and never without what they led to', () => {
    const item = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'E' };
    const thought = (opaque: string, origin = 'openai/gpt-5.4') =>
      ({ kind: 'reasoning', text: 'Hm.', opaque, origin }) as const;
    const messages = [
      user('hi'),
      assistant(
        thought(JSON.stringify(item)),
        thought('{"type":"thinking","signature":"S"}'),
        thought('damaged'),
        thought('null'),
        thought(JSON.stringify(item), 'openai/gpt-5.3'),
        { kind: 'reasoning', text: 'x', origin: 'openai/gpt-5.4' },
        { kind: 'text', text: 'Look.' },
        thought(JSON.stringify(item)),
      ),
    ];
    assert.deepEqual(inputOf(messages), [said('hi'), item, answered('Look.')]);
    assert.deepEqual(inputOf(messages, {}, codex), [said('hi'), answered('Look.')]);
  });

  test('an input is never empty', () => {
    assert.deepEqual(inputOf([]), [said('Go on.')]);
    assert.deepEqual(inputOf([assistant({ kind: 'text', text: '' })]), [said('Go on.')]);
  });
});
