/** What the listener does about clients that no browser is: slow ones, greedy ones, and those that play with the protocol. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { openRaw, rawRequest, sendRaw, statusOf, type RawConnection } from '../../test/support/raw-http.ts';
import { silentLog, type Log } from '../lib/log.ts';
import { json, readJson, type HttpRequest, type HttpResponse } from './http-message.ts';
import type { ListenerLimits } from './listener-limits.ts';
import { listen } from './listener.ts';
import { createRouter, type Route } from './router.ts';

interface Stage {
  readonly port: number;
  /** Texts of the bodies that the echo has read, in order. */
  readonly echoed: unknown[];
  /** Lets the requests to /gate go on. */
  readonly openGate: () => void;
  readonly gateReached: () => number;
  readonly errors: string[];
}

async function onStage(
  limits: Partial<ListenerLimits>,
  use: (stage: Stage) => Promise<void>,
  more: readonly Route[] = [],
): Promise<void> {
  const echoed: unknown[] = [];
  const errors: string[] = [];
  const gate = Promise.withResolvers<void>();
  let reached = 0;
  const routes: Route[] = [
    { method: 'GET', path: '/', handle: () => json('here') },
    {
      method: 'POST',
      path: '/echo',
      async handle(request) {
        const value = await readJson(request, 1_000_000);
        echoed.push(value);
        return json(value);
      },
    },
    { method: 'POST', path: '/deaf', handle: () => json('no') },
    {
      method: 'GET',
      path: '/gate',
      async handle() {
        reached += 1;
        await gate.promise;
        return json('open');
      },
    },
    ...more,
  ];
  const log: Log = { ...silentLog, error: (message) => errors.push(message) };
  const listener = await listen({ host: '127.0.0.1', port: 0, handle: createRouter(routes), log, limits });
  try {
    await use({ port: listener.port, echoed, errors, openGate: gate.resolve, gateReached: () => reached });
    assert.deepEqual(errors, []);
  } finally {
    gate.resolve();
    await listener.close();
  }
}

const postJson = (body: string, headers: Record<string, string | number> = {}) =>
  rawRequest(
    'POST /echo',
    { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), ...headers },
    body,
  );

const soon: Partial<ListenerLimits> = { timeoutCheckMs: 20 };

describe('slow clients', () => {
  test('a head that trickles in is cut off with 408', () =>
    onStage({ ...soon, headersTimeoutMs: 100, requestTimeoutMs: 60_000 }, async ({ port }) => {
      const { socket, closed } = await openRaw(port);
      socket.write('GET / HTTP/1.1\r\nhost: localhost\r\n');
      const trickle = setInterval(() => socket.write('x-y: z\r\n'), 10);
      const answer = await closed;
      clearInterval(trickle);
      assert.equal(statusOf(answer), 408);
      assert.match(answer, /took too long/);
    }));

  test('a body that trickles in is cut off with 408, and was not acted upon', () =>
    onStage({ ...soon, headersTimeoutMs: 50, requestTimeoutMs: 150 }, async ({ port, echoed }) => {
      const { socket, closed } = await openRaw(port);
      socket.write(rawRequest('POST /echo', { 'content-type': 'application/json', 'content-length': 1_000 }));
      const trickle = setInterval(() => socket.write('['), 10);
      assert.equal(statusOf(await closed), 408);
      clearInterval(trickle);
      assert.deepEqual(echoed, []);
    }));

  test('a connection that says nothing at all is closed', () =>
    onStage({ ...soon, headersTimeoutMs: 100, requestTimeoutMs: 100 }, async ({ port }) => {
      const { closed } = await openRaw(port);
      await closed;
    }));

  test('a response that is not read is bounded in memory and cut off in time, a stream as well as a whole', async () => {
    const total = 200_000_000;
    const made = { stream: 0 };
    const ended = Promise.withResolvers<void>();
    const stream: Route = {
      method: 'GET',
      path: '/stream',
      handle: (): HttpResponse => ({
        status: 200,
        body: (async function* () {
          try {
            for (; made.stream < total; made.stream += 100_000) yield 'x'.repeat(100_000);
          } finally {
            ended.resolve();
          }
        })(),
      }),
    };
    const whole: Route = { method: 'GET', path: '/whole', handle: () => ({ status: 200, body: Buffer.alloc(total) }) };
    await onStage(
      { stalledMs: 100 },
      async ({ port }) => {
        const readers = await Promise.all(
          ['GET /stream', 'GET /whole'].map(async (line) => {
            const reader = await openRaw(port);
            reader.socket.pause();
            reader.socket.write(rawRequest(line));
            return reader;
          }),
        );
        await ended.promise;
        // What the system buffers of a connection is a few megabytes.
        assert.ok(made.stream < 20_000_000, String(made.stream));
        for (const { socket, closed } of readers) {
          await new Promise((resolve) => setTimeout(resolve, 300));
          socket.resume();
          const received = await closed;
          assert.equal(statusOf(received), 200);
          assert.ok(received.length < 20_000_000, String(received.length));
        }
      },
      [stream, whole],
    );
  });

  test('small responses that nobody reads are cut off in time too', () => {
    let served = 0;
    const small: Route = { method: 'GET', path: '/small', handle: () => ((served += 1), json('x'.repeat(30_000))) };
    return onStage(
      { stalledMs: 100, pipelinedMax: 2_000 },
      async ({ port }) => {
        const { socket, closed } = await openRaw(port);
        socket.pause();
        socket.write(rawRequest('GET /small', { connection: 'keep-alive' }).repeat(1_000));
        for (let before = -1; before < served;) {
          before = served;
          await new Promise((resolve) => setTimeout(resolve, 300));
        }
        socket.resume();
        assert.ok((await closed).length < 30_000_000);
        assert.ok(served < 1_000);
      },
      [small],
    );
  });
});

describe('very many connections', () => {
  async function opened(port: number, count: number, text: string): Promise<RawConnection[]> {
    const connections: RawConnection[] = [];
    for (let index = 0; index < count; index++) {
      const connection = await openRaw(port);
      connection.socket.write(text);
      connections.push(connection);
    }
    return connections;
  }

  test('half-open requests push out each other, oldest first, and never one that is being served', () =>
    onStage({ connectionsMax: 20 }, async ({ port, openGate, gateReached }) => {
      const served = await opened(port, 1, rawRequest('GET /gate'));
      while (gateReached() < 1) await new Promise(setImmediate);
      const halfOpen = await opened(port, 500, 'GET / HTTP/1.1\r\nhost: localhost\r\nx-half: ');
      await Promise.all(halfOpen.slice(0, 481).map(({ closed }) => closed));
      assert.deepEqual(
        halfOpen.slice(481).map(({ socket }) => socket.closed),
        Array.from({ length: 19 }, () => false),
      );
      assert.equal(statusOf(await sendRaw(port, rawRequest('GET /'))), 200);
      openGate();
      assert.equal(statusOf((await served[0]?.closed) ?? ''), 200);
      for (const { socket } of halfOpen) socket.destroy();
    }));

  test('when all are being served a newcomer is told so with 503', () =>
    onStage({ connectionsMax: 3 }, async ({ port, openGate, gateReached }) => {
      const served = await opened(port, 3, rawRequest('GET /gate'));
      while (gateReached() < 3) await new Promise(setImmediate);
      const refused = await sendRaw(port, rawRequest('GET /'));
      assert.equal(statusOf(refused), 503);
      assert.match(refused, /too many connections/);
      openGate();
      for (const { closed } of served) assert.equal(statusOf(await closed), 200);
      assert.equal(statusOf(await sendRaw(port, rawRequest('GET /'))), 200);
    }));

  test('a body that is still to come does not hold a place that another needs', () =>
    onStage({ connectionsMax: 3 }, async ({ port }) => {
      const head = { 'content-type': 'application/json', 'content-length': 10, expect: '100-continue' };
      const hanging = await opened(port, 3, rawRequest('POST /echo', head));
      for (const { until } of hanging) await until(/100 Continue/);
      assert.equal(statusOf(await sendRaw(port, rawRequest('GET /'))), 200);
      await Promise.race(hanging.map(({ closed }) => closed));
      for (const { socket } of hanging) socket.destroy();
    }));
});

describe('large requests', () => {
  test('a body of a gigabyte is refused by its length, before it is read', () =>
    onStage({}, async ({ port, echoed }) => {
      const { socket, until } = await openRaw(port);
      socket.write(rawRequest('POST /echo', { 'content-type': 'application/json', 'content-length': 1_000_000_000 }));
      const [answer] = await until(/^HTTP[^]*\r\n\r\n/);
      assert.equal(statusOf(answer), 413);
      assert.match(answer, /connection: close/i);
      assert.deepEqual(echoed, []);
      socket.destroy();
    }));

  test('a gigabyte without a length is cut off soon after the limit', () =>
    onStage({ unreadBytesMax: 4_000_000 }, async ({ port }) => {
      const { socket, closed, received } = await openRaw(port);
      socket.write(rawRequest('POST /echo', { 'content-type': 'application/json', 'transfer-encoding': 'chunked' }));
      const chunk = `10000\r\n${' '.repeat(65_536)}\r\n`;
      let sent = 0;
      while (!socket.destroyed && sent < 1_000_000_000) {
        sent += chunk.length;
        if (!socket.write(chunk)) {
          const drained = new Promise((resolve) => socket.once('drain', resolve));
          await Promise.race([drained, closed]);
        }
      }
      await closed;
      assert.equal(statusOf(received()), 413);
      assert.ok(sent < 40_000_000, String(sent));
    }));

  test('a client that asks first is told not to send what would be refused, and to send what is wanted', () =>
    onStage({}, async ({ port, echoed }) => {
      const asking = (path: string, length: number) =>
        rawRequest(`POST ${path}`, {
          'content-type': 'application/json',
          'content-length': length,
          expect: '100-continue',
        });
      const refused = await sendRaw(port, asking('/echo', 1_000_000_000));
      assert.equal(statusOf(refused), 413);
      assert.equal(statusOf(await sendRaw(port, asking('/deaf', 1_000))), 200);
      assert.equal(statusOf(await sendRaw(port, asking('/nowhere', 1_000))), 404);

      const { socket, until, closed } = await openRaw(port);
      socket.write(asking('/echo', 3));
      await until(/^HTTP\/1\.1 100 Continue\r\n\r\n/);
      socket.write('[1]');
      assert.match(await closed, /HTTP\/1\.1 200 OK/);
      assert.deepEqual(echoed, [[1]]);
    }));

  test('an address that is too long is 414, headers that are too large or too many are 431', () =>
    onStage({}, async ({ port }) => {
      const many = Object.fromEntries(Array.from({ length: 150 }, (_, index) => [`x-${index}`, 'y']));
      const tries: [string, number][] = [
        [rawRequest(`GET /${'a'.repeat(8_000)}`), 404],
        [rawRequest(`GET /${'a'.repeat(9_000)}`), 414],
        [rawRequest(`GET /${'a'.repeat(50_000)}`), 414],
        [rawRequest('GET /', { 'x-large': 'a'.repeat(15_000) }), 200],
        [rawRequest('GET /', { 'x-large': 'a'.repeat(50_000) }), 431],
        [rawRequest('GET /', many), 431],
      ];
      for (const [text, status] of tries) assert.equal(statusOf(await sendRaw(port, text)), status, text.slice(0, 40));
    }));

  const patience = { headersTimeoutMs: 5_000, requestTimeoutMs: 5_000, timeoutCheckMs: 100 };
  test('bodies that stop half-way keep no more memory than the limit, and nobody else out', () =>
    onStage({ arrivingBytesMax: 1_000_000, ...patience }, async ({ port, echoed }) => {
      const head = { 'content-type': 'application/json', 'content-length': 400_000 };
      const half = rawRequest('POST /echo', head, ' '.repeat(399_000));
      const first = await openRaw(port);
      first.socket.write(half);
      const others = await Promise.all([openRaw(port), openRaw(port), openRaw(port)]);
      for (const { socket } of others) socket.write(half);
      assert.equal(
        await Promise.race([first, ...others].map(({ closed }) => closed)),
        '',
        'cut, before its time is up',
      );
      assert.equal(statusOf(await sendRaw(port, postJson('["another"]'))), 200);
      assert.deepEqual(echoed, [['another']]);
      for (const { socket } of others) socket.destroy();
    }));

  test('JSON of very many small values is 413 before it is read', () =>
    onStage({}, async ({ port, echoed }) => {
      const answer = await sendRaw(port, postJson(`[${'{},'.repeat(250_000)}{}]`));
      assert.equal(statusOf(answer), 413);
      assert.match(answer, /more than 250000 values/);
      assert.equal(statusOf(await sendRaw(port, postJson(`[${'0,'.repeat(100_000)}0]`))), 200);
      assert.equal(echoed.length, 1);
    }));

  test('JSON a million deep is 400 at once, whichever bracket', () =>
    onStage({}, async ({ port, echoed }) => {
      const deepest = 499_999;
      for (const body of [
        '['.repeat(1_000_000),
        '['.repeat(deepest) + ']'.repeat(deepest),
        '{"a":'.repeat(150_000) + '1' + '}'.repeat(150_000),
      ]) {
        const answer = await sendRaw(port, postJson(body));
        assert.equal(statusOf(answer), 400);
        assert.match(answer, /nested more than 100 deep/);
      }
      assert.equal(statusOf(await sendRaw(port, postJson('['.repeat(100) + ']'.repeat(100)))), 200);
      assert.equal(echoed.length, 1);
    }));
});

describe('requests that mean two things', () => {
  const smuggled = 'POST /echo HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n';
  const tries: Record<string, string> = {
    'two lengths': `${smuggled}content-length: 2\r\ncontent-length: 3\r\n\r\n[1]`,
    'two equal lengths': `${smuggled}content-length: 3\r\ncontent-length: 3\r\n\r\n[1]`,
    'a list of lengths': `${smuggled}content-length: 3, 3\r\n\r\n[1]`,
    'a length with a sign': `${smuggled}content-length: +3\r\n\r\n[1]`,
    'a length and chunks': `${smuggled}content-length: 3\r\ntransfer-encoding: chunked\r\n\r\n3\r\n[1]\r\n0\r\n\r\n`,
    'chunks and a length': `${smuggled}transfer-encoding: chunked\r\ncontent-length: 3\r\n\r\n3\r\n[1]\r\n0\r\n\r\n`,
    'another encoding': `${smuggled}transfer-encoding: chunked, identity\r\n\r\n3\r\n[1]\r\n0\r\n\r\n`,
    'an encoding before the chunks': `${smuggled}transfer-encoding: gzip, chunked\r\n\r\n3\r\n[1]\r\n0\r\n\r\n`,
    'two encodings': `${smuggled}transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n3\r\n[1]\r\n0\r\n\r\n`,
    'a bad chunk size': `${smuggled}transfer-encoding: chunked\r\n\r\n0x3\r\n[1]\r\n0\r\n\r\n`,
    'a space before the colon': `${smuggled}content-length : 3\r\n\r\n[1]`,
    'a folded header': `${smuggled}x-a: b\r\n content-length: 3\r\ncontent-length: 3\r\n\r\n[1]`,
    'line feeds alone': smuggled.replaceAll('\r\n', '\n') + 'content-length: 3\n\n[1]',
    'a zero in a header': `${smuggled}x-a: b\0c\r\ncontent-length: 3\r\n\r\n[1]`,
    'two hosts': `${smuggled}host: evil.example\r\ncontent-length: 3\r\n\r\n[1]`,
    'two keys': `${smuggled}authorization: Bearer a\r\nauthorization: Bearer b\r\ncontent-length: 3\r\n\r\n[1]`,
    'no host': 'GET / HTTP/1.1\r\n\r\n',
    'the address of another server': rawRequest('GET http://evil.example/'),
    'all of the server': rawRequest('OPTIONS *'),
    'a tunnel': rawRequest('CONNECT evil.example:443'),
    'an unknown method': rawRequest('BREW /'),
    'another protocol': 'SSH-2.0-OpenSSH_9.2\r\n\r\n',
  };
  for (const [name, text] of Object.entries(tries)) {
    test(`${name}: refused, not acted upon, and nothing more is taken from the connection`, () =>
      onStage({}, async ({ port, echoed }) => {
        const connection = await openRaw(port);
        connection.socket.write(`${text}${postJson('["smuggled"]')}`);
        connection.socket.end();
        const received = await connection.closed;
        const status = statusOf(received);
        assert.ok([400, 405].includes(status), received);
        assert.equal(received.match(/HTTP\/1\.1 /g)?.length, 1, received);
        assert.deepEqual(echoed, []);
      }));
  }

  test('an unknown method, and one that a path does not take, name those that are taken', () =>
    onStage({}, async ({ port }) => {
      assert.match(await sendRaw(port, rawRequest('BREW /')), /^HTTP\/1\.1 405 [^]*allow: GET, HEAD, POST, DELETE/i);
      assert.match(await sendRaw(port, rawRequest('PATCH /')), /^HTTP\/1\.1 405 [^]*allow: GET, HEAD\r\n/i);
      assert.match(await sendRaw(port, rawRequest('OPTIONS /echo')), /^HTTP\/1\.1 405 [^]*allow: POST\r\n/i);
    }));

  test('HEAD is what GET is, without the body', () =>
    onStage({}, async ({ port }) => {
      const [got, headed] = await Promise.all(['GET /', 'HEAD /'].map((line) => sendRaw(port, rawRequest(line))));
      const head = (text = '') => text.slice(0, text.indexOf('\r\n\r\n')).replace(/date: .*/i, '');
      assert.equal(head(headed), head(got));
      assert.ok(headed?.endsWith('\r\n\r\n'));
      assert.match(got ?? '', /"here"/);
    }));

  test('a web socket is refused; the offer of another HTTP is passed over', () =>
    onStage({}, async ({ port }) => {
      const upgrade = (protocol: string) => rawRequest('GET /', { connection: 'upgrade, close', upgrade: protocol });
      const refused = await sendRaw(port, upgrade('websocket'));
      assert.equal(statusOf(refused), 400);
      assert.match(refused, /no web sockets/);
      assert.equal(statusOf(await sendRaw(port, upgrade('h2c'))), 200);
    }));

  test('broken escapes are answered, whatever part of the address they are in', () =>
    onStage({}, async ({ port }) => {
      for (const path of ['/%', '/%zz', '/%E0%A4%A', '/%00', '/..%2f..%2fetc', '/?q=%', '/?q=%ff&%=%']) {
        const status = statusOf(await sendRaw(port, rawRequest(`GET ${path}`)));
        assert.ok(status === 404 || (status === 200 && path.startsWith('/?')), `${path} ${status}`);
      }
    }));
});

describe('pipelined requests', () => {
  const keepAlive = { connection: 'keep-alive' };

  test('are served one after the other, and answered in their order', () => {
    const running = { now: 0, most: 0 };
    const slow: Route = {
      method: 'POST',
      path: '/slow',
      async handle(request: HttpRequest) {
        running.now += 1;
        running.most = Math.max(running.most, running.now);
        const value = await readJson(request, 100);
        await new Promise(setImmediate);
        running.now -= 1;
        return json(value);
      },
    };
    return onStage(
      {},
      async ({ port }) => {
        const one = (body: string, headers: Record<string, string>) =>
          postJson(body, headers).replace('POST /echo', 'POST /slow');
        const received = await sendRaw(port, one('[1]', keepAlive) + one('[2]', keepAlive) + one('[3]', {}));
        assert.deepEqual(received.match(/\[\d\]/g), ['[1]', '[2]', '[3]']);
        assert.equal(running.most, 1);
      },
      [slow],
    );
  });

  test('too many at once cut the connection, and none of those that wait is acted upon', () =>
    onStage({ pipelinedMax: 4 }, async ({ port, echoed }) => {
      const gate = rawRequest('GET /gate', keepAlive);
      const received = await sendRaw(port, gate + postJson('[1]', keepAlive).repeat(10));
      assert.equal(received, '');
      assert.deepEqual(echoed, []);
    }));

  test('a good request before a broken one is answered, the broken one and what follows it are not', () =>
    onStage({}, async ({ port, echoed }) => {
      const received = await sendRaw(port, `${postJson('[1]', keepAlive)}no HTTP\r\n\r\n${postJson('[2]')}`);
      assert.deepEqual(received.match(/\[\d\]/g), ['[1]']);
      assert.deepEqual(echoed, [[1]]);
    }));

  test('nothing that follows the last request of a connection is acted upon', () =>
    onStage({}, async ({ port, echoed }) => {
      const received = await sendRaw(port, postJson('[1]') + postJson('[2]', keepAlive));
      assert.deepEqual(received.match(/\[\d\]/g), ['[1]']);
      assert.deepEqual(echoed, [[1]]);
    }));
});
