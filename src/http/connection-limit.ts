/**
 * Which connections there are and what each waits for. Past the limit the one gives way that has kept the server
 * waiting longest: first those that have asked for nothing, then those whose request is still arriving. A connection
 * that is being served is never cut to make room.
 */
import type { Socket } from 'node:net';

/** `quiet`: no request, or only the head of one. `asking`: the body is still to come. `served`: it waits for us. */
export type ConnectionState = 'quiet' | 'asking' | 'served';

export class ConnectionLimit {
  readonly #max: number;
  /** In the order in which they came to be so, the oldest first. */
  readonly #byState: Record<ConnectionState, Set<Socket>> = { quiet: new Set(), asking: new Set(), served: new Set() };

  constructor(max: number) {
    this.#max = max;
  }

  get size(): number {
    const { quiet, asking, served } = this.#byState;
    return quiet.size + asking.size + served.size;
  }

  /** Takes up a new connection and says which one has to go for it, if any: the new one itself when all are served. */
  add(socket: Socket): Socket | null {
    const { quiet, asking } = this.#byState;
    const outgoing = this.size < this.#max ? null : (first(quiet) ?? first(asking) ?? socket);
    if (outgoing !== null) this.delete(outgoing);
    if (outgoing !== socket) quiet.add(socket);
    return outgoing;
  }

  /** One that is not known any more stays unknown. */
  move(socket: Socket, state: ConnectionState): void {
    if (this.delete(socket)) this.#byState[state].add(socket);
  }

  delete(socket: Socket): boolean {
    return Object.values(this.#byState).some((sockets) => sockets.delete(socket));
  }
}

function first(sockets: ReadonlySet<Socket>): Socket | null {
  for (const socket of sockets) return socket;
  return null;
}
