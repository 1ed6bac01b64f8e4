/** Lets a gateway throw away what it could throw away at any time, so that what is left is what it keeps. */
import { createServer, type AddressInfo } from 'node:net';

export interface Collector {
  /** For the environment of the process, before it starts. */
  readonly env: NodeJS.ProcessEnv;
  collect(): Promise<void>;
}

export async function createCollector(): Promise<Collector> {
  const port = await freePort();
  return {
    env: { NODE_OPTIONS: `--inspect=127.0.0.1:${port} --inspect-publish-uid=http` },
    async collect() {
      const [target] = (await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()) as [
        { webSocketDebuggerUrl: string },
      ];
      const socket = new WebSocket(target.webSocketDebuggerUrl);
      await new Promise((resolve, reject) => {
        socket.addEventListener('open', resolve);
        socket.addEventListener('error', () => reject(new Error('no debugger')));
      });
      const done = new Promise((resolve) => socket.addEventListener('message', resolve));
      socket.send(JSON.stringify({ id: 1, method: 'HeapProfiler.collectGarbage' }));
      await done;
      socket.close();
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
