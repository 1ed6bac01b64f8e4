import assert from 'node:assert/strict';
import { once } from 'node:events';
import test from 'node:test';
import { systemClock, type Clock } from '../../lib/clock.ts';
import { FakeClock } from '../../lib/fake-clock.ts';
import { ModelError } from '../model.ts';
import { createHttpClient, type HttpClient, type HttpClientLimits } from './http-client.ts';
import { closed, serveHttp, serveRaw, serveSilence } from './loopback-server.ts';
import type { Environment } from './proxy.ts';

const never = new AbortController().signal;

interface Options {
  readonly stallMs?: number;
  readonly clock?: Clock;
  readonly env?: Environment;
  readonly limits?: Partial<HttpClientLimits>;
}

function client(options: Options = {}): HttpClient & Disposable {
  const created = createHttpClient({ clock: systemClock, env: {}, stallMs: 5_000, ...options });
  return { ...created, [Symbol.dispose]: () => created.close() };
}

async function textOf(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  let text = '';
  for await (const chunk of chunks) text += Buffer.from(chunk).toString();
  return text;
}

async function ask(using: HttpClient, origin: string, signal = never): Promise<string> {
  return textOf((await using.post(new URL(`${origin}/v1/x`), {}, '{}', signal)).chunks);
}

/** How a call fails, told by what others act on. */
async function failureOf(call: Promise<unknown>): Promise<readonly (string | null)[]> {
  try {
    await call;
  } catch (error) {
    assert.ok(error instanceof ModelError, String(error));
    return [error.reason, error.transport];
  }
  return ['no failure'];
}

test('a request is posted as it is, and its answer is streamed', async () => {
  const seen: unknown[] = [];
  await using server = await serveHttp((request, response) => {
    const { authorization, 'content-length': length, 'accept-encoding': encoding } = request.headers;
    seen.push([request.method, request.url, authorization, length, encoding]);
    response.writeHead(203, { 'X-Answer': 'yes' });
    response.write('one ');
    setImmediate(() => response.end('two'));
  });
  using http = client();
  const answer = await http.post(new URL(`${server.origin}/v1/x?a=b`), { authorization: 'Bearer k' }, '{"ü":1}', never);
  assert.deepEqual([answer.status, answer.headers['x-answer']], [203, 'yes']);
  assert.equal(await textOf(answer.chunks), 'one two');
  assert.deepEqual(seen, [['POST', '/v1/x?a=b', 'Bearer k', '8', undefined]]);
});

test('connections are kept and used again', async () => {
  await using server = await serveHttp((_request, response) => response.end('ok'));
  using http = client();
  for (let round = 0; round < 3; round++) assert.equal(await ask(http, server.origin), 'ok');
  assert.equal(server.sockets.length, 1);
});

test('a kept connection that died unnoticed is replaced without a word, once', async () => {
  const ok = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';
  await using server = await serveRaw((socket, { connection, count }) => {
    if (connection === 1 && count > 1) socket.resetAndDestroy();
    else socket.write(ok);
  });
  using http = client();
  assert.deepEqual([await ask(http, server.origin), await ask(http, server.origin)], ['ok', 'ok']);
  assert.equal(server.sockets.length, 2);
});

test('where one kept connection had died, another kept one is not tried', async () => {
  const early: (() => void)[] = [];
  await using server = await serveRaw((socket, { connection, count }) => {
    const answer = () => void socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok');
    // The first two are answered together, so that there are two connections; both die with their next request.
    if (count <= 2) early.push(answer);
    if (count === 2) for (const each of early) each();
    if (count > 2 && connection <= 2) socket.resetAndDestroy();
    else if (count > 2) answer();
  });
  using http = client();
  await Promise.all([ask(http, server.origin), ask(http, server.origin)]);
  assert.equal(await ask(http, server.origin), 'ok');
  assert.equal(server.sockets.length, 3);
});

test('a fresh connection that dies before the answer is a reset, and not tried again', async () => {
  await using server = await serveRaw((socket) => socket.resetAndDestroy());
  using http = client();
  assert.deepEqual(await failureOf(ask(http, server.origin)), ['connection', 'reset']);
  assert.equal(server.sockets.length, 1);
});

test('a server that hangs up before the answer is a reset', async () => {
  await using server = await serveRaw((socket) => socket.end());
  using http = client();
  assert.deepEqual(await failureOf(ask(http, server.origin)), ['connection', 'reset']);
});

test('what came before a reset is read first', async () => {
  await using server = await serveRaw((socket) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf', () =>
      setTimeout(() => socket.resetAndDestroy(), 20),
    );
  });
  using http = client();
  const { chunks } = await http.post(new URL(server.origin), {}, '', never);
  const seen: string[] = [];
  const reading = (async () => {
    for await (const chunk of chunks) seen.push(Buffer.from(chunk).toString());
  })();
  assert.deepEqual(await failureOf(reading), ['connection', 'reset']);
  assert.deepEqual(seen, ['half']);
});

test('an answer that ends too early is a reset, also when it ends politely', async () => {
  await using server = await serveRaw((socket) =>
    socket.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n'),
  );
  using http = client();
  assert.deepEqual(await failureOf(ask(http, server.origin)), ['connection', 'reset']);
});

test('a server that takes the request and says nothing has stalled', async () => {
  await using server = await serveSilence();
  using http = client({ stallMs: 30 });
  assert.deepEqual(await failureOf(ask(http, server.origin)), ['timeout', 'read-timeout']);
  await closed(server.sockets[0]);
});

test('a server that falls silent in the middle has stalled', async () => {
  await using server = await serveHttp((_request, response) => void response.write('one'));
  using http = client({ stallMs: 30 });
  assert.deepEqual(await failureOf(ask(http, server.origin)), ['timeout', 'read-timeout']);
  await closed(server.sockets[0]);
});

test('a reader that takes its time is no stall, however much there is to read', async () => {
  const size = 3 * 1024 * 1024;
  await using server = await serveHttp((_request, response) => response.end('x'.repeat(size)));
  using http = client({ stallMs: 150 });
  const { chunks } = await http.post(new URL(server.origin), {}, '', never);
  let bytes = 0;
  for await (const chunk of chunks) {
    if (bytes === 0) await new Promise((resolve) => setTimeout(resolve, 300));
    bytes += chunk.byteLength;
  }
  assert.equal(bytes, size);
});

test('the time that a reader takes between two waits does not count', async () => {
  await using server = await serveHttp((_request, response) => {
    response.flushHeaders();
    setTimeout(() => response.write('one'), 20);
    setTimeout(() => response.end('two'), 300);
  });
  using http = client({ stallMs: 150 });
  const { chunks } = await http.post(new URL(server.origin), {}, '', never);
  const seen: string[] = [];
  for await (const chunk of chunks) {
    seen.push(Buffer.from(chunk).toString());
    if (seen.length === 1) await new Promise((resolve) => setTimeout(resolve, 230));
  }
  assert.deepEqual(seen, ['one', 'two']);
});

test('a port where nobody listens is a connect error', async () => {
  const server = await serveSilence();
  await server[Symbol.asyncDispose]();
  using http = client();
  assert.deepEqual(await failureOf(ask(http, server.origin)), ['connection', 'connect-error']);
});

test('a name that does not exist is a connect error', async () => {
  using http = client();
  assert.deepEqual(await failureOf(ask(http, 'http://nowhere.invalid')), ['connection', 'connect-error']);
});

test('a handshake that nobody answers is a connect timeout', async () => {
  await using server = await serveSilence();
  using http = client({ limits: { connectTimeoutMs: 30 } });
  const call = ask(http, `https://127.0.0.1:${server.port}`);
  assert.deepEqual(await failureOf(call), ['timeout', 'connect-timeout']);
  await closed(server.sockets[0]);
});

test('one request too many waits for its place, and not for ever', async () => {
  await using server = await serveHttp((_request, response) => void response.write('open'));
  using http = client({ limits: { requestsMax: 1, poolWaitMs: 30 } });
  await http.post(new URL(server.origin), {}, '', never);
  assert.deepEqual(await failureOf(ask(http, server.origin)), ['timeout', 'pool-timeout']);
});

test('a place that becomes free goes to who has waited longest', async () => {
  const order: string[] = [];
  await using server = await serveHttp((request, response) => {
    order.push(request.url ?? '');
    setImmediate(() => response.end());
  });
  using http = client({ limits: { requestsMax: 1 } });
  const post = async (path: string) => textOf((await http.post(new URL(path, server.origin), {}, '', never)).chunks);
  await Promise.all(['/1', '/2', '/3'].map(post));
  assert.deepEqual(order, ['/1', '/2', '/3']);
  assert.equal(server.sockets.length, 1);
});

test('a failed request gives its place back', async () => {
  await using bad = await serveRaw((socket) => socket.resetAndDestroy());
  await using good = await serveHttp((_request, response) => response.end('ok'));
  using http = client({ limits: { requestsMax: 1, poolWaitMs: 10 } });
  await failureOf(ask(http, bad.origin));
  assert.equal(await ask(http, good.origin), 'ok');
});

test('an abort ends a request at once at every stage, and destroys its socket', async (t) => {
  const aborted = ['cancelled', null];
  await t.test('before it starts', async () => {
    using http = client();
    assert.deepEqual(await failureOf(ask(http, 'http://127.0.0.1:9', AbortSignal.abort())), aborted);
  });
  await t.test('while it waits for a place', async () => {
    await using server = await serveHttp((_request, response) => void response.write('open'));
    using http = client({ limits: { requestsMax: 1 } });
    await http.post(new URL(server.origin), {}, '', never);
    const stop = new AbortController();
    const call = failureOf(ask(http, server.origin, stop.signal));
    stop.abort();
    assert.deepEqual(await call, aborted);
  });
  await t.test('while it connects', async () => {
    await using server = await serveSilence();
    using http = client();
    const stop = new AbortController();
    const call = failureOf(ask(http, `https://127.0.0.1:${server.port}`, stop.signal));
    while (server.sockets.length === 0) await new Promise((resolve) => setImmediate(resolve));
    stop.abort();
    assert.deepEqual(await call, aborted);
    await closed(server.sockets[0]);
  });
  await t.test('while it waits for the answer', async () => {
    const stop = new AbortController();
    await using server = await serveHttp(() => stop.abort());
    using http = client();
    assert.deepEqual(await failureOf(ask(http, server.origin, stop.signal)), aborted);
    await closed(server.sockets[0]);
  });
  await t.test('in the middle of the answer', async () => {
    await using server = await serveHttp((_request, response) => void response.write('one'));
    using http = client();
    const stop = new AbortController();
    const { chunks } = await http.post(new URL(server.origin), {}, '', stop.signal);
    const reading = (async () => {
      for await (const chunk of chunks) if (chunk.byteLength > 0) setImmediate(() => stop.abort());
    })();
    assert.deepEqual(await failureOf(reading), aborted);
    await closed(server.sockets[0]);
  });
});

test('closed, a client ends what is under way and what is kept, and does nothing more', async () => {
  await using server = await serveHttp((request, response) => {
    if (request.url === '/short') response.end('ok');
    else response.write('open');
  });
  const http = client();
  const short = await http.post(new URL('/short', server.origin), {}, '', never);
  const long = await http.post(new URL('/long', server.origin), {}, '', never);
  await textOf(short.chunks);
  http.close();
  http.close();
  assert.deepEqual(await failureOf(textOf(long.chunks)), ['connection', 'reset']);
  assert.deepEqual(await failureOf(ask(http, server.origin)), ['connection', 'reset']);
  await Promise.all(server.sockets.map(closed));
});

test('what is not HTTP, or has a head without end, makes no sense', async () => {
  await using garbage = await serveRaw((socket) => socket.write('SSH-2.0-OpenSSH_9.9\r\n'));
  await using endless = await serveRaw((socket) =>
    socket.write(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(100_000)}\r\n\r\n`),
  );
  using http = client();
  assert.deepEqual(await failureOf(ask(http, garbage.origin)), ['malformed-stream', null]);
  assert.deepEqual(await failureOf(ask(http, endless.origin)), ['malformed-stream', null]);
});

test('a key that no header can carry is a matter of the key', async () => {
  using http = client();
  const call = http.post(new URL('http://127.0.0.1:9'), { authorization: 'Bearer a\nb' }, '', never);
  assert.deepEqual(await failureOf(call), ['auth', null]);
});

test('a reader that has enough leaves the connection for the next one, if the rest comes soon', async () => {
  await using server = await serveHttp((_request, response) => {
    response.write('enough');
    setTimeout(() => response.end('rest'), 20);
  });
  using http = client();
  const readOne = async () => {
    for await (const chunk of (await http.post(new URL(server.origin), {}, '', never)).chunks) return chunk.byteLength;
    return 0;
  };
  assert.equal(await readOne(), 6);
  await new Promise((resolve) => setTimeout(resolve, 60));
  assert.equal(await readOne(), 6);
  assert.equal(server.sockets.length, 1);
});

test('a reader that has enough does not wait for a server without end', async () => {
  await using server = await serveHttp((_request, response) => void response.write('enough'));
  const clock = new FakeClock();
  using http = client({ clock });
  for await (const chunk of (await http.post(new URL(server.origin), {}, '', never)).chunks) {
    assert.equal(chunk.byteLength, 6);
    break;
  }
  await clock.advance(1_000);
  await closed(server.sockets[0]);
  assert.equal(clock.pendingTimers, 0);
});

test('a proxy is used where the environment asks for it', async () => {
  const asked: string[] = [];
  await using proxy = await serveHttp((request, response) => {
    asked.push(request.url ?? '');
    response.end('through the proxy');
  });
  using http = client({ env: { http_proxy: proxy.origin, NO_PROXY: 'direct.invalid' } });
  assert.equal(await ask(http, 'http://model.invalid'), 'through the proxy');
  assert.deepEqual(asked, ['http://model.invalid/v1/x']);
  assert.deepEqual(await failureOf(ask(http, 'http://direct.invalid')), ['connection', 'connect-error']);
});

test('what runs on this machine is not asked for through a proxy', async () => {
  await using server = await serveHttp((_request, response) => response.end('direct'));
  using http = client({ env: { http_proxy: 'http://127.0.0.1:9', HTTP_PROXY: 'http://127.0.0.1:9' } });
  assert.equal(await ask(http, server.origin), 'direct');
});

test('a proxy that refuses the tunnel is a connect error', async () => {
  const proxy = process.getBuiltinModule('node:http').createServer();
  proxy.on('connect', (_request, socket) => socket.end('HTTP/1.1 403 Forbidden\r\n\r\n'));
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const address = proxy.address();
  assert.ok(typeof address === 'object' && address !== null);
  using http = client({ env: { https_proxy: `http://127.0.0.1:${address.port}` } });
  assert.deepEqual(await failureOf(ask(http, 'https://model.invalid')), ['connection', 'connect-error']);
  proxy.close();
});
