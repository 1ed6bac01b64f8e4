import assert from 'node:assert/strict';
import { once } from 'node:events';
import { stat } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { systemClock } from '../lib/clock.ts';
import { silentLog } from '../lib/log.ts';
import { createEgress } from '../tools/egress/create-egress.ts';
import { temporaryFolder } from '../tools/fake-tool-context.ts';
import { SandboxError } from '../tools/sandbox.ts';
import { createNetworkWays, type NetworkWays } from './network-ways.ts';

async function setUp(t: TestContext) {
  const server = createServer((_request, response) => response.end('hello'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const folder = join(await temporaryFolder(t), 'net');
  // Every name leads to the server, as if it were on the internet.
  const egress = createEgress({ privateHosts: () => ['*'], resolve: async () => ['127.0.0.1'] });
  const open = (): NetworkWays => {
    const ways = createNetworkWays({ folder, egress, clock: systemClock, log: silentLog });
    t.after(() => ways.close());
    return ways;
  };
  const { port } = server.address() as AddressInfo;
  return { folder, open, get: (socketPath: string, host: string) => get(socketPath, `http://${host}:${port}/`) };
}

function get(socketPath: string, path: string): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  request({ socketPath, path }, (response) => {
    response.resume();
    resolve(response.statusCode ?? 0);
  })
    .on('error', reject)
    .end();
  return promise;
}

test('a way leads to its hosts and to no others, and the same hosts are the same way', async (t) => {
  const { open, get: ask, folder } = await setUp(t);
  const ways = open();
  const path = await ways.open(['a.test', 'B.test']);
  assert.equal(await ways.open(['b.test', 'a.test', 'a.test']), path);
  assert.notEqual(await ways.open(['a.test']), path);
  assert.deepEqual([await ask(path, 'a.test'), await ask(path, 'b.test'), await ask(path, 'c.test')], [200, 200, 403]);
  assert.equal((await stat(folder)).mode & 0o777, 0o700);
});

test('the next process opens the ways again that commands still have', async (t) => {
  const { open, get: ask } = await setUp(t);
  const first = open();
  const path = await first.open(['a.test']);
  await first.close();
  await assert.rejects(ask(path, 'a.test'));
  await open().start();
  assert.deepEqual([await ask(path, 'a.test'), await ask(path, 'c.test')], [200, 403]);
});

test('a home whose path is too long says so', async (t) => {
  const folder = join(await temporaryFolder(t), 'x'.repeat(100));
  const ways = createNetworkWays({
    folder,
    egress: createEgress({ privateHosts: () => [] }),
    clock: systemClock,
    log: silentLog,
  });
  await assert.rejects(ways.open(['a.test']), SandboxError);
  await ways.close();
});
