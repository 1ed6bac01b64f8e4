/** HTTP written by hand: what no client library would send, and connections that are left hanging. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface RawConnection {
  readonly socket: Socket;
  /** What came so far. */
  readonly received: () => string;
  /** Resolves once this was received; rejects if the connection ends before. */
  until(pattern: RegExp): Promise<RegExpExecArray>;
  /** Resolves with all that was received once the connection is closed, however it is closed. */
  readonly closed: Promise<string>;
}

export async function openRaw(port: number): Promise<RawConnection> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  let received = '';
  const watchers = new Set<() => void>();
  const look = () => watchers.forEach((watcher) => watcher());
  socket.setEncoding('latin1');
  socket.on('data', (text: string) => {
    received += text;
    look();
  });
  socket.on('end', () => socket.end());
  // A server that cuts a connection is what these tests are about.
  socket.on('error', () => {});
  const closed = new Promise<string>((resolve) =>
    socket.once('close', () => {
      resolve(received);
      look();
    }),
  );
  await Promise.race([once(socket, 'connect'), closed]);
  return {
    socket,
    received: () => received,
    closed,
    until(pattern) {
      return new Promise((resolve, reject) => {
        const watcher = () => {
          const match = pattern.exec(received);
          if (match === null && !socket.closed) return;
          watchers.delete(watcher);
          if (match === null) reject(new Error(`closed before ${pattern}: ${received.slice(0, 500)}`));
          else resolve(match);
        };
        watchers.add(watcher);
        watcher();
      });
    },
  };
}

/** Sends all of it and reads until the other side closes. */
export async function sendRaw(port: number, text: string | Uint8Array): Promise<string> {
  const connection = await openRaw(port);
  connection.socket.write(text);
  return connection.closed;
}

export const statusOf = (response: string): number => Number(/^HTTP\/1\.1 (\d+)/.exec(response)?.[1]);

/** A whole request. The connection closes after its answer unless the headers say otherwise. */
export function rawRequest(line: string, headers: Readonly<Record<string, string | number>> = {}, body = ''): string {
  const all = { host: 'localhost', connection: 'close', ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${line} HTTP/1.1\r\n${lines.join('')}\r\n${body}`;
}
