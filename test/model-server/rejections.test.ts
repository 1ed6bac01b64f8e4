import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Dialect, Memory } from './dialect.ts';
import { anthropicMessages } from './dialects/anthropic-messages.ts';
import { chatCompletions } from './dialects/chat-completions.ts';
import { responses } from './dialects/responses.ts';
import type { Json } from './json.ts';
import { encrypt, sealOf } from './seal.ts';

const noMemory: Memory = { isThoughtOf: () => false };
const allThought: Memory = { isThoughtOf: () => true };

/** What is said against a request, or null. */
function against(dialect: Dialect, body: Json, memory = noMemory): string | null {
  const problem = dialect.check(body, { 'anthropic-version': '2023-06-01' }, memory);
  return problem === null ? null : (problem.message ?? problem.kind);
}

const user = { role: 'user', content: 'hello' };

// --- Anthropic -------------------------------------------------------------------------------------------------------

const use = (id: string) => ({ type: 'tool_use', id, name: 'terminal', input: {} });
const result = (id: string) => ({ type: 'tool_result', tool_use_id: id, content: 'ok' });
const assistant = (...content: Json[]) => ({ role: 'assistant', content });
const from = (...content: Json[]) => ({ role: 'user', content });
const text = (words: string, more: Json = {}) => ({ type: 'text', text: words, ...more });
const mark = (ttl?: string) => ({ cache_control: { type: 'ephemeral', ...(ttl === undefined ? {} : { ttl }) } });

function toAnthropic(messages: readonly Json[], more: Json = {}): Json {
  return { model: 'm', max_tokens: 4_096, messages, ...more };
}

const anthropicCases: readonly [string, Json, RegExp | null][] = [
  ['a fine request', toAnthropic([user]), null],
  [
    'results first, then words',
    toAnthropic([user, assistant(use('a'), use('b')), from(result('b'), result('a'), text('go on'))]),
    null,
  ],
  ['no limit for the answer', { model: 'm', messages: [user] }, /^max_tokens: Field required$/],
  ['a field that does not exist', toAnthropic([user], { prompt_cache_key: 'x' }), /^prompt_cache_key: Extra inputs/],
  ['a field in a block that does not exist', toAnthropic([from(text('a', { origin: 'x' }))]), /origin: Extra inputs/],
  ['nothing said', toAnthropic([]), /at least one message/],
  [
    'an assistant that speaks first',
    toAnthropic([assistant(text('hi')), user]),
    /first message must use the "user" role/,
  ],
  ['an assistant that speaks last', toAnthropic([user, assistant(text('hi'))]), /must end with a user message/],
  ['an empty text', toAnthropic([from(text(''))]), /must be non-empty/],
  ['a text of white space', toAnthropic([from(text(' \n'))]), /non-whitespace/],
  ['an empty message', toAnthropic([from(), user]), /non-empty content/],
  ['an empty system block', toAnthropic([user], { system: [text('')] }), /^system: text content blocks/],
  [
    'a call without its result',
    toAnthropic([user, assistant(use('a')), user]),
    /without `tool_result` blocks immediately after: a/,
  ],
  [
    'a result behind words',
    toAnthropic([user, assistant(use('a')), from(text('go on'), result('a'))]),
    /immediately after: a/,
  ],
  [
    'a result without its call',
    toAnthropic([from(result('a'))]),
    /unexpected `tool_use_id` found in `tool_result` blocks: a/,
  ],
  ['two results of a call', toAnthropic([user, assistant(use('a')), from(result('a'), result('a'))]), /single result/],
  ['two calls of a name', toAnthropic([user, assistant(use('a'), use('a')), from(result('a'))]), /ids must be unique/],
  ['an id with a dot', toAnthropic([user, assistant(use('a.b')), from(result('a.b'))]), /should match pattern/],
  [
    'five marks',
    toAnthropic([from(...'abcde'.split('').map((letter) => text(letter, mark())))]),
    /maximum of 4 blocks.*Found 5/,
  ],
  [
    'a long mark after a short one',
    toAnthropic([from(text('a', mark()), text('b', mark('1h')))]),
    /must not come after/,
  ],
  ['a short mark after a long one', toAnthropic([from(text('a', mark('1h')), text('b', mark('5m')))]), null],
  [
    'a mark on thinking',
    toAnthropic([user, assistant({ type: 'thinking', thinking: 'a', signature: sealOf('a'), ...mark() }), user]),
    /Extra inputs/,
  ],
  [
    'thoughts with a wrong signature',
    toAnthropic([user, assistant({ type: 'thinking', thinking: 'a', signature: 'x' }), user]),
    /Invalid `signature`/,
  ],
  [
    'thoughts with the right one',
    toAnthropic([user, assistant({ type: 'thinking', thinking: 'a', signature: sealOf('a') }, text('b')), user]),
    null,
  ],
];

for (const [what, body, expected] of anthropicCases) {
  test(`Anthropic ${expected === null ? 'takes' : 'turns down'} ${what}`, () => {
    const said = against(anthropicMessages, body);
    if (expected === null) assert.equal(said, null);
    else assert.match(said ?? '', expected);
  });
}

test('Anthropic wants the thinking back that went before a call, while it thinks', () => {
  const messages = [user, assistant(use('a')), from(result('a'))];
  const thinking = { thinking: { type: 'enabled', budget_tokens: 1_024 } };
  assert.match(against(anthropicMessages, toAnthropic(messages, thinking), allThought) ?? '', /Expected `thinking`/);
  assert.equal(against(anthropicMessages, toAnthropic(messages, thinking)), null);
  assert.equal(against(anthropicMessages, toAnthropic(messages), allThought), null);
});

test('Anthropic wants its version named', () => {
  assert.match(anthropicMessages.check(toAnthropic([user]), {}, noMemory)?.message ?? '', /anthropic-version/);
});

// --- chat completions ------------------------------------------------------------------------------------------------

const asks = (...ids: string[]) => ({
  role: 'assistant',
  content: null,
  tool_calls: ids.map((id) => ({ id, type: 'function', function: { name: 'terminal', arguments: '{}' } })),
});
const gives = (id: string) => ({ role: 'tool', tool_call_id: id, content: 'ok' });
const toChat = (messages: readonly Json[], more: Json = {}): Json => ({ model: 'm', messages, ...more });

const chatCases: readonly [string, Json, RegExp | null][] = [
  ['a fine request', toChat([user]), null],
  ['results in another order', toChat([user, asks('a', 'b'), gives('b'), gives('a'), user]), null],
  [
    'a field that does not exist',
    toChat([user], { max_output_tokens: 1 }),
    /Unrecognized request argument supplied: max_output_tokens/,
  ],
  ['nothing said', toChat([]), /'messages': empty array/],
  ['an empty list of tools', toChat([user], { tools: [] }), /'tools': empty array/],
  ['an empty list of calls', toChat([{ role: 'assistant', content: 'a', tool_calls: [] }]), /tool_calls': empty array/],
  ['an answer of nothing', toChat([{ role: 'assistant', content: null }]), /expected a string, got null/],
  ['a call without its result', toChat([user, asks('a', 'b'), gives('a'), user]), /did not have response messages: b/],
  ['a call without its result at the end', toChat([user, asks('a')]), /did not have response messages: a/],
  ['a result without its call', toChat([user, gives('a')]), /must be a response to a preceeding message/],
  ['two results of a call', toChat([user, asks('a'), gives('a'), gives('a')]), /must be a response/],
  ['two calls of a name', toChat([user, asks('a', 'a'), gives('a')]), /Duplicate value/],
  ['an id that is too long', toChat([user, asks('x'.repeat(41)), gives('x'.repeat(41))]), /maximum length 40/],
  [
    'arguments that are no text',
    toChat([{ role: 'assistant', content: null, tool_calls: [{ id: 'a', function: { name: 'b', arguments: {} } }] }]),
    /expected a string/,
  ],
];

for (const [what, body, expected] of chatCases) {
  test(`chat completions ${expected === null ? 'take' : 'turn down'} ${what}`, () => {
    const said = against(chatCompletions, body);
    if (expected === null) assert.equal(said, null);
    else assert.match(said ?? '', expected);
  });
}

test('some chat completions want the reasoning back that went before a call of this turn', () => {
  const body = toChat([user, asks('a'), gives('a')], { model: 'deepseek-flash' });
  assert.match(against(chatCompletions, body, allThought) ?? '', /reasoning_content is missing/);
  const back = { ...asks('a'), reasoning_content: 'thoughts' };
  assert.equal(against(chatCompletions, { ...body, messages: [user, back, gives('a')] }, allThought), null);
  assert.equal(against(chatCompletions, { ...body, messages: [user, asks('a'), gives('a'), user] }, allThought), null);
});

test('Gemini wants the signatures of its calls back, Mistral short ids and nobody between a tool and a person', () => {
  const gemini = toChat([user, asks('a'), gives('a')], { model: 'gemini-3.8-flash' });
  assert.match(against(chatCompletions, gemini, allThought) ?? '', /missing a thought_signature/);
  const mistral = (messages: readonly Json[]) =>
    against(chatCompletions, toChat(messages, { model: 'mistral-medium' }));
  assert.match(mistral([user, asks('a'), gives('a')]) ?? '', /with a length of 9/);
  assert.match(mistral([user, asks('abcdefghi'), gives('abcdefghi'), user]) ?? '', /Unexpected role 'user'/);
  assert.equal(mistral([user, asks('abcdefghi'), gives('abcdefghi')]), null);
});

test('thoughts of an aggregator come back with their signature or not at all', () => {
  const spoke = (signature: string) => ({
    role: 'assistant',
    content: 'a',
    reasoning_details: [{ type: 'reasoning.text', text: 'b', signature }],
  });
  const body = (signature: string) => toChat([user, spoke(signature), user], { model: 'anthropic/claude' });
  assert.match(against(chatCompletions, body('x')) ?? '', /Invalid `signature`/);
  assert.equal(against(chatCompletions, body(sealOf('b'))), null);
});

// --- responses -------------------------------------------------------------------------------------------------------

const called = (id: string, more: Json = {}) => ({
  type: 'function_call',
  call_id: id,
  name: 'terminal',
  arguments: '{}',
  ...more,
});
const output = (id: string) => ({ type: 'function_call_output', call_id: id, output: 'ok' });
const thought = (id: string, block: string) => ({ type: 'reasoning', id, summary: [], encrypted_content: block });
const toResponses = (input: readonly Json[], more: Json = {}): Json => ({ model: 'm', input, store: false, ...more });

const responsesCases: readonly [string, Json, RegExp | null][] = [
  ['a fine request', toResponses([user]), null],
  [
    'a call with its reasoning',
    toResponses([user, thought('rs_1', encrypt('a')), called('a', { id: 'fc_0_rs_1' }), output('a')]),
    null,
  ],
  ['a field that does not exist', toResponses([user], { messages: [] }), /Unknown parameter: 'messages'/],
  ['nothing said', toResponses([]), /"input"/],
  ['a call without its result', toResponses([user, called('a'), user]), /No tool output found for function call a/],
  [
    'a result without its call',
    toResponses([user, output('a')]),
    /No tool call found for function call output with call_id a/,
  ],
  ['a result before its call', toResponses([user, output('a'), called('a')]), /No tool call found/],
  ['two calls of a name', toResponses([user, called('a'), called('a'), output('a')]), /Duplicate/],
  ['two results of a call', toResponses([user, called('a'), output('a'), output('a')]), /Duplicate/],
  [
    'a block that it did not make',
    toResponses([user, thought('rs_1', 'abc.def'), called('a'), output('a')]),
    /could not be verified/,
  ],
  [
    'reasoning that nothing follows',
    toResponses([user, thought('rs_1', encrypt('a'))]),
    /without its required following item/,
  ],
  [
    'reasoning that the user follows',
    toResponses([user, thought('rs_1', encrypt('a')), user]),
    /without its required following item/,
  ],
  [
    'a call of its own without its reasoning',
    toResponses([user, called('a', { id: 'fc_0_rs_1' }), output('a')]),
    /without its required 'reasoning' item: 'rs_1'/,
  ],
  [
    'reasoning that is kept nowhere',
    toResponses([user, { type: 'reasoning', id: 'rs_1', summary: [] }, called('a'), output('a')]),
    /Items are not persisted/,
  ],
  [
    'an answer spelled as input',
    toResponses([user, { role: 'assistant', content: [{ type: 'input_text', text: 'a' }] }]),
    /Supported values are: 'output_text' and 'refusal'/,
  ],
];

for (const [what, body, expected] of responsesCases) {
  test(`responses ${expected === null ? 'take' : 'turn down'} ${what}`, () => {
    const said = against(responses, body);
    if (expected === null) assert.equal(said, null);
    else assert.match(said ?? '', expected);
  });
}
