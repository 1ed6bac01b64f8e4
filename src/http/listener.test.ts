import assert from 'node:assert/strict';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { silentLog } from '../lib/log.ts';
import { json, readJson, type HttpResponse } from './http-message.ts';
import { listen, type Listener } from './listener.ts';
import { createRouter, type Route } from './router.ts';

async function serving(routes: Route[], use: (listener: Listener) => Promise<void>): Promise<void> {
  const listener = await listen({ host: '127.0.0.1', port: 0, handle: createRouter(routes), log: silentLog });
  try {
    await use(listener);
  } finally {
    await listener.close();
  }
}

function send(
  listener: Listener,
  options: { method?: string; path: string; body?: string | Buffer; type?: string },
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(
      {
        host: '127.0.0.1',
        port: listener.port,
        method: options.method ?? 'GET',
        path: options.path,
        headers: { 'content-type': options.type ?? 'application/json' },
      },
      (incoming) =>
        void text(incoming).then((body) => resolve({ status: incoming.statusCode ?? 0, text: body }), reject),
    );
    outgoing.on('error', reject);
    outgoing.end(options.body);
  });
}

const echo: Route = { method: 'POST', path: '/echo', handle: async (request) => json(await readJson(request, 100)) };

test('a JSON body comes in and a JSON answer goes out', () =>
  serving([echo], async (listener) => {
    assert.deepEqual(await send(listener, { method: 'POST', path: '/echo', body: '{"a":1}' }), {
      status: 200,
      text: '{"a":1}\n',
    });
  }));

test('bodies that are too large, broken or of another type are refused with a reason', () =>
  serving([echo], async (listener) => {
    const tries: [string | Buffer, string | undefined, number, RegExp][] = [
      [JSON.stringify('x'.repeat(200)), undefined, 413, /larger than 100 bytes/],
      ['{"a":', undefined, 400, /not valid JSON/],
      [Buffer.from([0x22, 0xff, 0x22]), undefined, 400, /not valid UTF-8/],
      ['{}', 'text/plain', 415, /application\/json/],
    ];
    for (const [body, type, status, words] of tries) {
      const answer = await send(listener, {
        method: 'POST',
        path: '/echo',
        body,
        ...(type === undefined ? {} : { type }),
      });
      assert.equal(answer.status, status);
      assert.match(answer.text, words);
    }
  }));

test('JSON that is nested a million deep is answered, not fatal', () =>
  serving(
    [{ ...echo, handle: async (request) => json(typeof (await readJson(request, 10_000_000))) }],
    async (listener) => {
      const answer = await send(listener, { method: 'POST', path: '/echo', body: '['.repeat(1_000_000) });
      assert.equal(answer.status, 400);
    },
  ));

test('a handler that throws is a 500 that tells nothing of the inside', () =>
  serving([{ method: 'GET', path: '/x', handle: () => Promise.reject(new Error('the inside')) }], async (listener) => {
    const answer = await send(listener, { path: '/x' });
    assert.equal(answer.status, 500);
    assert.doesNotMatch(answer.text, /the inside/);
  }));

test('a client that goes away aborts the request and ends its stream', async () => {
  const ended = Promise.withResolvers<void>();
  const route: Route = {
    method: 'GET',
    path: '/stream',
    handle: (request): HttpResponse => ({
      status: 200,
      body: (async function* () {
        try {
          yield 'first';
          await new Promise((resolve) => request.signal.addEventListener('abort', resolve, { once: true }));
        } finally {
          ended.resolve();
        }
      })(),
    }),
  };
  await serving([route], async (listener) => {
    const incoming = await new Promise<IncomingMessage>((resolve) =>
      httpRequest({ host: '127.0.0.1', port: listener.port, path: '/stream' }, resolve).end(),
    );
    await new Promise((resolve) => incoming.once('data', resolve));
    incoming.destroy();
    await ended.promise;
  });
});

test('closing ends open streams and resolves', async () => {
  const route: Route = {
    method: 'GET',
    path: '/stream',
    handle: (request): HttpResponse => ({
      status: 200,
      body: (async function* () {
        yield 'first';
        await new Promise((resolve) => request.signal.addEventListener('abort', resolve, { once: true }));
      })(),
    }),
  };
  const listener = await listen({ host: '127.0.0.1', port: 0, handle: createRouter([route]), log: silentLog });
  const incoming = await new Promise<IncomingMessage>((resolve) =>
    httpRequest({ host: '127.0.0.1', port: listener.port, path: '/stream' }, resolve).end(),
  );
  await new Promise((resolve) => incoming.once('data', resolve));
  const ended = new Promise((resolve) => incoming.once('close', resolve));
  incoming.resume();
  await listener.close();
  await ended;
});

test('what is not HTTP is answered with 400 and closed', () =>
  serving([echo], async (listener) => {
    const socket = connect(listener.port, '127.0.0.1');
    socket.end('\u0016\u0003 hello\r\n\r\n');
    assert.match(await text(socket), /^HTTP\/1\.1 400/);
  }));
