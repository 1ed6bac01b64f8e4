/**
 * The server on `node:http`. Owns the connections: how many there are, which one gives way, in what order the requests of
 * one are served, and a clean end. A request itself is `serve-request.ts`.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Log } from '../lib/log.ts';
import { BodyRoom } from './body-room.ts';
import { endWith, problemOf, unknownMethod, type ClientError } from './client-error.ts';
import { ConnectionLimit } from './connection-limit.ts';
import { HttpProblem } from './http-message.ts';
import { defaultLimits, type ListenerLimits } from './listener-limits.ts';
import type { Router } from './router.ts';
import { serveRequest, type Exchange, type ServeDeps } from './serve-request.ts';

/** What has not ended by itself this long after closing began is cut. */
const closeGraceMs = 1_000;
/** A flood is worth a line, not a line each. */
const crowdedLogEveryMs = 60_000;

export interface ListenerOptions {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  readonly handle: Router;
  readonly log: Log;
  readonly limits?: Partial<ListenerLimits>;
}

export interface Listener {
  readonly host: string;
  readonly port: number;
  /** Takes no more connections, ends streams, and resolves when all are closed. Idempotent. */
  close(): Promise<void>;
}

/** The requests of one connection that are not answered yet, oldest first. */
interface Connection {
  readonly open: Map<ServerResponse, { readonly incoming: IncomingMessage; readonly gone: AbortController }>;
  /** Ends with the request that came last. */
  last: Promise<void>;
  /** Nothing more is taken from it. */
  isOver: boolean;
  /** The last response has been sent. */
  saidGoodbye: boolean;
}

/** Throws the system's error when the address can't be had. */
export async function listen(options: ListenerOptions): Promise<Listener> {
  const limits = { ...defaultLimits, ...options.limits };
  // Asking for the module this way costs a sixth of an import.
  const server = process.getBuiltinModule('node:http').createServer({
    maxHeaderSize: limits.headerBytesMax,
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionsCheckingInterval: limits.timeoutCheckMs,
    insecureHTTPParser: false,
    // We look ourselves; Node would answer, and then go on with what follows.
    requireHostHeader: false,
  });
  // We keep to half of it; this is for a burst that comes faster than others can be closed.
  server.maxConnections = 2 * limits.connectionsMax;
  const room = new BodyRoom(limits.arrivingBytesMax);
  const connections = new Connections(server, { handle: options.handle, log: options.log, limits, room });
  await listening(server, options.host, options.port);
  const { port } = server.address() as AddressInfo;
  return { host: options.host, port, close: () => connections.close() };
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

class Connections {
  readonly #server: Server;
  readonly #deps: ServeDeps;
  readonly #all = new Map<Socket, Connection>();
  readonly #limit: ConnectionLimit;
  #isClosing = false;
  #crowdedLoggedAt = -Infinity;

  constructor(server: Server, deps: ServeDeps) {
    this.#server = server;
    this.#deps = deps;
    this.#limit = new ConnectionLimit(deps.limits.connectionsMax);
    server.on('connection', (socket) => this.#add(socket));
    server.on('request', (incoming, outgoing) => this.#take(incoming, outgoing, false));
    server.on('checkContinue', (incoming: IncomingMessage, outgoing: ServerResponse) =>
      this.#take(incoming, outgoing, true),
    );
    server.on('clientError', (error: ClientError, socket) =>
      this.#refuse(socket as Socket, problemOf(error, deps.limits)),
    );
    server.on('connect', (_, socket) => this.#refuse(socket as Socket, unknownMethod()));
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    const server = this.#server;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const connection of this.#all.values()) abortAll(connection, 'the server is closing');
    server.closeIdleConnections();
    const cut = setTimeout(() => server.closeAllConnections(), closeGraceMs);
    await closed;
    clearTimeout(cut);
  }

  #add(socket: Socket): void {
    const connection: Connection = { open: new Map(), last: Promise.resolve(), isOver: false, saidGoodbye: false };
    this.#all.set(socket, connection);
    socket.once('close', () => {
      this.#all.delete(socket);
      this.#limit.delete(socket);
      // Not all responses notice by themselves: one that waits behind another has no connection yet.
      abortAll(connection, 'the client is gone');
    });
    const crowdedOut = this.#limit.add(socket);
    if (crowdedOut === null) return;
    this.#logCrowded();
    if (crowdedOut === socket) this.#refuse(socket, new HttpProblem(503, 'busy', 'There are too many connections.'));
    else crowdedOut.resetAndDestroy();
  }

  #take(incoming: IncomingMessage, outgoing: ServerResponse, awaitsContinue: boolean): void {
    const { socket } = incoming;
    const connection = this.#all.get(socket);
    if (connection === undefined || connection.isOver) return;
    if (connection.open.size >= this.#deps.limits.pipelinedMax) {
      socket.destroy();
      return;
    }
    const gone = new AbortController();
    connection.open.set(outgoing, { incoming, gone });
    this.#limit.move(socket, hasBody(incoming) ? 'asking' : 'served');
    incoming.once('end', () => {
      if (connection.open.has(outgoing)) this.#limit.move(socket, 'served');
    });
    outgoing.once('close', () => {
      connection.open.delete(outgoing);
      gone.abort(new Error('the client is gone'));
      if (connection.open.size === 0) this.#limit.move(socket, 'quiet');
      // Its connection turns idle only after this event.
      if (this.#isClosing) setImmediate(() => this.#server.closeIdleConnections());
    });
    // One after the other, so that what a client asks for first also happens first.
    connection.last = connection.last.then(() =>
      this.#serve(connection, { incoming, outgoing, signal: gone.signal, awaitsContinue }),
    );
  }

  async #serve(connection: Connection, exchange: Exchange): Promise<void> {
    // A client that is gone, or was told goodbye, must not set off anything more.
    if (exchange.signal.aborted || connection.saidGoodbye) return;
    try {
      connection.saidGoodbye = !(await serveRequest(this.#deps, exchange));
    } catch (error) {
      // A response that is broken off on purpose says why.
      if (!(error instanceof HttpProblem)) this.#deps.log.error('response failed', { error });
      exchange.outgoing.destroy();
    }
  }

  /** Only what is clearly about the request that is being sent is answered; before anything else responses go first. */
  #refuse(socket: Socket, problem: HttpProblem): void {
    const connection = this.#all.get(socket);
    if (connection?.isOver === true) return;
    if (connection === undefined || !socket.writable) {
      socket.destroy();
      return;
    }
    connection.isOver = true;
    const open = [...connection.open];
    const isArriving = open.length === 1 && open.every(([out, { incoming }]) => !out.headersSent && !incoming.complete);
    if (open.length > 0 && !isArriving) {
      void connection.last.then(() => socket.destroySoon());
      return;
    }
    abortAll(connection, 'the request was refused');
    endWith(socket, problem);
  }

  #logCrowded(): void {
    const now = performance.now();
    if (now - this.#crowdedLoggedAt < crowdedLogEveryMs) return;
    this.#crowdedLoggedAt = now;
    this.#deps.log.warn('too many connections; those that wait longest are closed', { connections: this.#limit.size });
  }
}

function abortAll({ open }: Connection, reason: string): void {
  for (const { gone } of open.values()) gone.abort(new Error(reason));
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}
