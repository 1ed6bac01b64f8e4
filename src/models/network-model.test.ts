import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { RequestListener, ServerResponse } from 'node:http';
import { systemClock } from '../lib/clock.ts';
import type { Model, ModelEvent, Runtime } from './model.ts';
import { collect, modelSuite } from './model-suite.ts';
import { createNetworkModel } from './network-model.ts';
import { chatCompletions } from './protocols/chat-completions/chat-completions.ts';
import { answerWithWords } from './protocols/chat-completions/test-streams.ts';
import { scriptedRuntime, testKey, testRequest } from './scripted-model.ts';
import { createHttpClient } from './transport/http-client.ts';
import { closed, serveHttp, serveRaw, type LoopbackServer } from './transport/loopback-server.ts';

const never = new AbortController().signal;
const whole = sse(answerWithWords);

function sse(events: readonly (object | string)[]): string {
  return events.map((event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`).join('');
}

function modelAt(origin: string, overrides: Partial<Runtime> = {}): Model & Disposable {
  const runtime = scriptedRuntime({ provider: 'openai', baseUrl: `${origin}/v1/`, stallMs: 5_000, ...overrides });
  const client = createHttpClient({ clock: systemClock, env: {}, stallMs: runtime.stallMs });
  const model = createNetworkModel({ runtime, protocol: chatCompletions, client, clock: systemClock });
  return { ...model, [Symbol.dispose]: () => model.close() };
}

async function ask(model: Model, signal = never): Promise<ModelEvent[]> {
  return collect(model.stream(model.prepare(testRequest()), testKey, signal));
}

/** What a model that is served this says in the end: how it stopped, or why it failed. */
async function endOf(listener: RequestListener, overrides: Partial<Runtime> = {}): Promise<readonly unknown[]> {
  await using server = await serveHttp(listener);
  using model = modelAt(server.origin, overrides);
  const events = await ask(model);
  assert.equal(events.filter((event) => event.kind === 'end' || event.kind === 'failed').length, 1);
  const last = events.at(-1);
  assert.ok(last?.kind === 'end' || last?.kind === 'failed');
  if (last.kind === 'end') return [last.stop];
  const { reason, transport, message } = last.error;
  assert.ok(!message.includes(testKey.secret) && !message.includes('\n'), message);
  return transport === null ? [reason] : [reason, transport];
}

const served = (body: string | Buffer, status = 200, headers: Record<string, string> = {}): RequestListener => {
  return (_request, response) => {
    response.writeHead(status, { 'content-type': 'text/event-stream', ...headers });
    response.end(body);
  };
};

// --- the contract ----------------------------------------------------------------------------------------------------

/** Says its words slowly enough to be stopped in between. */
function speak(response: ServerResponse): void {
  const [first = '', ...rest] = answerWithWords.map((event) => sse([event]));
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(first);
  const timer = setInterval(() => {
    const next = rest.shift();
    if (next === undefined) response.end();
    else response.write(next);
    if (next === undefined) clearInterval(timer);
  }, 3);
  response.on('close', () => clearInterval(timer));
}

const speaking = await serveHttp((_request, response) => speak(response));
const opened: Model[] = [];
after(async () => {
  for (const model of opened) model.close();
  await speaking[Symbol.asyncDispose]();
});

modelSuite('the network model', {
  create() {
    const model = modelAt(speaking.origin);
    opened.push(model);
    return model;
  },
  request: testRequest(),
  key: testKey,
});

// --- what is sent ----------------------------------------------------------------------------------------------------

test('the prepared bytes are posted below the base URL, with the key', async () => {
  const seen: unknown[] = [];
  await using server = await serveHttp((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const { authorization, accept, 'content-type': type, 'accept-encoding': encoding } = request.headers;
      seen.push([request.url, authorization, accept, type, encoding, body]);
      response.end(whole);
    });
  });
  using model = modelAt(`${server.origin}/proxy`, { baseUrl: `${server.origin}/proxy/v1/?tenant=a` });
  await ask(model);
  const { body } = model.prepare(testRequest());
  const expected = ['/proxy/v1/chat/completions?tenant=a', `Bearer ${testKey.secret}`, 'text/event-stream'];
  assert.deepEqual(seen, [[...expected, 'application/json', 'identity', body]]);
});

test('without a key no header is sent for one', async () => {
  const seen: unknown[] = [];
  await using server = await serveHttp((request, response) => {
    seen.push(request.headers.authorization);
    response.end(whole);
  });
  using model = modelAt(server.origin);
  await collect(model.stream(model.prepare(testRequest()), { id: '', secret: '' }, never));
  assert.deepEqual(seen, [undefined]);
});

test('several calls in a row use one connection', async () => {
  await using server = await serveHttp(served(whole));
  using model = modelAt(server.origin);
  for (let round = 0; round < 3; round++) assert.equal((await ask(model)).at(-1)?.kind, 'end');
  assert.equal(server.sockets.length, 1);
});

// --- what comes back -------------------------------------------------------------------------------------------------

test('a failed answer is explained, with how long to wait', async () => {
  const body = JSON.stringify({ error: { message: `Too fast, ${testKey.secret}.`, type: 'requests' } });
  await using server = await serveHttp(served(body, 429, { 'content-type': 'application/json', 'retry-after': '7' }));
  using model = modelAt(server.origin);
  const [event] = await ask(model);
  assert.ok(event?.kind === 'failed');
  const { reason, retryAfterMs, message } = event.error;
  assert.deepEqual(
    [reason, retryAfterMs, message],
    ['rate-limit', 7_000, 'openai has had too many requests for now (HTTP 429): Too fast, [key].'],
  );
});

test('a failed answer that breaks off is told by its status', async () => {
  await using server = await serveRaw((socket) => {
    socket.write('HTTP/1.1 503 Busy\r\ncontent-length: 900\r\n\r\nhalf', () =>
      setTimeout(() => socket.resetAndDestroy(), 10),
    );
  });
  using model = modelAt(server.origin);
  const [event] = await ask(model);
  assert.ok(event?.kind === 'failed');
  assert.equal(event.error.reason, 'overloaded');
});

test('an error object with status 200 is what it says', async () => {
  const overloaded = JSON.stringify({ error: { message: 'Overloaded', type: 'overloaded_error' } });
  assert.deepEqual(await endOf(served(overloaded, 200, { 'content-type': 'application/json' })), ['overloaded']);
  assert.deepEqual(await endOf(served(overloaded)), ['overloaded']);
  assert.deepEqual(await endOf(served(`\n${JSON.stringify([{ error: { code: 401, message: 'no' } }])}`)), ['auth']);
});

test('anything else that is no stream makes no sense, and is shown', async () => {
  for (const body of [
    '<html>Welcome to the hotel</html>',
    '{"choices":[{"message":{}}]}',
    'OK',
    '\u0000\u0001\u0002',
  ]) {
    assert.deepEqual(await endOf(served(body)), ['malformed-stream'], body);
  }
  await using server = await serveHttp(served('<html>Welcome to the hotel</html>'));
  using model = modelAt(server.origin);
  const [event] = await ask(model);
  assert.ok(event?.kind === 'failed');
  assert.equal(event.error.message, 'openai sent no events but "<html>Welcome to the hotel</html>".');
});

test('an empty body, or comments only, is malformed', async () => {
  assert.deepEqual(await endOf(served('')), ['malformed-stream']);
  assert.deepEqual(await endOf(served(': thinking\n\n: still\n\n')), ['malformed-stream']);
});

test('an answer is read however its lines end, however it is cut, and without a word of its kind', async () => {
  assert.deepEqual(await endOf(served(whole.replaceAll('\n', '\r\n'))), ['answer']);
  assert.deepEqual(await endOf(served(`\ufeff${whole}`, 200, { 'content-type': 'text/plain' })), ['answer']);
  const bytes = Buffer.from(whole.replace('Hello', 'Grüße 😀'));
  assert.deepEqual(
    await endOf((_request, response) => {
      for (let at = 0; at < bytes.length; at += 7) response.write(bytes.subarray(at, at + 7));
      response.end();
    }),
    ['answer'],
  );
});

test('an answer that somebody compressed on the way is read, too', async () => {
  assert.deepEqual(await endOf(served(gzipSync(whole), 200, { 'content-encoding': 'gzip' })), ['answer']);
  assert.deepEqual(await endOf(served('nonsense', 200, { 'content-encoding': 'gzip' })), ['malformed-stream']);
  assert.deepEqual(await endOf(served('nonsense', 200, { 'content-encoding': 'rot13' })), ['malformed-stream']);
});

test('an event of a megabyte is read; one without end is given up', async () => {
  const large = { choices: [{ delta: { content: 'x'.repeat(1024 * 1024) }, finish_reason: 'stop' }] };
  assert.deepEqual(await endOf(served(sse([large]))), ['answer']);
  const chunk = 'x'.repeat(1024 * 1024);
  const endless: RequestListener = (_request, response) => {
    response.write('data: ');
    const more = () => {
      while (!response.destroyed) if (!response.write(chunk)) return void response.once('drain', more);
    };
    more();
  };
  assert.deepEqual(await endOf(endless), ['malformed-stream']);
});

test('a stream that stalls, before or within the answer, has timed out', async () => {
  assert.deepEqual(await endOf(() => {}, { stallMs: 30 }), ['timeout', 'read-timeout']);
  const stalls: RequestListener = (_request, response) => void response.write(sse(answerWithWords.slice(0, 2)));
  assert.deepEqual(await endOf(stalls, { stallMs: 30 }), ['timeout', 'read-timeout']);
});

test('comments keep a stream from stalling', async () => {
  const slow: RequestListener = (_request, response) => {
    let count = 0;
    const timer = setInterval(() => {
      if (++count < 12) response.write(': wait\n\n');
      else {
        clearInterval(timer);
        response.end(whole);
      }
    }, 20);
  };
  assert.deepEqual(await endOf(slow, { stallMs: 150 }), ['answer']);
});

test('an answer that was whole before the connection failed is an answer', async () => {
  const noDone = sse(answerWithWords.slice(0, 4));
  assert.deepEqual(await endOf((_request, response) => void response.write(noDone), { stallMs: 30 }), ['answer']);
  assert.deepEqual(await endOf(reset(noDone)), ['answer']);
});

test('a reset in the middle of an answer is a reset', async () => {
  assert.deepEqual(await endOf(reset(sse(answerWithWords.slice(0, 2)))), ['connection', 'reset']);
});

function reset(body: string): RequestListener {
  return (_request, response) => {
    response.write(body, () =>
      setTimeout(() => (response.socket as { resetAndDestroy?(): void })?.resetAndDestroy?.(), 10),
    );
  };
}

test('an end without a finish reason is a cut', async () => {
  assert.deepEqual(await endOf(served(sse(answerWithWords.slice(0, 3)))), ['malformed-stream']);
});

test('what is sent after the end is not listened to', async () => {
  const twice = `${whole}data: [DONE]\n\ndata: {"error":{"message":"late"}}\n\n`;
  assert.deepEqual(await endOf(served(twice)), ['answer']);
});

test('an abort while nothing comes ends at once and destroys the socket', async () => {
  const stop = new AbortController();
  await using server: LoopbackServer = await serveHttp((_request, response) => {
    response.write(sse(answerWithWords.slice(0, 2)));
    setTimeout(() => stop.abort(), 20);
  });
  using model = modelAt(server.origin);
  const events = await ask(model, stop.signal);
  const last = events.at(-1);
  assert.ok(last?.kind === 'failed');
  assert.deepEqual(
    [events[0]?.kind, last.error.reason, last.error.message],
    ['text-delta', 'cancelled', 'The answer was stopped.'],
  );
  await closed(server.sockets[0]);
});

test('after an abort nothing is said of what had already come', async () => {
  const stop = new AbortController();
  await using server = await serveHttp(served(whole));
  using model = modelAt(server.origin);
  const kinds: string[] = [];
  for await (const event of model.stream(model.prepare(testRequest()), testKey, stop.signal)) {
    kinds.push(event.kind === 'failed' ? event.error.reason : event.kind);
    stop.abort();
  }
  assert.deepEqual(kinds, ['text-delta', 'cancelled']);
});

test('whoever stops listening in the middle leaves no connection open', async () => {
  await using server = await serveHttp((_request, response) => void response.write(sse(answerWithWords.slice(0, 2))));
  using model = modelAt(server.origin);
  for await (const event of model.stream(model.prepare(testRequest()), testKey, never)) {
    assert.equal(event.kind, 'text-delta');
    break;
  }
  await closed(server.sockets[0]);
});
