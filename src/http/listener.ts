/**
 * The server on `node:http`: turns its requests into `HttpRequest`s and writes `HttpResponse`s at the client's pace.
 * Owns the limits of the front door: header size, slow senders, number of connections, and a clean end.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Log } from '../lib/log.ts';
import { HttpProblem, problem, type HttpRequest, type HttpResponse } from './http-message.ts';
import type { Router } from './router.ts';

const headerBytesMax = 16_384;
const headersTimeoutMs = 10_000;
const requestTimeoutMs = 120_000;
const keepAliveTimeoutMs = 10_000;
const connectionsMax = 2_048;
/** How much of a body that nobody wants is still taken in, and for how long. */
const unreadBytesMax = 64_000_000;
const unreadTimeoutMs = 5_000;

export interface ListenerOptions {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  readonly handle: Router;
  readonly log: Log;
}

export interface Listener {
  readonly host: string;
  readonly port: number;
  /** Takes no more connections, ends streams, and resolves when all are closed. Idempotent. */
  close(): Promise<void>;
}

/** Throws the system's error when the address can't be had. */
export async function listen(options: ListenerOptions): Promise<Listener> {
  // Asking for the module this way costs a sixth of an import.
  const http = process.getBuiltinModule('node:http');
  const open = new Set<AbortController>();
  let closing = false;
  const server = http.createServer(
    {
      maxHeaderSize: headerBytesMax,
      headersTimeout: headersTimeoutMs,
      requestTimeout: requestTimeoutMs,
      keepAliveTimeout: keepAliveTimeoutMs,
    },
    (incoming, outgoing) => {
      const gone = new AbortController();
      open.add(gone);
      outgoing.on('close', () => {
        open.delete(gone);
        gone.abort(new Error('the client is gone'));
        // Its connection turns idle only after this event.
        if (closing) setImmediate(() => server.closeIdleConnections());
      });
      serve(options, incoming, outgoing, gone.signal).catch((error: unknown) => {
        options.log.error('request failed', { url: incoming.url, error });
        outgoing.destroy();
      });
    },
  );
  server.maxConnections = connectionsMax;
  await listening(server, options.host, options.port);
  const { port } = server.address() as AddressInfo;
  return {
    host: options.host,
    port,
    async close() {
      closing = true;
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const controller of open) controller.abort(new Error('the server is closing'));
      server.closeIdleConnections();
      // What has not ended by itself in this time is cut.
      const cut = setTimeout(() => server.closeAllConnections(), 1_000);
      await closed;
      clearTimeout(cut);
    },
  };
}

function listening(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

async function serve(
  options: ListenerOptions,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  let response: HttpResponse;
  try {
    response = await options.handle(requestFrom(incoming, signal));
  } catch (error) {
    if (signal.aborted && outgoing.destroyed) return;
    if (error instanceof HttpProblem) response = problem(error.status, error.reason, error.message);
    else {
      options.log.error('request failed', { url: incoming.url, error });
      response = problem(500, 'failed', 'Something went wrong inside Talaria; see its log.');
    }
  }
  const unread = incoming.complete || incoming.destroyed ? null : readOn(incoming);
  outgoing.writeHead(response.status, {
    'x-content-type-options': 'nosniff',
    ...lengthOf(response.body),
    ...response.headers,
  });
  const isWhole = incoming.method === 'HEAD' || (await writeBody(response.body, outgoing, signal));
  await unread;
  // A body that was cut off must not look whole.
  if (isWhole) outgoing.end();
  else outgoing.destroy();
}

/**
 * What is left of a refused body is read and thrown away, up to a limit, before the connection may close: a client that
 * is cut off while it sends never sees why.
 */
function readOn(incoming: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    let leftBytes = unreadBytesMax;
    const cut = setTimeout(() => incoming.destroy(), unreadTimeoutMs);
    incoming.once('close', () => {
      clearTimeout(cut);
      resolve();
    });
    incoming.once('end', resolve);
    incoming.on('data', (chunk: Uint8Array) => {
      leftBytes -= chunk.byteLength;
      if (leftBytes < 0) incoming.destroy();
    });
  });
}

function lengthOf(body: HttpResponse['body']): Record<string, number> {
  return typeof body === 'string' || body instanceof Uint8Array ? { 'content-length': Buffer.byteLength(body) } : {};
}

/** False if the client or the server went away before the end. */
async function writeBody(body: HttpResponse['body'], outgoing: ServerResponse, signal: AbortSignal): Promise<boolean> {
  if (body === undefined) return true;
  if (typeof body === 'string' || body instanceof Uint8Array) {
    outgoing.write(body);
    return true;
  }
  for await (const chunk of body) {
    if (signal.aborted) return false;
    if (!outgoing.write(chunk)) await drained(outgoing, signal);
  }
  return !signal.aborted;
}

function drained(outgoing: ServerResponse, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted || outgoing.destroyed) return resolve();
    const done = () => {
      outgoing.off('drain', done);
      signal.removeEventListener('abort', done);
      resolve();
    };
    outgoing.once('drain', done);
    signal.addEventListener('abort', done, { once: true });
  });
}

function requestFrom(incoming: IncomingMessage, signal: AbortSignal): Omit<HttpRequest, 'params'> {
  // The base is never used but to make the path absolute; hosts are checked from the header, not from here.
  const target = incoming.url ?? '/';
  const [path, query] = target.startsWith('/') ? splitOnce(target, '?') : ['/', ''];
  return {
    method: incoming.method ?? 'GET',
    path,
    query: new URLSearchParams(query),
    header: (name) => {
      const value = incoming.headers[name];
      return Array.isArray(value) ? value.join(', ') : value;
    },
    signal,
    // Leaving it half-read must not close the connection: the answer is still to be sent.
    body: incoming.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>,
  };
}

function splitOnce(text: string, separator: string): [string, string] {
  const index = text.indexOf(separator);
  return index === -1 ? [text, ''] : [text.slice(0, index), text.slice(index + 1)];
}
