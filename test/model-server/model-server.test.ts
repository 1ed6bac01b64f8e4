import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test, type TestContext } from 'node:test';
import { protocols } from './dialect.ts';
import { startModelServer } from './model-server.ts';
import type { ModelServer, ModelServerOptions } from './server-contract.ts';
import { ask, firstRequest, spokenIn } from './test-client.ts';

async function started(test: TestContext, options: ModelServerOptions = {}): Promise<ModelServer> {
  const server = await startModelServer(options);
  test.after(() => server.close());
  return server;
}

for (const protocol of protocols) {
  test(`${protocol}: words are streamed, and the same answer comes whole without a stream`, async (test) => {
    const server = await started(test);
    const words = 'say a word and another one, and one more';
    const streamed = await ask(server, protocol, firstRequest(protocol, words));
    const whole = await ask(
      server,
      protocol,
      firstRequest(protocol, words, { stream: false, stream_options: undefined }),
    );
    assert.equal(spokenIn(streamed.events), 'a word and another one, and one more');
    assert.match(whole.text, /"a word and another one, and one more"/);
    assert.equal(whole.status, 200);
  });

  test(`${protocol}: a wrong key, an unknown model and a body that is too long are turned down`, async (test) => {
    const server = await started(test, { keys: ['right'], bodyBytesMax: 2_000 });
    const body = firstRequest(protocol, 'say hello');
    const right = { authorization: 'Bearer right', 'x-api-key': 'right' };
    const codes = [
      await ask(server, protocol, body, { authorization: 'Bearer wrong', 'x-api-key': 'wrong' }),
      await ask(server, protocol, { ...body, model: 'no-such-model' }, right),
      await ask(server, protocol, firstRequest(protocol, 'x'.repeat(3_000)), right),
      await ask(server, protocol, body, right),
    ].map(({ status }) => status);
    assert.deepEqual(codes, [401, 404, 413, 200]);
  });

  test(`${protocol}: a prompt that is longer than the window is turned down`, async (test) => {
    const server = await started(test, { windowTokens: 1_000 });
    const came = await ask(server, protocol, firstRequest(protocol, 'x'.repeat(5_000)));
    assert.equal(came.status, 400);
    assert.match(came.text, /context|prompt is too long/);
  });
}

test('calls and their results in OpenAI’s chat completions', async (test) => {
  const server = await started(test);
  const body = firstRequest('chat_completions', 'run date then run id');
  const first = await ask(server, 'chat_completions', body);
  const pieces = first.events.flatMap((event) => (event['choices'] as { delta: { tool_calls?: unknown[] } }[]) ?? []);
  const calls = pieces.flatMap(({ delta }) => delta.tool_calls ?? []) as {
    id?: string;
    function: { arguments: string };
  }[];
  assert.equal(calls.map((call) => call.function.arguments).join(''), '{"command":"date"}');
  const id = calls[0]?.id ?? '';
  assert.match(id, /^call_/);
  assert.deepEqual(first.events.at(-1), { done: '[DONE]' });

  const call = { id, type: 'function', function: { name: 'terminal', arguments: '{"command":"date"}' } };
  const round = (callId: string, given: string) => [
    { role: 'assistant', content: null, tool_calls: [{ ...call, id: callId }] },
    { role: 'tool', tool_call_id: callId, content: given },
  ];
  const messages = [{ role: 'user', content: 'run date then run id' }, ...round('a', 'Monday')];
  const second = await ask(server, 'chat_completions', { ...body, messages });
  assert.match(second.text, /\{\\"command\\":\\"id\\"\}/);
  const last = await ask(server, 'chat_completions', { ...body, messages: [...messages, ...round('b', 'root')] });
  assert.equal(spokenIn(last.events), 'terminal gave: Monday\n\nterminal gave: root');
});

test('a call and its result in OpenAI’s responses, with the reasoning that goes with it', async (test) => {
  const server = await started(test);
  const more = { reasoning: { effort: 'low' }, include: ['reasoning.encrypted_content'] };
  const body = firstRequest('responses', 'run date', more);
  const first = await ask(server, 'responses', body);
  const done = first.events.at(-1) as { type: string; response: { output: { type: string }[] } };
  assert.equal(done.type, 'response.completed');
  const items = done.response.output;
  assert.deepEqual(
    items.map(({ type }) => type),
    ['reasoning', 'function_call'],
  );
  const callId = (items[1] as unknown as { call_id: string }).call_id;
  const result = { type: 'function_call_output', call_id: callId, output: 'Monday' };
  const input = [{ role: 'user', content: 'run date' }, ...items, result];
  const last = await ask(server, 'responses', { ...body, input });
  assert.equal(spokenIn(last.events), 'terminal gave: Monday');
});

test('a call and its result in Anthropic’s messages, with the thinking that goes with it', async (test) => {
  const server = await started(test);
  const body = firstRequest('anthropic_messages', 'run date', { thinking: { type: 'enabled', budget_tokens: 2_000 } });
  const first = await ask(server, 'anthropic_messages', { ...body, stream: false });
  const content = first.json['content'] as { type: string; id: string }[];
  assert.deepEqual(
    content.map(({ type }) => type),
    ['thinking', 'tool_use'],
  );
  const result = { type: 'tool_result', tool_use_id: content[1]?.id, content: 'Monday' };
  const messages = [
    { role: 'user', content: 'run date' },
    { role: 'assistant', content },
    { role: 'user', content: [result] },
  ];
  const last = await ask(server, 'anthropic_messages', { ...body, messages });
  assert.equal(spokenIn(last.events), 'terminal gave: Monday');
  const types = last.events.map((event) => event['type']);
  assert.deepEqual([types[0], types.at(-2), types.at(-1)], ['message_start', 'message_delta', 'message_stop']);
});

test('what was ordered is said before what the script would say', async (test) => {
  const server = await started(test);
  server.order({ reply: { text: 'ordered', usage: { input: 7, output: 3 } } });
  const ordered = await ask(server, 'chat_completions', firstRequest('chat_completions', 'say scripted'));
  const scripted = await ask(server, 'chat_completions', firstRequest('chat_completions', 'say scripted'));
  assert.deepEqual(
    [ordered, scripted].map(({ events }) => spokenIn(events)),
    ['ordered', 'scripted'],
  );
  assert.match(ordered.text, /"prompt_tokens":7,"completion_tokens":3/);
});

test('every request is on record, without its key', async (test) => {
  const server = await started(test);
  await ask(server, 'anthropic_messages', firstRequest('anthropic_messages', 'say hello'));
  const [record] = server.requests();
  assert.deepEqual(
    [record?.protocol, record?.model, record?.ended, record?.body?.['max_tokens'], record?.headers['x-api-key']],
    ['anthropic_messages', 'scripted', 'whole', 4_096, '(secret)'],
  );
  assert.ok(!JSON.stringify(server.requests()).includes('key-1'));
});

test('lists of models come in each provider’s form', async (test) => {
  const server = await started(test, { models: ['one'] });
  const list = async (path: string, headers = {}) => (await fetch(server.url + path, { headers })).json();
  const names = [
    ((await list('/v1/models')) as { data: { id: string }[] }).data[0]?.id,
    ((await list('/v1/models', { 'anthropic-version': '2023-06-01' })) as { data: { id: string }[] }).data[0]?.id,
    ((await list('/api/tags')) as { models: { name: string }[] }).models[0]?.name,
  ];
  assert.deepEqual(names, ['one', 'one', 'one']);
});

test('as a process of its own it is ordered about through its control routes', async (test) => {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'main.ts')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  test.after(() => child.kill('SIGKILL'));
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  const url = /^listening on (http:\/\/127\.0\.0\.1:\d+)$/.exec(line)?.[1] ?? '';
  const control = async (name: string, body?: object) => {
    const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    return (await fetch(`${url}/control/${name}`, init)).json();
  };
  const events = await fetch(`${url}/control/events`);
  const say = async () => {
    const body = JSON.stringify(firstRequest('chat_completions', 'say scripted'));
    return (await fetch(`${url}/v1/chat/completions`, { method: 'POST', body })).status;
  };
  await control('fault', { name: 'status-503' });
  assert.deepEqual([await say(), await say()], [503, 200]);
  await control('reply', { reply: { text: 'ordered' } });
  assert.deepEqual(await control('fault', { name: 'nothing-like-it' }), { error: 'there is no fault nothing-like-it' });
  const { requests } = (await control('requests')) as { requests: { fault: string | null; ended: string }[] };
  assert.deepEqual(
    requests.map(({ fault, ended }) => [fault, ended]),
    [
      ['status-503', 'whole'],
      [null, 'whole'],
    ],
  );
  const reader = events.body?.getReader();
  const first = new TextDecoder().decode((await reader?.read())?.value as Uint8Array);
  assert.match(first, /^\{"kind":"request","at":/);
  await reader?.cancel();
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  assert.deepEqual(await ended, [0, null]);
});
