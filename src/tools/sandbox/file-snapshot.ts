/** What is in a folder, to be compared with later: kinds, permissions, times and contents. For tests of escapes. */
import { createHash } from 'node:crypto';
import { lstat, readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';

export type Snapshot = ReadonlyMap<string, string>;

/** `scratch` at its top is left out: there, commands may do what they want. */
export async function snapshot(root: string): Promise<Snapshot> {
  const found = new Map<string, string>();
  async function walk(path: string, name: string): Promise<void> {
    if (name === '/scratch') return;
    const stats = await lstat(path).catch(() => null);
    if (stats === null) return;
    const mode = stats.mode.toString(8);
    if (stats.isSymbolicLink()) found.set(name, `link to ${await readlink(path)}`);
    else if (stats.isFile()) found.set(name, `file ${mode} ${stats.mtimeMs} ${await hashOf(path)}`);
    else found.set(name, mode);
    if (!stats.isDirectory()) return;
    // It may be going away in this moment, and is then not there.
    for (const entry of await readdir(path).catch(() => [])) await walk(join(path, entry), `${name}/${entry}`);
  }
  await walk(root, '');
  return found;
}

export function differences(before: Snapshot | undefined, after: Snapshot): string[] {
  const paths = new Set([...(before?.keys() ?? []), ...after.keys()]);
  return [...paths].filter((path) => before?.get(path) !== after.get(path)).map((path) => `${path} changed`);
}

async function hashOf(path: string): Promise<string> {
  return createHash('sha256')
    .update(await readFile(path).catch(() => 'gone'))
    .digest('hex');
}
