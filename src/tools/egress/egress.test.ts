import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request as httpRequest, type IncomingMessage, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import type { NetworkInterfaceInfo } from 'node:os';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { EgressError, type Egress } from '../egress.ts';
import { temporaryFolder } from '../fake-tool-context.ts';
import { createEgress } from './create-egress.ts';
import { startEgressProxy } from './egress-proxy.ts';
import { isListedHost } from './egress-target.ts';
import { isOwnNetwork } from './own-network.ts';
import { isPublicAddress } from './public-address.ts';
import { ssrfAddresses } from './test-ssrf-addresses.ts';

type Handler = Parameters<typeof createServer>[1];

async function serve(t: TestContext, handler: Handler, host = '127.0.0.1'): Promise<number> {
  const server: Server = createServer(handler ?? (() => {}));
  server.listen(0, host);
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}

/** The internet of the tests: 127.7.0.1 counts as public, and names lead where the test says. */
function internet(
  names: Readonly<Record<string, readonly string[]>> = {},
  privateHosts: readonly string[] = [],
): Egress {
  return createEgress({
    privateHosts: () => privateHosts,
    resolve: async (host) => names[host] ?? Promise.reject(new Error('ENOTFOUND')),
    isPublic: (address) => address === publicAddress || isPublicAddress(address),
  });
}
const publicAddress = '127.7.0.1';

const plain = { bytesMax: 100_000, timeoutMs: 5_000, signal: new AbortController().signal };
const reasonOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'went',
    (error: unknown) => (error instanceof EgressError ? error.reason : String(error)),
  );

describe('addresses', () => {
  test('of the internet are public, all others are not', () => {
    const open = [
      '1.1.1.1',
      '8.8.8.8',
      '172.32.0.1',
      '100.128.0.1',
      '2606:4700::1111',
      '::ffff:8.8.8.8',
      '64:ff9b::808:808',
    ];
    assert.deepEqual(
      open.filter((address) => !isPublicAddress(address)),
      [],
    );
    const closed = ['fe80::1%eth0', '::', '::1', '2002:808:808::1', '4000::1', 'not an address', ''];
    assert.deepEqual(closed.filter(isPublicAddress), []);
  });

  test('of this machine, or of the network that it is in, are its own although they look public', async () => {
    const one = (address: string, family: 'IPv4' | 'IPv6') =>
      ({ address, family, netmask: '', mac: '', internal: false, cidr: null, scopeid: 0 }) as NetworkInterfaceInfo;
    const interfaces = {
      eth0: [one('203.4.5.6', 'IPv4'), one('2003:1:2:3::10', 'IPv6'), one('fe80::1%eth0', 'IPv6')],
      gone: undefined,
    };
    const own = (address: string) => isOwnNetwork(address, interfaces);
    const mine = ['203.4.5.6', '::ffff:203.4.5.6', '64:ff9b::cb04:506', '2003:1:2:3::10', '2003:1:2:3:a:b:c:d'];
    assert.deepEqual(
      mine.filter((address) => !own(address) || !isPublicAddress(address)),
      [],
    );
    assert.deepEqual(['203.4.5.7', '2003:1:2:4::10', '1.1.1.1', '2606:4700::1111', ''].filter(own), []);
    const egress = createEgress({ privateHosts: () => [], resolve: async () => mine, interfaces: () => interfaces });
    assert.equal(await reasonOf(egress.fetch({ ...plain, url: 'http://my.test/' })), 'forbidden');
    assert.equal(await reasonOf(egress.fetch({ ...plain, url: 'http://[2003:1:2:3::99]/' })), 'forbidden');
  });

  test('hosts are listed by name, by what is above them, or all', () => {
    const list = ['Example.com', '*.wiki.test'];
    const hosts = [
      'example.com',
      'EXAMPLE.COM.',
      'a.example.com',
      'wiki.test',
      'en.wiki.test',
      'evilwiki.test',
      'x.test',
    ];
    assert.deepEqual(
      hosts.filter((host) => isListedHost(list, host)),
      ['example.com', 'EXAMPLE.COM.', 'en.wiki.test'],
    );
    assert.equal(isListedHost(['*'], 'anything'), true);
  });
});

describe('the way out', () => {
  test(`none of ${ssrfAddresses.length} spellings reaches a server on this machine`, async (t) => {
    const hits: string[] = [];
    const canary: Handler = (request, response) => {
      hits.push(`${request.headers.host}${request.url}`);
      response.end('secret');
    };
    const port = await serve(t, canary, '::');
    assert.ok(ssrfAddresses.length >= 150);
    // The machine's own names and no others; what a name leads to is what is judged.
    const egress = createEgress({ privateHosts: () => [] });
    const outcomes = await Promise.all(
      ssrfAddresses.map(async (address) => {
        const url = address.replaceAll('PORT', String(port));
        return [url, await reasonOf(egress.fetch({ ...plain, url, timeoutMs: 3_000 }))] as const;
      }),
    );
    assert.deepEqual(hits, []);
    const strange = outcomes.filter(([, reason]) => !['forbidden', 'bad-address', 'not-found'].includes(reason));
    assert.deepEqual(strange, []);
  });

  test('fetches what is public, and says where it came from', async (t) => {
    const port = await serve(
      t,
      (request, response) => response.end(`${request.method} ${request.url} ${String(request.headers['x-a'])}`),
      publicAddress,
    );
    const egress = internet({ 'site.test': [publicAddress] });
    const answer = await egress.fetch({ ...plain, url: `http://site.test:${port}/a?b=1#c`, headers: { 'X-A': 'y' } });
    assert.deepEqual(
      { ...answer, headers: {}, body: Buffer.from(answer.body).toString() },
      { status: 200, headers: {}, body: 'GET /a?b=1 y', url: `http://site.test:${port}/a?b=1#c` },
    );
  });

  test('a name whose addresses are private is forbidden, unless its owner allows it', async (t) => {
    const port = await serve(t, (_request, response) => response.end('home'));
    const url = `http://nas.test:${port}/`;
    const names = { 'nas.test': ['127.0.0.1'] };
    assert.equal(await reasonOf(internet(names).fetch({ ...plain, url })), 'forbidden');
    const allowed = await internet(names, ['nas.test']).fetch({ ...plain, url });
    assert.equal(Buffer.from(allowed.body).toString(), 'home');
  });

  test('a name with a public and a private address is reached by the public one only', async (t) => {
    const hits: string[] = [];
    const port = await serve(t, (_request, response) => response.end(hits.push('private') && 'no'));
    const other: Server = createServer((_request, response) => response.end('public'));
    other.listen(port, publicAddress);
    await once(other, 'listening');
    t.after(() => other.close());
    const egress = internet({ 'both.test': ['127.0.0.1', publicAddress] });
    const answer = await egress.fetch({ ...plain, url: `http://both.test:${port}/` });
    assert.deepEqual([Buffer.from(answer.body).toString(), hits], ['public', []]);
  });

  test('a name that leads elsewhere a moment later is asked for once', async (t) => {
    const port = await serve(t, (_request, response) => response.end('public'), publicAddress);
    let asked = 0;
    const egress = createEgress({
      privateHosts: () => [],
      resolve: async () => [asked++ === 0 ? publicAddress : '127.0.0.1'],
      isPublic: (address) => address === publicAddress,
    });
    await egress.fetch({ ...plain, url: `http://rebind.test:${port}/` });
    assert.equal(asked, 1);
    assert.equal(await reasonOf(egress.fetch({ ...plain, url: `http://rebind.test:${port}/` })), 'forbidden');
  });

  test('a redirect is judged like any address', async (t) => {
    const hits: string[] = [];
    const inside = await serve(t, (request, response) => response.end(hits.push(request.url ?? '') && 'secret'));
    const port = await serve(
      t,
      (request, response) => {
        const to = decodeURIComponent((request.url ?? '').slice(1));
        response.writeHead(302, { location: to }).end();
      },
      publicAddress,
    );
    const egress = internet({ 'site.test': [publicAddress], 'inside.test': ['127.0.0.1'] });
    const targets = [
      `http://127.0.0.1:${inside}/`,
      `http://inside.test:${inside}/`,
      `//127.0.0.1:${inside}/`,
      `http://[::ffff:127.0.0.1]:${inside}/`,
      'file:///etc/passwd',
      'gopher://127.0.0.1/',
    ];
    for (const target of targets) {
      const url = `http://site.test:${port}/${encodeURIComponent(target)}`;
      assert.match(await reasonOf(egress.fetch({ ...plain, url })), /^(?:forbidden|bad-address)$/, target);
    }
    assert.deepEqual(hits, []);
    const circle = `http://site.test:${port}/${encodeURIComponent('/x')}`;
    assert.equal(await reasonOf(egress.fetch({ ...plain, url: circle })), 'too-many-redirects');
  });

  test('a redirect may be written in UTF-8, as many servers do', async (t) => {
    const port = await serve(
      t,
      (request, response) => {
        if (request.url !== '/') response.end(request.url);
        else response.writeHead(302, { location: Buffer.from('/café').toString('latin1') }).end();
      },
      publicAddress,
    );
    const egress = internet({ 'site.test': [publicAddress] });
    const { body } = await egress.fetch({ ...plain, url: `http://site.test:${port}/` });
    assert.equal(Buffer.from(body).toString(), '/caf%C3%A9');
  });

  test('credentials stay with the origin they were meant for, and a body is not sent on to another', async (t) => {
    const seen: IncomingMessage['headers'][] = [];
    const other = await serve(
      t,
      (request, response) => response.end(seen.push(request.headers) && 'ok'),
      publicAddress,
    );
    const port = await serve(
      t,
      (request, response) => {
        const status = Number((request.url ?? '').slice(1));
        response.writeHead(status, { location: `http://other.test:${other}/` }).end();
      },
      publicAddress,
    );
    const egress = internet({ 'site.test': [publicAddress], 'other.test': [publicAddress] });
    const headers = { authorization: 'Bearer s', cookie: 'a=b', 'x-key': 'k', accept: 'text/html' };
    await egress.fetch({ ...plain, url: `http://site.test:${port}/302`, headers });
    const { authorization, cookie, accept } = seen[0] ?? {};
    assert.deepEqual(
      [authorization, cookie, seen[0]?.['x-key'], accept],
      [undefined, undefined, undefined, 'text/html'],
    );
    const post = { ...plain, method: 'POST' as const, body: 'data' };
    assert.equal(await reasonOf(egress.fetch({ ...post, url: `http://site.test:${port}/307` })), 'forbidden');
    await egress.fetch({ ...post, url: `http://site.test:${port}/303` });
    assert.equal(seen.length, 2);
  });

  test('packed answers are unpacked, and bombs are not', async (t) => {
    const text = 'hello '.repeat(1_000);
    const packed: Record<string, Buffer> = {
      gzip: gzipSync(text),
      deflate: deflateSync(text),
      br: brotliCompressSync(text),
      zstd: zstdCompressSync(text),
      'gzip, br': brotliCompressSync(gzipSync(text)),
      bomb: gzipSync(Buffer.alloc(50_000_000)),
    };
    const port = await serve(
      t,
      (request, response) => {
        const name = decodeURIComponent((request.url ?? '').slice(1));
        response.writeHead(200, { 'content-encoding': name === 'bomb' ? 'gzip' : name }).end(packed[name] ?? 'x');
      },
      publicAddress,
    );
    const egress = internet({ 'site.test': [publicAddress] });
    for (const name of ['gzip', 'deflate', 'br', 'zstd', 'gzip, br']) {
      const { body } = await egress.fetch({ ...plain, url: `http://site.test:${port}/${encodeURIComponent(name)}` });
      assert.equal(Buffer.from(body).toString(), text, name);
    }
    assert.equal(await reasonOf(egress.fetch({ ...plain, url: `http://site.test:${port}/bomb` })), 'too-large');
    assert.equal(await reasonOf(egress.fetch({ ...plain, url: `http://site.test:${port}/lzma` })), 'unreachable');
    assert.equal(
      await reasonOf(egress.fetch({ ...plain, url: `http://site.test:${port}/gzip%2C%20x` })),
      'unreachable',
    );
  });

  test('a server that says nothing is given up, and a stop counts at once', async (t) => {
    const port = await serve(t, () => {}, publicAddress);
    const egress = internet({ 'site.test': [publicAddress] });
    const url = `http://site.test:${port}/`;
    assert.equal(await reasonOf(egress.fetch({ ...plain, url, timeoutMs: 50 })), 'timeout');
    const stop = new AbortController();
    const fetching = egress.fetch({ ...plain, url, signal: stop.signal });
    stop.abort();
    assert.equal(await reasonOf(fetching), 'aborted');
  });

  test('a name server that never answers is given up the same way', async () => {
    const egress = createEgress({ privateHosts: () => [], resolve: () => new Promise(() => {}) });
    const url = 'http://silent.test/';
    assert.equal(await reasonOf(egress.fetch({ ...plain, url, timeoutMs: 50 })), 'timeout');
    const stop = new AbortController();
    const fetching = egress.fetch({ ...plain, url, signal: stop.signal });
    stop.abort();
    assert.equal(await reasonOf(fetching), 'aborted');
  });
});

describe('the proxy', () => {
  async function setUp(t: TestContext, login: { user: string; password: string } | null = null) {
    const hits: string[] = [];
    const inside = await serve(t, (request, response) => response.end(hits.push(request.url ?? '') && 'secret'));
    const port = await serve(t, (request, response) => response.end(`page ${request.url}`), publicAddress);
    const egress = internet({
      'site.test': [publicAddress],
      'other.test': [publicAddress],
      'inside.test': ['127.0.0.1'],
    });
    const socketPath = join(await temporaryFolder(t), 'proxy');
    const proxy = await startEgressProxy({ egress, mayReach: (host) => host !== 'other.test', socketPath, login });
    t.after(() => proxy.close());
    return { inside, port, hits, socketPath };
  }

  function get(socketPath: string, url: string, headers = {}): Promise<string> {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const request = httpRequest({ socketPath, path: url, headers }, (response) => {
      response.setEncoding('utf8');
      let text = `${response.statusCode} `;
      response.on('data', (chunk: string) => (text += chunk));
      response.on('end', () => resolve(text.trim()));
    });
    request.on('error', reject);
    request.end();
    return promise;
  }

  function tunnel(socketPath: string, target: string): Promise<string> {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const socket = connect(socketPath);
    let text = '';
    socket.setEncoding('utf8');
    socket.on('data', (chunk: string) => {
      if (text === '' && chunk.startsWith('HTTP/1.1 200')) socket.write('GET /t HTTP/1.0\r\nhost: x\r\n\r\n');
      text += chunk;
    });
    socket.on('close', () => resolve(text));
    socket.on('error', reject);
    socket.write(`CONNECT ${target} HTTP/1.1\r\nhost: ${target}\r\n\r\n`);
    return promise;
  }

  test('forwards to hosts that may be reached, and to no others', async (t) => {
    const { inside, port, hits, socketPath } = await setUp(t);
    assert.equal(await get(socketPath, `http://site.test:${port}/a`), '200 page /a');
    assert.match(await get(socketPath, `http://other.test:${port}/a`), /^403 other\.test is not one of the hosts/);
    assert.match(await get(socketPath, `http://inside.test:${inside}/a`), /^403 inside\.test leads to this machine/);
    assert.match(await get(socketPath, `http://127.0.0.1:${inside}/a`), /^403 /);
    assert.match(await get(socketPath, '/a'), /^400 /);
    assert.deepEqual(hits, []);
  });

  test('opens tunnels by the same rules', async (t) => {
    const { inside, port, hits, socketPath } = await setUp(t);
    assert.match(await tunnel(socketPath, `site.test:${port}`), /^HTTP\/1\.1 200 [\s\S]*page \/t$/);
    const closed = [
      `other.test:${port}`,
      `inside.test:${inside}`,
      `127.0.0.1:${inside}`,
      `[::1]:${inside}`,
      'site.test:25',
    ];
    for (const target of closed) assert.match(await tunnel(socketPath, target), /^HTTP\/1\.1 403 /, target);
    assert.match(await tunnel(socketPath, 'nonsense//'), /^HTTP\/1\.1 40\d /);
    assert.deepEqual(hits, []);
  });

  test('an answer that breaks off is broken off, not waited for', async (t) => {
    const port = await serve(
      t,
      (_request, response) => {
        response.writeHead(200, { 'content-length': 1_000 });
        response.write('half', () => response.destroy());
      },
      publicAddress,
    );
    const egress = internet({ 'site.test': [publicAddress] });
    const socketPath = join(await temporaryFolder(t), 'proxy');
    const proxy = await startEgressProxy({ egress, mayReach: () => true, socketPath, login: null });
    t.after(() => proxy.close());
    const request = httpRequest({ socketPath, path: `http://site.test:${port}/`, agent: false }).end();
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    await assert.rejects(response.toArray(), /aborted/);
  });

  test('wants its password where it has one', async (t) => {
    const { port, socketPath } = await setUp(t, { user: 'u', password: 'p' });
    assert.match(await get(socketPath, `http://site.test:${port}/a`), /^407 /);
    const authorization = (text: string) => ({
      'proxy-authorization': `Basic ${Buffer.from(text).toString('base64')}`,
    });
    assert.match(await get(socketPath, `http://site.test:${port}/a`, authorization('u:x')), /^407 /);
    assert.equal(await get(socketPath, `http://site.test:${port}/a`, authorization('u:p')), '200 page /a');
  });
});
