/**
 * One request on the wire, from the first byte out to the last one in. Ends in exactly one way and then holds nothing:
 * no timer, no listener, no socket that nobody owns. Whatever goes wrong is a `ModelError`; an abort destroys the socket
 * at once. Where connections come from and how many there may be is the client's work.
 */
import type { Agent, ClientRequest, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../../lib/clock.ts';
import type { ModelError } from '../model.ts';
import { createChunkInbox } from './chunk-inbox.ts';
import { createStallWatch } from './stall-watch.ts';
import { cancelled, codeOf, connectTimeout, readTimeout, wireError, type Stage } from './transport-error.ts';

export interface WireResponse {
  readonly kind: 'response';
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Can be read once. Throws a `ModelError`. */
  readonly chunks: AsyncIterable<Uint8Array>;
}

/** `stale`: a kept connection had died unnoticed, and nothing of an answer was seen. */
export type SendResult = WireResponse | { readonly kind: 'stale' };

export interface SendOptions {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal;
  readonly agent: Agent;
  readonly clock: Clock;
  readonly stallMs: number;
  readonly connectTimeoutMs: number;
  /** Called with what ends it from outside. */
  readonly onStart: (fail: (error: ModelError) => void) => void;
  /** It is over, and its connection is free or gone. Called once. */
  readonly onOver: (how: 'done' | 'stale') => void;
}

const headBytesMax = 64 * 1024;
/** What still comes after a reader has what it wanted is taken for so long, to keep the connection. */
const lingerMs = 1_000;
const lingerBytesMax = 64 * 1024;

export function sendRequest(options: SendOptions): Promise<SendResult> {
  const { url, signal, clock } = options;
  const { promise, resolve, reject } = Promise.withResolvers<SendResult>();
  const request = openRequest(options);
  let stage: Stage = 'connecting';
  let response: IncomingMessage | null = null;
  let isOver = false;
  let cancelLinger = () => {};

  const watch = createStallWatch(clock, options.stallMs, () => fail(readTimeout(url.host, options.stallMs)));
  const cancelConnectTimer = clock.setTimer(options.connectTimeoutMs, () =>
    fail(connectTimeout(url.host, options.connectTimeoutMs)),
  );
  const onAbort = () => fail(cancelled());
  const over = (how: 'done' | 'stale' = 'done') => {
    if (isOver) return false;
    isOver = true;
    watch.end();
    cancelConnectTimer();
    cancelLinger();
    signal.removeEventListener('abort', onAbort);
    options.onOver(how);
    return true;
  };
  const fail = (error: ModelError) => {
    if (!over()) return;
    request.destroy();
    inbox.fail(error, { dropRest: error.transport !== 'reset' });
    reject(error);
  };
  const linger = () => {
    if (isOver) return;
    let bytes = 0;
    cancelLinger = clock.setTimer(lingerMs, () => over() && request.destroy());
    response?.on('data', (chunk: Uint8Array) => {
      bytes += chunk.byteLength;
      if (bytes > lingerBytesMax && over()) request.destroy();
    });
    response?.resume();
  };
  const inbox = createChunkInbox({
    onWaiting: () => watch.waiting(),
    onResting: () => watch.resting(),
    onFull: () => response?.pause(),
    onRoom: () => response?.resume(),
    onAbandoned: linger,
  });

  request.on('socket', (socket: Socket) =>
    whenConnected(socket, request, url, () => {
      if (isOver || stage !== 'connecting') return;
      stage = 'waiting';
      cancelConnectTimer();
      watch.waiting();
    }),
  );
  request.on('response', (incoming: IncomingMessage) => {
    stage = 'reading';
    response = incoming;
    cancelConnectTimer();
    watch.resting();
    incoming.on('data', (chunk: Uint8Array) => inbox.push(chunk));
    incoming.on('end', () => {
      if (over()) inbox.end();
    });
    incoming.on('error', (error) => fail(wireError(error, url.host, 'reading')));
    incoming.on('close', () => fail(wireError(null, url.host, 'reading')));
    const headers = headersOf(incoming);
    resolve({ kind: 'response', status: incoming.statusCode ?? 0, headers, chunks: inbox.chunks });
  });
  request.on('error', (error) => {
    // Once there is an answer it tells by itself how it ended; the request may fail for not having been read to its end.
    if (response !== null) return;
    if (request.reusedSocket && ['ECONNRESET', 'EPIPE'].includes(codeOf(error))) {
      if (over('stale')) resolve({ kind: 'stale' });
      return;
    }
    fail(wireError(error, url.host, stage));
  });
  request.on('close', () => {
    if (response === null) fail(wireError(null, url.host, stage));
  });

  options.onStart(fail);
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  else request.end(options.body);
  return promise;
}

function openRequest({ url, headers, body, agent }: SendOptions): ClientRequest {
  const module = process.getBuiltinModule(url.protocol === 'https:' ? 'node:https' : 'node:http');
  return module.request(url, {
    method: 'POST',
    agent,
    headers: { ...headers, 'content-length': String(Buffer.byteLength(body)) },
    maxHeaderSize: headBytesMax,
  });
}

function whenConnected(socket: Socket, request: ClientRequest, url: URL, done: () => void): void {
  if (request.reusedSocket) done();
  else if (url.protocol === 'https:') socket.once('secureConnect', done);
  else if (socket.connecting) socket.once('connect', done);
  else done();
}

function headersOf(incoming: IncomingMessage): Record<string, string> {
  const entries = Object.entries(incoming.headers).map(([name, value]) => [name, [value].flat().join(', ')]);
  return Object.fromEntries(entries) as Record<string, string>;
}
