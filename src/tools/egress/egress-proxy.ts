/**
 * A proxy over the one way out, for programs that only know proxies: the browser, and commands that may reach some hosts.
 * It forwards what `mayReach` allows, to addresses that the egress allows, and answers everything else with 403 and a
 * reason. Who knows its password may use it; on a socket of the file system its permissions decide.
 */
import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline, type Duplex } from 'node:stream';
import { EgressError, type Egress, type EgressProxy } from '../egress.ts';
import { readHost, readTarget } from './egress-target.ts';

const connectionsMax = 256;
/** Headers between two neighbours, which are not handed on. */
const neighbourHeaders = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

export interface EgressProxyDeps {
  readonly egress: Pick<Egress, 'connect'>;
  /** Asked for every request, so that what is allowed may change. */
  readonly mayReach: (host: string) => boolean;
  /** A path, or null for a free port of the loopback address. */
  readonly socketPath: string | null;
  /** `Basic` credentials that must come with every request; null where the socket is guard enough. */
  readonly login: { readonly user: string; readonly password: string } | null;
}

export async function startEgressProxy(deps: EgressProxyDeps): Promise<EgressProxy> {
  const { createServer } = process.getBuiltinModule('node:http');
  const open = new Set<Duplex>();
  const keep = (stream: Duplex) => {
    open.add(stream);
    stream.once('close', () => open.delete(stream));
    stream.on('error', () => stream.destroy());
  };
  const server = createServer((request, response) => void forward(deps, keep, request, response));
  server.on('connect', (request: IncomingMessage, client: Duplex, head: Buffer) => {
    keep(client);
    void tunnel(deps, keep, request, client, head);
  });
  server.on('connection', keep);
  server.maxConnections = connectionsMax;
  await listen(server, deps.socketPath);
  return {
    address: deps.socketPath ?? `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const stream of open) stream.destroy();
      await closed;
    },
  };
}

function listen(server: Server, socketPath: string | null): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    const started = () => resolve();
    if (socketPath === null) server.listen(0, '127.0.0.1', started);
    else server.listen(socketPath, started);
  });
}

type Keep = (stream: Duplex) => void;

/** Throws an `EgressError` if this request may not go there. */
async function reach(
  { egress, mayReach, login }: EgressProxyDeps,
  request: IncomingMessage,
  { host, port }: { readonly host: string; readonly port: number },
  signal: AbortSignal,
): Promise<Duplex> {
  if (login !== null && !isLogin(request.headers['proxy-authorization'], login)) throw new LoginWanted();
  if (!mayReach(host)) {
    throw new EgressError('forbidden', `${host} is not one of the hosts that may be reached from here.`);
  }
  return egress.connect(host, port, signal);
}

class LoginWanted extends Error {}

function isLogin(given: string | undefined, { user, password }: { user: string; password: string }): boolean {
  const wanted = Buffer.from(`Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`);
  const bytes = Buffer.from(given ?? '');
  return bytes.byteLength === wanted.byteLength && timingSafeEqual(bytes, wanted);
}

/** `HOST:PORT`, as it stands in a CONNECT. */
function tunnelEnd(text: string): { host: string; port: number } {
  const [, inBrackets, plain, port] = /^(?:\[([0-9A-Fa-f:.]+)\]|([^\s:/?#@[\]]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = inBrackets ?? plain;
  if (host === undefined) throw new EgressError('bad-address', 'CONNECT wants HOST:PORT.');
  return { host: readHost(host), port: Number(port) };
}

async function tunnel(
  deps: EgressProxyDeps,
  keep: Keep,
  request: IncomingMessage,
  client: Duplex,
  head: Buffer,
): Promise<void> {
  const gone = new AbortController();
  client.once('close', () => gone.abort());
  try {
    const server = await reach(deps, request, tunnelEnd(request.url ?? ''), gone.signal);
    keep(server);
    client.write('HTTP/1.1 200 Connection established\r\n\r\n');
    if (head.byteLength > 0) server.write(head);
    server.pipe(client);
    client.pipe(server);
    server.once('close', () => client.destroy());
    client.once('close', () => server.destroy());
  } catch (error) {
    const { status, text, headers } = refusal(error);
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    client.end(
      `HTTP/1.1 ${status} Refused\r\n${lines.join('')}content-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
    );
  }
}

async function forward(
  deps: EgressProxyDeps,
  keep: Keep,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  try {
    const target = readTarget(request.url ?? '');
    if (target.isSecure) throw new EgressError('bad-address', 'Secure addresses go through CONNECT.');
    const server = await reach(deps, request, target, gone.signal);
    keep(server);
    const headers = Object.fromEntries(Object.entries(request.headers).filter(([name]) => !neighbourHeaders.has(name)));
    const onward = process.getBuiltinModule('node:http').request({
      createConnection: () => server,
      method: request.method ?? 'GET',
      path: `${target.url.pathname}${target.url.search}`,
      headers: { ...headers, host: target.url.host, connection: 'close' },
      signal: gone.signal,
    });
    onward.once('response', (answer) => {
      const kept = Object.entries(answer.headers).filter(([name]) => !neighbourHeaders.has(name));
      response.writeHead(answer.statusCode ?? 502, Object.fromEntries(kept));
      // An answer that breaks off ends here too, instead of keeping whoever asked waiting.
      pipeline(answer, response, () => {});
    });
    onward.once('error', (error) => refuse(response, error));
    request.pipe(onward);
  } catch (error) {
    refuse(response, error);
  }
}

function refuse(response: ServerResponse, error: unknown): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const { status, text, headers } = refusal(error);
  response.writeHead(status, headers).end(text);
}

function refusal(error: unknown): { status: number; text: string; headers: Record<string, string> } {
  const headers = { 'content-type': 'text/plain; charset=utf-8', connection: 'close' };
  if (error instanceof LoginWanted) {
    return {
      status: 407,
      text: 'Proxy login wanted.\n',
      headers: { ...headers, 'proxy-authenticate': 'Basic realm="talaria"' },
    };
  }
  if (!(error instanceof EgressError)) return { status: 502, text: 'It can not be reached.\n', headers };
  const status = error.reason === 'forbidden' ? 403 : error.reason === 'bad-address' ? 400 : 502;
  return { status, text: `${error.message}\n`, headers };
}
