/**
 * Finds the git repositories in a folder: those that are known from before, then those that are met on the way down. It
 * looks only so deep and so far, so what was found once is remembered by whoever asks: otherwise a command could put so
 * many folders before a repository that it is not found the next time. Never throws.
 */
import type { Dirent } from 'node:fs';
import { lstat, readdir, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';

const depthMax = 3;
const foldersMax = 20_000;
/** Every one of them costs some mounts, and a start gets slower with each. */
const repositoriesMax = 500;
const gitModulesMax = 100;
const gitFoldersLookedAtMax = 2_000;
const atOnce = 64;
const notLookedInto = new Set(['node_modules', '.git', '.venv', 'venv', 'target', '.cache']);

/** Each the path of a `.git`, or of a folder that is what a `.git` would be. */
export async function findRepositories(folder: string, known: readonly string[] = []): Promise<string[]> {
  const isStill = await Promise.all(known.map(isStillThere));
  const found = new Set(known.filter((_, index) => isStill[index]));
  let level = [folder];
  let seen = 0;
  for (let depth = 0; depth <= depthMax && level.length > 0; depth++) {
    const next: string[] = [];
    for (let start = 0; start < level.length; start += atOnce) {
      const paths = level.slice(start, start + atOnce);
      seen += paths.length;
      if (seen > foldersMax) return first(found);
      const listed = await Promise.all(paths.map(entriesOf));
      for (const [index, path] of paths.entries()) look(path, listed[index] ?? [], found, next);
    }
    level = next;
  }
  return first(found);
}

/** A folder above it may have been moved away and a link put in its place: what that leads to is met on the way down. */
async function isStillThere(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return (await realpath(dirname(path))) === dirname(path);
  } catch {
    return false;
  }
}

function look(path: string, entries: readonly Dirent[], found: Set<string>, next: string[]): void {
  const names = new Set(entries.map(({ name }) => name));
  if (names.has('.git')) found.add(join(path, '.git'));
  const isBare = ['HEAD', 'objects', 'refs'].every((name) => names.has(name));
  if (isBare) found.add(path);
  else {
    const folders = entries.filter((entry) => entry.isDirectory() && !notLookedInto.has(entry.name));
    next.push(...folders.map(({ name }) => join(path, name)));
  }
}

function first(found: ReadonlySet<string>): string[] {
  return [...found].slice(0, repositoriesMax);
}

/** The data of submodules or worktrees. Null: more of it than is looked at. */
export async function gitFoldersIn(folder: string): Promise<string[] | null> {
  const found: string[] = [];
  const rest = [folder];
  let seen = 0;
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    const path = next;
    if (found.length >= gitModulesMax || ++seen > gitFoldersLookedAtMax) return null;
    const entries = await entriesOf(path);
    if (entries.some(({ name }) => name === 'HEAD')) found.push(path);
    else rest.push(...entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(path, name)));
  }
  return found;
}

async function entriesOf(folder: string): Promise<Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch {
    // Not there, not a folder or not for us: nothing in it that a command of ours could use.
    return [];
  }
}
