/** The proxy that all browsers use, at an address that stays the same over restarts of Talaria. */
import { mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { EgressProxy } from '../egress.ts';
import type { BrowserDeps } from './browser-deps.ts';

export interface WayOut {
  readonly socketPath: string;
  /** Idempotent. */
  open(): Promise<void>;
  close(): Promise<void>;
}

export function createWayOut({ root, startProxy }: Pick<BrowserDeps, 'root' | 'startProxy'>): WayOut {
  const socketPath = join(root, 'way', 's');
  let proxy: Promise<EgressProxy> | null = null;
  const start = async (): Promise<EgressProxy> => {
    await mkdir(root, { recursive: true, mode: 0o700 });
    await mkdir(dirname(socketPath), { recursive: true, mode: 0o700 });
    // One that was killed leaves its socket behind.
    await rm(socketPath, { force: true });
    return startProxy(socketPath);
  };
  return {
    socketPath,
    async open() {
      proxy ??= start();
      try {
        await proxy;
      } catch (error) {
        proxy = null;
        throw error;
      }
    },
    async close() {
      const open = proxy;
      proxy = null;
      await (await open)?.close();
    },
  };
}
