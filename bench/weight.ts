/** What the program weighs: memory of an idle gateway, and its packages on disk. */
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { root, startGateway, withHome, type Row } from './measure.ts';
import { residentBytes } from './process-figures.ts';

const settleMs = 5_000;

export function benchWeight(): Promise<Row[]> {
  return withHome('', async (home) => {
    const gateway = await startGateway(home);
    try {
      await wait(settleMs);
      const idle = residentBytes(gateway.child.pid ?? 0) / 1e6;
      return [
        { name: 'idle gateway, resident', value: idle, unit: 'MB', limit: 110 },
        { name: 'node_modules without Node and tools', value: productionBytes() / 1e6, unit: 'MB', limit: 60 },
        { name: 'dist', value: folderBytes(join(root, 'dist')) / 1e6, unit: 'MB' },
      ];
    } finally {
      await gateway.stop();
    }
  });
}

/** The packages that the lock file calls neither development nor optional: the pinned Node is optional. */
function productionBytes(): number {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dev?: boolean; optional?: boolean; link?: boolean }>;
  };
  return Object.entries(lock.packages)
    .filter(([path, entry]) => path.startsWith('node_modules/') && !entry.dev && !entry.optional && !entry.link)
    .reduce((sum, [path]) => sum + folderBytes(join(root, path)), 0);
}

function folderBytes(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}
