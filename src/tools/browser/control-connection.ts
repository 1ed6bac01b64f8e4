/**
 * A connection to the program beside Chromium (see `browser-host-script.ts`): messages of the DevTools protocol as JSON,
 * each ended by a NUL. It is what playwright takes as a transport. The folder of the socket is Chromium's own, so nothing in
 * it is followed: a Chromium that a page took over could point to somebody else's socket.
 */
import { lstat, open } from 'node:fs/promises';
import type { Socket } from 'node:net';
import type { ConnectOverCDPTransport } from 'playwright-core';

/** More than one message may ever have; a screenshot has a few million. */
const messageBytesMax = 512 * 1024 * 1024;
/** Linux: the file itself, not what it leads to; Node has no names for them. */
const pathOnlyNoFollow = 0o10000000 | 0o400000;

/** Rejects with the system's error if nobody listens there. */
export async function connectToHost(controlSocket: string): Promise<ConnectOverCDPTransport> {
  const socket = await connectUnfollowed(controlSocket);
  // An idle browser keeps no Talaria from ending.
  socket.unref();
  const transport: ConnectOverCDPTransport = {
    send: (message) => void socket.write(`${JSON.stringify(message)}\0`),
    close: () => void socket.destroy(),
  };
  let parts: Buffer[] = [];
  let bytes = 0;
  socket.on('data', (data: Buffer) => {
    let rest = data;
    for (let end = rest.indexOf(0); end >= 0; end = rest.indexOf(0)) {
      const text = Buffer.concat([...parts, rest.subarray(0, end)]).toString();
      parts = [];
      bytes = 0;
      rest = rest.subarray(end + 1);
      // Playwright awaits what it does about a message before it can understand the next: each needs a tick of its own.
      setImmediate(() => handOn(transport, JSON.parse(text) as ProtocolMessage));
    }
    if (rest.byteLength === 0) return;
    parts.push(rest);
    bytes += rest.byteLength;
    if (bytes > messageBytesMax) socket.destroy();
  });
  socket.on('error', () => socket.destroy());
  socket.on('close', () => setImmediate(() => transport.onclose?.('the browser is gone')));
  return transport;
}

interface ProtocolMessage {
  readonly method?: string;
  readonly sessionId?: string;
}

function handOn(transport: ConnectOverCDPTransport, message: ProtocolMessage): void {
  // Playwright would take a file's name from Chromium, and remove that file in the end. Downloads are refused anyway.
  if (message.sessionId === undefined && message.method?.startsWith('Browser.download') === true) return;
  transport.onmessage?.(message);
}

async function connectUnfollowed(path: string): Promise<Socket> {
  if (process.platform !== 'linux') {
    if (!(await lstat(path)).isSocket()) throw new Error(`${path} is not a socket`);
    return connected(path);
  }
  const file = await open(path, pathOnlyNoFollow);
  try {
    if (!(await file.stat()).isSocket()) throw new Error(`${path} is not a socket`);
    return await connected(`/proc/self/fd/${file.fd}`);
  } finally {
    await file.close();
  }
}

function connected(path: string): Promise<Socket> {
  const { connect } = process.getBuiltinModule('node:net');
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.removeListener('error', reject);
      resolve(socket);
    });
    socket.once('error', reject);
  });
}
