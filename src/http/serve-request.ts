/** One request from its head to the end of its response: asks the router, writes what it says, deals with the rest of the body. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Log } from '../lib/log.ts';
import type { BodyRoom } from './body-room.ts';
import { HttpProblem, problem, type HttpRequest, type HttpResponse } from './http-message.ts';
import type { ListenerLimits } from './listener-limits.ts';
import { requestProblem } from './request-problem.ts';
import type { Router } from './router.ts';
import { endInTime, lengthOf, writeBody } from './write-response.ts';

const loggedPathCharsMax = 200;

export interface Exchange {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  /** Aborts when the client goes away or the server closes. */
  readonly signal: AbortSignal;
  /** The client holds the body back until it is told to go on. */
  readonly awaitsContinue: boolean;
}

export interface ServeDeps {
  readonly handle: Router;
  readonly log: Log;
  readonly limits: ListenerLimits;
  /** For the bodies of all connections. */
  readonly room: BodyRoom;
}

/** False if no other request may follow on the same connection. */
export async function serveRequest(deps: ServeDeps, exchange: Exchange): Promise<boolean> {
  const { incoming, outgoing, signal } = exchange;
  const { limits } = deps;
  const gate = new BodyGate(exchange);
  const refusal = requestProblem(incoming, limits);
  const response = refusal === null ? await answer(deps, exchange, gate) : problemResponse(refusal);
  if (outgoing.destroyed || response === null) return false;
  const unread = gate.isShut || incoming.complete || incoming.destroyed ? null : readOn(incoming, limits);
  const closes = refusal !== null || gate.isShut || response.status === 413;
  outgoing.writeHead(response.status, {
    'x-content-type-options': 'nosniff',
    'cross-origin-resource-policy': 'same-origin',
    ...lengthOf(response.body),
    ...response.headers,
    ...(closes ? { connection: 'close' } : {}),
  });
  const isHead = incoming.method === 'HEAD';
  const isWhole = await writeBody(outgoing, response, { signal, stalledMs: limits.stalledMs, isHead });
  await unread;
  // A body that was cut off must not look whole.
  if (isWhole) await endInTime(outgoing, limits.stalledMs);
  else outgoing.destroy();
  return isWhole && !closes && outgoing.shouldKeepAlive;
}

/** Null if there is nobody left to answer. */
async function answer(deps: ServeDeps, exchange: Exchange, gate: BodyGate): Promise<HttpResponse | null> {
  const { incoming, outgoing, signal } = exchange;
  try {
    return await deps.handle(requestFrom(exchange, gate, deps.room));
  } catch (error) {
    if (signal.aborted && outgoing.destroyed) return null;
    if (error instanceof HttpProblem) return problemResponse(error);
    // Without the query: what people put there is not for the log.
    const path = (incoming.url ?? '').split('?', 1)[0]?.slice(0, loggedPathCharsMax);
    deps.log.error('request failed', { method: incoming.method, path, error });
    return problem(500, 'failed', 'Something went wrong inside Talaria; see its log.');
  }
}

function problemResponse({ status, reason, message }: HttpProblem): HttpResponse {
  return problem(status, reason, message);
}

/** Lets a body in only when somebody begins to read it: who is refused before that need not send it. */
class BodyGate {
  readonly #exchange: Exchange;
  isShut: boolean;

  constructor(exchange: Exchange) {
    this.#exchange = exchange;
    this.isShut = exchange.awaitsContinue;
  }

  async *body(): AsyncGenerator<Uint8Array> {
    const { incoming, outgoing } = this.#exchange;
    if (this.isShut) {
      this.isShut = false;
      outgoing.writeContinue();
    }
    // Leaving it half-read must not close the connection: the answer is still to be sent.
    yield* incoming.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>;
  }
}

/**
 * What is left of a refused body is read and thrown away, up to a limit, before the connection may close: a client that
 * is cut off while it sends never sees why.
 */
function readOn(incoming: IncomingMessage, limits: ListenerLimits): Promise<void> {
  return new Promise((resolve) => {
    let leftBytes = limits.unreadBytesMax;
    const cut = setTimeout(() => incoming.destroy(), limits.unreadTimeoutMs);
    const done = () => {
      clearTimeout(cut);
      resolve();
    };
    incoming.once('close', done);
    incoming.once('end', done);
    incoming.on('data', (chunk: Uint8Array) => {
      leftBytes -= chunk.byteLength;
      if (leftBytes < 0) incoming.destroy();
    });
  });
}

function requestFrom({ incoming, signal }: Exchange, gate: BodyGate, room: BodyRoom): Omit<HttpRequest, 'params'> {
  const [path, query] = splitOnce(incoming.url ?? '/', '?');
  return {
    method: incoming.method ?? 'GET',
    path,
    query: new URLSearchParams(query),
    header: (name) => {
      const value = incoming.headers[name];
      return Array.isArray(value) ? value.join(', ') : value;
    },
    peer: incoming.socket.remoteAddress ?? '',
    signal,
    body: gate.body(),
    enterRoom: () => room.enter(() => incoming.socket.resetAndDestroy()),
  };
}

function splitOnce(text: string, separator: string): [string, string] {
  const index = text.indexOf(separator);
  return index === -1 ? [text, ''] : [text.slice(0, index), text.slice(index + 1)];
}
