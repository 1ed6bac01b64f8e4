/**
 * A file with several names (hard links) may be somebody else's under one of them. It counts as inside only if all of
 * its names are found inside the roots; if one is found in Talaria's home, it is hidden. A tree too large to look
 * through counts as one where nothing was found: then a person is asked.
 */
import { lstat, readdir } from 'node:fs/promises';
import { atPath } from './confined-open.ts';
import { folderOf, idOf, type HeldEntry, type HeldFolder } from './held-folder.ts';
import type { Marks, Zone, ZoneFolders } from './zones.ts';

const entriesLookedAtMax = 20_000;
const depthMax = 24;

export async function zoneByNames(entry: HeldEntry, zone: Zone, folders: ZoneFolders, marks: Marks): Promise<Zone> {
  if (entry.stats.nlink <= 1n || zone === 'hidden') return zone;
  const { workspace } = folders;
  const count = async (tops: readonly string[]): Promise<number> => {
    const search = { id: entry.id, marks, left: entriesLookedAtMax, seen: new Set<string>() };
    let names = 0;
    for (const top of tops) {
      names += await atPath(top, { workspace, marks }, async (where) =>
        where.kind === 'located' && where.name === '' ? namesIn(where.folder, where.path, search, 0) : 0,
      );
    }
    return names;
  };
  if ((await count(folders.hidden)) > 0) return 'hidden';
  if (zone === 'outside') return zone;
  const inside = await count([workspace, ...folders.roots, ...folders.readable]);
  return BigInt(inside) >= entry.stats.nlink ? zone : 'outside';
}

interface Search {
  readonly id: string;
  readonly marks: Marks;
  left: number;
  /** Folders that were counted, so that a root in a root is not counted twice. */
  readonly seen: Set<string>;
}

async function namesIn(folder: HeldFolder, path: string, search: Search, depth: number): Promise<number> {
  if (search.seen.has(folder.id) || depth > depthMax) return 0;
  search.seen.add(folder.id);
  const children = await readdir(folder.way, { withFileTypes: true }).catch(() => []);
  let names = 0;
  for (const child of children.filter((found) => found.isFile())) {
    search.left -= 1;
    if (search.left < 0) return names;
    const found = await lstat(folder.at(child.name), { bigint: true }).catch(() => null);
    if (found !== null && idOf(found) === search.id) names += 1;
  }
  for (const child of children.filter((found) => found.isDirectory())) {
    search.left -= 1;
    if (search.left < 0) return names;
    names += await namesBelow(folder, child.name, path, search, depth);
  }
  return names;
}

async function namesBelow(
  folder: HeldFolder,
  name: string,
  path: string,
  search: Search,
  depth: number,
): Promise<number> {
  const entry = await folder.hold(name).catch(() => null);
  if (entry === null) return 0;
  try {
    // A marked folder is another zone, and counted for that one.
    if (!entry.stats.isDirectory() || search.marks.has(entry.id)) return 0;
    const below = `${path}/${name}`;
    return await namesIn(folderOf(entry, below), below, search, depth + 1);
  } finally {
    await entry.close();
  }
}
