import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { test } from 'node:test';
import { systemClock } from '../../lib/clock.ts';
import { createTelegramApi } from './telegram-api.ts';

test('a connection is used again, closed once it was left alone for a while, and not while an answer is waited for', async () => {
  const patience = { signal: AbortSignal.timeout(20_000) };
  const sockets: Socket[] = [];
  let answerAfterMs = 0;
  const server = createServer((_request, response) => {
    setTimeout(() => response.end('{"ok":true,"result":{"id":1,"username":"bot"}}'), answerAfterMs);
  });
  // The other side would keep it for ever.
  server.keepAliveTimeout = 0;
  server.on('connection', (socket) => sockets.push(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const { port } = server.address() as AddressInfo;
    const apiRoot = `http://127.0.0.1:${port}`;
    const api = createTelegramApi({
      token: '1:a',
      apiRoot,
      clock: systemClock,
      requestTimeoutMs: 10_000,
      connectionIdleMs: 300,
    });
    const call = () => api.call((methods, signal) => methods.getMe(signal), patience.signal);
    await call();
    await call();
    const [socket] = sockets;
    assert.ok(socket !== undefined && sockets.length === 1);
    await once(socket, 'close', patience);
    answerAfterMs = 900;
    assert.equal((await call()).username, 'bot');
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
