/** The OpenAI-compatible API as the official client uses it, over a real listener. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import OpenAI from 'openai';
import type { FakePort, FakeTurn } from '../src/channels/openai-api/fake-port.ts';
import { onePixel, serving, until, type TestServer } from '../src/channels/openai-api/test-server.ts';

const clientOf = (server: TestServer, options: { maxRetries?: number } = {}) =>
  new OpenAI({ baseURL: server.url, apiKey: 'desk', maxRetries: 0, ...options });

const hello = [{ role: 'user', content: 'hello' }] as const;

/** A turn with a tool in it, as the gateway shows one. */
function turnWithTool(port: FakePort, { session, inboxId }: FakeTurn): void {
  const { home } = port;
  const turnId = home.openTurn(session, inboxId);
  const callId = home.ids.next('cal');
  port.write(session, turnId, 'Let me ', 'look.');
  home.show(session, { kind: 'draft-cleared', turnId });
  const call = { kind: 'tool-call', callId, name: 'terminal', arguments: '{}' } as const;
  const message = { role: 'assistant', parts: [{ kind: 'text', text: 'Let me look.' }, call] } as const;
  home.append(session, turnId, { kind: 'message', message, modelCallId: home.ids.next('mdl') });
  home.show(session, { kind: 'call-started', turnId, callId, name: 'terminal', arguments: '{}' });
  home.show(session, { kind: 'call-ended', turnId, callId, outcome: 'finished' });
  home.settle(session, turnId, callId, 'ok');
  port.write(session, turnId, 'All is ', 'well.');
  port.say(session, turnId, 'All is well.');
  home.close(session, turnId, 'answered');
}

describe('the official client, chat completions', () => {
  test('a question gets an answer, with usage and the name of its session', () =>
    serving(async (server) => {
      server.port.answerAll((text) => `You said ${text}.`);
      const { data, response } = await clientOf(server)
        .chat.completions.create({ model: 'talaria', messages: [...hello], temperature: 0.2, user: 'x' })
        .withResponse();
      assert.match(data.id, /^chatcmpl-/);
      assert.deepEqual(data, {
        id: data.id,
        object: 'chat.completion',
        created: 0,
        model: 'talaria',
        choices: [
          {
            index: 0,
            message: { role: 'assistant', content: 'You said hello.', refusal: null, annotations: [] },
            logprobs: null,
            finish_reason: 'stop',
          },
        ],
        usage: {
          prompt_tokens: 30,
          completion_tokens: 7,
          total_tokens: 37,
          prompt_tokens_details: { cached_tokens: 20 },
          completion_tokens_details: { reasoning_tokens: 2 },
        },
      });
      assert.equal(response.headers.get('x-talaria-session'), 'chat-1');
    }));

  test('a stream comes in pieces, shows its tools, and ends with usage', () =>
    serving(async (server) => {
      server.port.onAsk = (turn) => setImmediate(() => turnWithTool(server.port, turn));
      const stream = await clientOf(server).chat.completions.create({
        model: 'talaria',
        messages: [...hello],
        stream: true,
        stream_options: { include_usage: true },
      });
      const chunks = await Array.fromAsync(stream);
      const text = chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('');
      assert.equal(text, 'Let me look.\n\nAll is well.');
      const shown = chunks.flatMap((chunk) => ('talaria' in chunk ? [chunk.talaria] : []));
      const states = (shown as { tool: string; state: string }[]).map(({ tool, state }) => `${tool} ${state}`);
      assert.deepEqual(states, ['terminal started', 'terminal finished']);
      assert.deepEqual(
        chunks.map((chunk) => chunk.choices[0]?.finish_reason ?? null).filter((reason) => reason !== null),
        ['stop'],
      );
      assert.equal(chunks.at(-1)?.usage?.total_tokens, 37);
      assert.deepEqual(chunks.at(-1)?.choices, []);
    }));

  test('the stream helper puts the same answer together as a request without stream', () =>
    serving(async (server) => {
      server.port.onAsk = (turn) => setImmediate(() => turnWithTool(server.port, turn));
      const runner = clientOf(server).chat.completions.stream({ model: 'talaria', messages: [...hello] });
      assert.equal(await runner.finalContent(), 'Let me look.\n\nAll is well.');
      const whole = await clientOf(server).chat.completions.create({ model: 'talaria', messages: [...hello] });
      assert.equal(whole.choices[0]?.message.content, 'Let me look.\n\nAll is well.');
    }));

  test('an image comes with the message', () =>
    serving(async (server) => {
      server.port.answerAll(() => 'A dot.');
      const url = `data:image/png;base64,${onePixel}`;
      const content = [
        { type: 'text', text: 'What is it?' },
        { type: 'image_url', image_url: { url } },
      ] as const;
      await clientOf(server).chat.completions.create({
        model: 'talaria',
        messages: [{ role: 'user', content: [...content] }],
      });
      const [request] = server.port.requests;
      const image = request?.contents[0];
      assert.deepEqual(request?.message.parts, [
        { kind: 'text', text: 'What is it?' },
        {
          kind: 'image',
          content: { sha256: image?.sha256, bytes: image?.bytes.byteLength, mediaType: 'image/png' },
        },
      ]);
      assert.equal(Buffer.from(image?.bytes ?? []).toString('base64'), onePixel);
    }));

  test('a refused request is an error with its field; it asks nobody', () =>
    serving(async (server) => {
      const client = clientOf(server);
      const tool = { type: 'function', function: { name: 'f' } } as const;
      const refused = client.chat.completions.create({ model: 'talaria', messages: [...hello], tools: [tool] });
      await assert.rejects(refused, (error) => {
        assert.ok(error instanceof OpenAI.BadRequestError);
        assert.deepEqual(
          [error.status, error.type, error.param, error.code],
          [400, 'invalid_request_error', 'tools', 'unsupported_parameter'],
        );
        return true;
      });
      const unknown = client.chat.completions.create({ model: 'gpt-9', messages: [...hello] });
      await assert.rejects(
        unknown,
        (error) => error instanceof OpenAI.NotFoundError && error.code === 'model_not_found',
      );
      assert.deepEqual(server.port.requests, []);
    }));

  test('a failed turn is an error with the words of its notice, and the client does not try it again', () =>
    serving(async (server) => {
      const { port } = server;
      port.onAsk = ({ session, inboxId }) => {
        const turnId = port.home.openTurn(session, inboxId);
        port.home.append(session, turnId, { kind: 'notice', text: 'No key works any more.' });
        port.home.close(session, turnId, 'failed');
      };
      const client = clientOf(server, { maxRetries: 2 });
      await assert.rejects(client.chat.completions.create({ model: 'talaria', messages: [...hello] }), (error) => {
        assert.ok(error instanceof OpenAI.APIError);
        assert.deepEqual([error.status, error.code], [502, 'turn_failed']);
        assert.match(error.message, /No key works any more\./);
        return true;
      });
      assert.equal(port.requests.length, 1);
      const stream = await client.chat.completions.create({ model: 'talaria', messages: [...hello], stream: true });
      await assert.rejects(Array.fromAsync(stream), /No key works any more\./);
    }));

  test('leaving a stream stops the turn, unless the session is stored or the request can be repeated', () =>
    serving(async (server) => {
      const { port } = server;
      const client = clientOf(server);
      port.onAsk = ({ session, inboxId }) => port.write(session, port.home.openTurn(session, inboxId), 'On and on');
      const leave = async (headers: Record<string, string>) => {
        const abort = new AbortController();
        const stream = await client.chat.completions.create(
          { model: 'talaria', messages: [...hello], stream: true },
          { headers, signal: abort.signal },
        );
        const { session } = [...port.home.admitted.values()].at(-1) ?? assert.fail('nothing was asked');
        await until(() => session.streams.size > 0);
        const [followed] = session.streams;
        for await (const chunk of stream) if (chunk.choices.length > 0) break;
        abort.abort();
        // Another one may wait for the end of the turn, to close the session.
        await until(() => followed !== undefined && !session.streams.has(followed));
        return session.id;
      };
      await leave({ 'X-Talaria-Session': 'kept' });
      await leave({ 'Idempotency-Key': 'again' });
      const left = await leave({});
      await until(() => port.stopped.length > 0);
      assert.deepEqual(port.stopped, [left]);
    }));
});

describe('the official client, responses', () => {
  test('a question gets a response, and a response can be followed by another question', () =>
    serving(async (server) => {
      const client = clientOf(server);
      server.port.answerAll((text) => `You said ${text}.`);
      const first = await client.responses.create({ model: 'talaria', input: 'one', instructions: 'Be brief.' });
      assert.deepEqual([first.status, first.output_text], ['completed', 'You said one.']);
      assert.deepEqual(first.usage, {
        input_tokens: 30,
        input_tokens_details: { cached_tokens: 20 },
        output_tokens: 7,
        output_tokens_details: { reasoning_tokens: 2 },
        total_tokens: 37,
      });
      const second = await client.responses.create({ model: 'talaria', input: 'two', previous_response_id: first.id });
      assert.equal(second.output_text, 'You said two.');
      assert.equal(server.port.home.sessions.length, 1);
      assert.deepEqual(
        server.port.requests.map(({ session }) => session),
        [
          { kind: 'fresh', history: [], system: 'Be brief.', isContinued: true },
          { kind: 'existing', id: server.port.home.sessions[0]?.id },
        ],
      );
      const again = await client.responses.retrieve(second.id);
      assert.deepEqual([again.id, again.output_text], [second.id, second.output_text]);
      const behind = client.responses.create({ model: 'talaria', input: 'three', previous_response_id: first.id });
      await assert.rejects(behind, (error) => error instanceof OpenAI.ConflictError);
    }));

  test('a stream has its events in order, numbered, and ends in the whole response', () =>
    serving(async (server) => {
      server.port.onAsk = (turn) => setImmediate(() => turnWithTool(server.port, turn));
      const stream = await clientOf(server).responses.create({ model: 'talaria', input: 'go', stream: true });
      const events = await Array.fromAsync(stream);
      const message = (deltas: number) => [
        'response.output_item.added',
        'response.content_part.added',
        ...Array.from({ length: deltas }, () => 'response.output_text.delta'),
        'response.output_text.done',
        'response.content_part.done',
        'response.output_item.done',
      ];
      assert.deepEqual(
        events.map((event) => event.type as string),
        [
          'response.created',
          'response.in_progress',
          ...message(2),
          'response.in_progress',
          'response.in_progress',
          ...message(2),
          'response.completed',
        ],
      );
      assert.deepEqual(
        events.map((event) => event.sequence_number),
        events.map((_, index) => index),
      );
      const shown = events.flatMap((event) => ('talaria' in event ? [event.talaria] : []));
      const states = (shown as { tool: string; state: string }[]).map(({ tool, state }) => `${tool} ${state}`);
      assert.deepEqual(states, ['terminal started', 'terminal finished']);
      const last = events.at(-1);
      assert.ok(last?.type === 'response.completed');
      assert.deepEqual(
        last.response.output.map((item) => item.type === 'message' && item.content),
        ['Let me look.', 'All is well.'].map((text) => [{ type: 'output_text', text, annotations: [], logprobs: [] }]),
      );
    }));

  test('the stream helper puts the response together', () =>
    serving(async (server) => {
      const { port } = server;
      port.onAsk = ({ session, inboxId }) =>
        setImmediate(() => {
          const turnId = port.home.openTurn(session, inboxId);
          port.write(session, turnId, 'Let me');
          // In the middle of a message, too.
          port.home.show(session, { kind: 'status', turnId, text: 'Still waiting.' });
          port.write(session, turnId, ' look.');
          port.say(session, turnId, 'Let me look.');
          port.home.show(session, { kind: 'status', turnId, text: '' });
          port.say(session, turnId, 'All is well.');
          port.home.close(session, turnId, 'answered');
        });
      const runner = clientOf(server).responses.stream({ model: 'talaria', input: 'go' });
      const response = await runner.finalResponse();
      assert.deepEqual([response.status, response.output.length], ['completed', 2]);
      assert.equal(response.output_text, 'Let me look.All is well.');
    }));

  test('a turn that fails in mid-stream is told as such', () =>
    serving(async (server) => {
      const { port } = server;
      port.onAsk = ({ session, inboxId }) =>
        setImmediate(() => {
          const turnId = port.home.openTurn(session, inboxId);
          port.write(session, turnId, 'Half');
          port.home.show(session, { kind: 'draft-cleared', turnId });
          port.home.append(session, turnId, { kind: 'notice', text: 'The model is gone.' });
          port.home.close(session, turnId, 'failed');
        });
      const stream = await clientOf(server).responses.create({ model: 'talaria', input: 'go', stream: true });
      const last = (await Array.fromAsync(stream)).at(-1);
      assert.ok(last?.type === 'response.failed');
      assert.deepEqual(last.response.error, { code: 'server_error', message: 'The model is gone.' });
    }));
});

test('the official client lists models and finds one', () =>
  serving(async (server) => {
    const client = clientOf(server);
    const ids = (await Array.fromAsync(client.models.list())).map(({ id }) => id);
    assert.deepEqual(ids, ['talaria', 'offline/rehearsal']);
    assert.equal((await client.models.retrieve('offline/rehearsal')).owned_by, 'offline');
    await assert.rejects(client.models.retrieve('nothing'), OpenAI.NotFoundError);
  }));
