/** The server against the providers' own clients: what they make of it is what they make of the real thing. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { startModelServer } from './model-server.ts';
import type { ModelServer } from './server-contract.ts';

let server: ModelServer;
before(async () => (server = await startModelServer()));
after(() => server.close());

const openai = () => new OpenAI({ apiKey: 'key-1', baseURL: `${server.url}/v1`, maxRetries: 0 });
const anthropic = () => new Anthropic({ apiKey: 'key-1', baseURL: server.url, maxRetries: 0 });

const parameters = { type: 'object' as const, properties: { command: { type: 'string' } } };

test('OpenAI’s client reads a chat completion with words, a call and usage', async () => {
  const stream = openai().chat.completions.stream({
    model: 'scripted',
    messages: [{ role: 'user', content: 'run date' }],
    tools: [{ type: 'function', function: { name: 'terminal', parameters } }],
    stream_options: { include_usage: true },
  });
  const { choices, usage } = await stream.finalChatCompletion();
  const [choice] = choices;
  const call = choice?.message.tool_calls?.[0];
  assert.equal(choice?.finish_reason, 'tool_calls');
  assert.equal(call?.type === 'function' && call.function.arguments, '{"command":"date"}');
  assert.ok(usage !== undefined && usage.prompt_tokens > 0 && usage.prompt_tokens_details?.cached_tokens === 0);
});

test('OpenAI’s client reads a response with reasoning, words and a call', async () => {
  server.order({
    reply: { reasoning: 'I think.', text: 'I will.', calls: [{ name: 'terminal', arguments: '{"command":"date"}' }] },
  });
  const stream = openai().responses.stream({
    model: 'scripted',
    input: 'run date',
    include: ['reasoning.encrypted_content'],
    tools: [{ type: 'function', name: 'terminal', parameters, strict: false }],
    store: false,
  });
  const { output, output_text: text, status, usage } = await stream.finalResponse();
  assert.deepEqual(
    output.map(({ type }) => type),
    ['reasoning', 'message', 'function_call'],
  );
  assert.deepEqual([status, text, usage?.input_tokens_details.cached_tokens], ['completed', 'I will.', 0]);
});

test('Anthropic’s client reads a message with thinking, words and a call, and sends it back as it came', async () => {
  server.order({
    reply: { reasoning: 'I think.', text: 'I will.', calls: [{ name: 'terminal', arguments: '{"command":"date"}' }] },
  });
  const request = {
    model: 'scripted',
    max_tokens: 4_096,
    thinking: { type: 'enabled' as const, budget_tokens: 2_000 },
    tools: [{ name: 'terminal', input_schema: parameters }],
  };
  const first = { role: 'user' as const, content: 'run date' };
  const message = await anthropic()
    .messages.stream({ ...request, messages: [first] })
    .finalMessage();
  assert.deepEqual(
    message.content.map(({ type }) => type),
    ['thinking', 'text', 'tool_use'],
  );
  assert.equal(message.stop_reason, 'tool_use');
  const call = message.content.find((block) => block.type === 'tool_use');
  assert.deepEqual(call?.input, { command: 'date' });
  const results = [{ type: 'tool_result' as const, tool_use_id: call?.id ?? '', content: 'Monday' }];
  const last = await anthropic()
    .messages.stream({
      ...request,
      messages: [first, { role: 'assistant', content: message.content }, { role: 'user', content: results }],
    })
    .finalText();
  assert.equal(last, 'terminal gave: Monday');
});

test('their clients know its errors by name', async () => {
  const refuse = async (name: string, call: () => PromiseLike<unknown>) => {
    server.inject({ name });
    return Promise.resolve(call()).then(
      () => 'answered',
      (error: Error) => error.constructor.name,
    );
  };
  const chat = () => openai().chat.completions.create({ model: 'a', messages: [{ role: 'user', content: 'say hi' }] });
  const messages = () =>
    anthropic().messages.create({ model: 'a', max_tokens: 9, messages: [{ role: 'user', content: 'say hi' }] });
  const names = ['status-400', 'status-401', 'status-403', 'status-404', 'status-429', 'status-500'];
  const expected = [
    'BadRequestError',
    'AuthenticationError',
    'PermissionDeniedError',
    'NotFoundError',
    'RateLimitError',
    'InternalServerError',
  ];
  for (const call of [chat, messages]) {
    const seen: string[] = [];
    for (const name of names) seen.push(await refuse(name, call));
    assert.deepEqual(seen, expected);
  }
});

test('OpenAI’s and Anthropic’s clients list the models', async () => {
  const openaiModels = (await openai().models.list()).data.map(({ id }) => id);
  const anthropicModels = (await anthropic().models.list()).data.map(({ id }) => id);
  assert.deepEqual(openaiModels, anthropicModels);
  assert.ok(openaiModels.includes('scripted'));
});
