/** Lets old checkpoints go: those of before a certain time, then the oldest until the rest has room enough. */
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

interface KeptCheckpoint {
  readonly session: string;
  readonly path: string;
  readonly at: number;
  readonly bytes: number;
}

/** The newest one of a session keeps its number from being given again, so its folder stays, emptied. */
export async function pruneCheckpoints(
  folder: string,
  { before, bytesMax }: { readonly before: number; readonly bytesMax: number },
): Promise<void> {
  const all: KeptCheckpoint[] = [];
  for (const session of await readdir(folder).catch(() => [])) {
    for (const name of await readdir(join(folder, session)).catch(() => [])) {
      all.push({ session, path: join(folder, session, name), ...(await sizeOf(join(folder, session, name))) });
    }
  }
  all.sort((a, b) => b.at - a.at || (a.path < b.path ? 1 : -1));
  let bytes = 0;
  const newestOf = new Set<string>();
  for (const { session, path, at, bytes: own } of all) {
    bytes += own;
    const isNewest = !newestOf.has(session);
    newestOf.add(session);
    if (at >= before && bytes <= bytesMax) continue;
    bytes -= own;
    if (isNewest) await emptyFolder(path);
    else await rm(path, { recursive: true, force: true });
  }
}

/** `at`: when it was made, by the newest thing in it. */
async function sizeOf(path: string): Promise<{ at: number; bytes: number }> {
  let at = (await stat(path).catch(() => null))?.mtimeMs ?? 0;
  let bytes = 0;
  for (const name of await readdir(path).catch(() => [])) {
    const found = await stat(join(path, name)).catch(() => null);
    bytes += found?.size ?? 0;
    if (name === 'note.json') at = found?.mtimeMs ?? at;
  }
  return { at, bytes };
}

async function emptyFolder(path: string): Promise<void> {
  for (const name of await readdir(path).catch(() => [])) await rm(join(path, name), { force: true });
}
