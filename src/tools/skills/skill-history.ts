/**
 * Puts a new state of a skill in its place and keeps what was there before as a numbered version:
 * `.history/NAME/NUMBER` on the shelf, the oldest go first. A state is built whole beside the shelf's skills and then
 * renamed, so nobody reads half of one. A crash between the two renames leaves the skill in its history only, where
 * `restore` finds it.
 */
import { mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../workspace-path.ts';
import { folderEntries } from './folder-entries.ts';
import { historyBytesMax, versionsMax } from './skill-limits.ts';
import { stageSkill } from './stage-skill.ts';
import { readTree } from './skill-tree.ts';

const historyName = '.history';
const unconfirmedSuffix = '.changed';
const stagingPrefix = '.staging-';
/** Left by a process that died. */
const staleMs = 24 * 60 * 60 * 1_000;

/** Runs `build` with the path of a folder to be made, and removes what is left of it afterwards. */
export async function withStaging<T>(shelfFolder: string, build: (folder: string) => Promise<T>): Promise<T> {
  await mkdir(shelfFolder, { recursive: true, mode: 0o700 });
  const staging = await mkdtemp(join(shelfFolder, stagingPrefix));
  try {
    return await build(join(staging, 'skill'));
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

/** A skill's folder, copied by the rules for skills. */
export async function copySkill(from: string, to: string): Promise<void> {
  await stageSkill(folderEntries(from, { refuseHardLinks: false }), to);
}

/** Returns the number under which the state before is kept; null if there was none. */
export async function replaceSkill(
  shelfFolder: string,
  name: string,
  staged: string,
  wasConfirmed: boolean,
): Promise<number | null> {
  const kept = await keepAside(shelfFolder, name, wasConfirmed);
  await rename(staged, join(shelfFolder, name));
  return kept;
}

/**
 * Takes a skill off the shelf; it stays in the history. Null if there was none. A state that nobody confirmed is kept for
 * people to look at, and never restored.
 */
export async function keepAside(shelfFolder: string, name: string, wasConfirmed: boolean): Promise<number | null> {
  const history = join(shelfFolder, historyName, name);
  const number = ((await allVersions(shelfFolder, name)).at(-1)?.number ?? 0) + 1;
  await mkdir(history, { recursive: true, mode: 0o700 });
  try {
    await rename(join(shelfFolder, name), join(history, `${number}${wasConfirmed ? '' : unconfirmedSuffix}`));
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null;
    throw error;
  }
  await prune(shelfFolder, name);
  return wasConfirmed ? number : null;
}

/** Those that can be restored, oldest first. */
export async function versionsOf(shelfFolder: string, name: string): Promise<readonly number[]> {
  const all = await allVersions(shelfFolder, name);
  return all.filter(({ entry }) => !entry.endsWith(unconfirmedSuffix)).map(({ number }) => number);
}

async function allVersions(
  shelfFolder: string,
  name: string,
): Promise<readonly { readonly number: number; readonly entry: string }[]> {
  try {
    const entries = await readdir(join(shelfFolder, historyName, name));
    return entries
      .filter((entry) => /^[1-9]\d{0,8}(?:\.changed)?$/.test(entry))
      .map((entry) => ({ number: Number.parseInt(entry, 10), entry }))
      .sort((one, other) => one.number - other.number);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return [];
    throw error;
  }
}

export function versionFolder(shelfFolder: string, name: string, version: number): string {
  return join(shelfFolder, historyName, name, String(version));
}

/** The newest version stays, however large it is. */
async function prune(shelfFolder: string, name: string): Promise<void> {
  let [count, bytes] = [0, 0];
  for (const { entry } of (await allVersions(shelfFolder, name)).toReversed()) {
    const folder = join(shelfFolder, historyName, name, entry);
    const tree = await readTree(folder);
    count += 1;
    bytes += tree.kind === 'tree' ? tree.bytes : 0;
    if (count > 1 && (count > versionsMax || bytes > historyBytesMax))
      await rm(folder, { recursive: true, force: true });
  }
}

/** Removes what processes that died have left. */
export async function removeStaleStaging(shelfFolder: string, now: number): Promise<void> {
  const names = await readdir(shelfFolder).catch(() => []);
  for (const name of names) {
    if (!name.startsWith(stagingPrefix)) continue;
    const path = join(shelfFolder, name);
    const found = await stat(path).catch(() => null);
    if (found !== null && now - found.mtimeMs > staleMs) await rm(path, { recursive: true, force: true });
  }
}
