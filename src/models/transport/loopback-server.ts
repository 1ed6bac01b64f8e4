/** Servers on this machine for tests of what speaks over sockets: proper HTTP ones, and raw ones that misbehave. */
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import type { AddressInfo, Server, Socket } from 'node:net';

export interface LoopbackServer extends AsyncDisposable {
  readonly origin: string;
  readonly port: number;
  /** All connections so far, also those that have ended. */
  readonly sockets: readonly Socket[];
}

export function serveHttp(listener: RequestListener): Promise<LoopbackServer> {
  return listening(process.getBuiltinModule('node:http').createServer(listener));
}

/** `onRequest` is called with each whole request that arrives; requests are told apart by their content length. */
export function serveRaw(
  onRequest: (socket: Socket, request: { readonly connection: number; readonly count: number }) => void,
): Promise<LoopbackServer> {
  let connections = 0;
  let count = 0;
  return listening(
    process.getBuiltinModule('node:net').createServer((socket) => {
      const connection = ++connections;
      let text = '';
      socket.on('data', (chunk: Buffer) => {
        text += chunk.toString('latin1');
        const head = /^[^]*?\r\n\r\n/.exec(text)?.[0];
        const length = Number(/content-length: (\d+)/i.exec(head ?? '')?.[1] ?? 0);
        if (head === undefined || text.length < head.length + length) return;
        text = text.slice(head.length + length);
        onRequest(socket, { connection, count: ++count });
      });
    }),
  );
}

/** Takes connections and says nothing. */
export function serveSilence(): Promise<LoopbackServer> {
  return listening(process.getBuiltinModule('node:net').createServer((socket) => void socket.resume()));
}

async function listening(server: Server): Promise<LoopbackServer> {
  const sockets: Socket[] = [];
  server.on('connection', (socket: Socket) => {
    sockets.push(socket);
    socket.on('error', () => {});
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    origin: `http://127.0.0.1:${port}`,
    sockets,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

export async function closed(socket: Socket | undefined): Promise<void> {
  if (socket !== undefined && !socket.closed) await once(socket, 'close');
}
