/**
 * Finds what has to be guarded in a writable folder: names that other programs act on, and in every git repository what
 * makes git run programs. A guarded file must not be replaced by moving a folder above it away, so the folders between
 * are pinned. Repositories are looked for only so deep and so many; a repository that a command makes in a folder of its
 * own is its own.
 */
import type { Dirent } from 'node:fs';
import { lstat, readdir, readFile, realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { protectedIfThere, protectedNames } from './protected-names.ts';

export type Guard =
  /** It is there and stays as it is. */
  | { readonly kind: 'kept'; readonly path: string }
  /** It can be changed, but not moved or removed. */
  | { readonly kind: 'pinned'; readonly path: string }
  /** It is not there and does not come to be. `text`: it has to be a file with this text for others not to mind. */
  | { readonly kind: 'absent'; readonly path: string; readonly text: string | null };

const depthMax = 3;
const foldersMax = 2_000;
const gitModulesMax = 100;
const notLookedInto = new Set(['node_modules', '.git', '.venv', 'venv', 'target', '.cache']);

/** For this common folder git looks at the same one again; without it, a file of this name leads it elsewhere. */
const sameFolder = '.\n';

/** What a sandbox put there itself (`ours`) counts as absent. */
export async function findGuards(folder: string, ours: ReadonlySet<string> = new Set()): Promise<Guard[]> {
  const look: Look = { folder, typeOf: async (path) => (ours.has(path) ? null : typeOf(path)) };
  const guards: Guard[] = [];
  for (const name of protectedNames) guards.push(...(await guardName(look, join(folder, name))));
  const isHome = folder === homedir();
  for (const name of protectedIfThere) {
    guards.push(...(await guardName(look, join(folder, name))).filter(({ kind }) => isHome || kind === 'kept'));
  }
  if ((await look.typeOf(join(folder, '.git'))) === null) {
    guards.push({ kind: 'absent', path: join(folder, '.git'), text: null });
  }
  for (const repository of await findRepositories(folder)) {
    if (!ours.has(repository)) guards.push(...(await guardRepository(look, repository)));
  }
  return withPins(
    guards.filter(({ path }) => isBelow(path, folder)),
    folder,
  );
}

interface Look {
  readonly folder: string;
  readonly typeOf: (path: string) => Promise<EntryType | null>;
}

type EntryType = 'folder' | 'file' | 'link';

async function guardName(look: Look, path: string, text: string | null = null): Promise<Guard[]> {
  const type = await look.typeOf(path);
  if (type === null) return [{ kind: 'absent', path, text }];
  if (type !== 'link') return [{ kind: 'kept', path }];
  // Nothing can be mounted over a link itself: what it leads to is kept.
  const target = await realpath(path).catch(() => null);
  return target === null ? [] : [{ kind: 'kept', path: target }];
}

/** `git`: the folder or file of that name. */
async function guardRepository(look: Look, git: string): Promise<Guard[]> {
  if ((await look.typeOf(git)) !== 'folder') return guardName(look, git);
  const guards: Guard[] = [{ kind: 'pinned', path: git }, ...(await guardGitFolder(look, git))];
  for (const module of await gitFoldersIn(join(git, 'modules'))) guards.push(...(await guardGitFolder(look, module)));
  for (const tree of await gitFoldersIn(join(git, 'worktrees'))) {
    for (const name of ['commondir', 'gitdir']) guards.push(...(await guardName(look, join(tree, name), sameFolder)));
  }
  return guards;
}

async function guardGitFolder(look: Look, git: string): Promise<Guard[]> {
  const config = await readFile(join(git, 'config'), 'utf8').catch(() => '');
  const guards = [
    ...(await guardName(look, join(git, 'config'), '')),
    ...(await guardName(look, join(git, 'hooks'))),
    ...(await guardName(look, join(git, 'commondir'), sameFolder)),
  ];
  const worktreeConfig = join(git, 'config.worktree');
  if (/worktreeconfig/i.test(config) || (await look.typeOf(worktreeConfig)) !== null) {
    guards.push(...(await guardName(look, worktreeConfig, '')));
  }
  for (const [, written = ''] of config.matchAll(/^\s*(?:hooksPath|path|attributesFile)\s*=\s*"?([^"\n]+?)"?\s*$/gim)) {
    for (const path of [resolve(dirname(git), written), resolve(git, written)]) {
      if (isBelow(path, look.folder) && (await look.typeOf(path)) !== null) guards.push({ kind: 'kept', path });
    }
  }
  return guards;
}

async function gitFoldersIn(folder: string): Promise<string[]> {
  const found: string[] = [];
  const rest = [folder];
  for (let next = rest.pop(); next !== undefined && found.length < gitModulesMax; next = rest.pop()) {
    const entries = await entriesOf(next);
    if (entries.some(({ name }) => name === 'HEAD')) found.push(next);
    else rest.push(...entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(next ?? '', name)));
  }
  return found;
}

async function findRepositories(folder: string): Promise<string[]> {
  const found: string[] = [];
  let level = [folder];
  let seen = 0;
  for (let depth = 0; depth <= depthMax && level.length > 0; depth++) {
    const next: string[] = [];
    for (const path of level) {
      if (++seen > foldersMax) return found;
      const entries = await entriesOf(path);
      if (entries.some(({ name }) => name === '.git')) found.push(join(path, '.git'));
      for (const entry of entries) {
        if (entry.isDirectory() && !notLookedInto.has(entry.name)) next.push(join(path, entry.name));
      }
    }
    level = next;
  }
  return found;
}

/** Everything between the folder and what is guarded. */
function withPins(guards: readonly Guard[], folder: string): Guard[] {
  const byPath = new Map<string, Guard>();
  for (const guard of guards) {
    for (let above = dirname(guard.path); isBelow(above, folder); above = dirname(above)) {
      if (!byPath.has(above)) byPath.set(above, { kind: 'pinned', path: above });
    }
  }
  for (const guard of guards) {
    if (guard.kind !== 'pinned' || !byPath.has(guard.path)) byPath.set(guard.path, guard);
  }
  return [...byPath.values()];
}

function isBelow(path: string, folder: string): boolean {
  return path.startsWith(folder === '/' ? '/' : `${folder}/`) && path !== folder;
}

async function entriesOf(folder: string): Promise<Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch {
    // Not there, not a folder or not for us: nothing in it that a command of ours could use.
    return [];
  }
}

async function typeOf(path: string): Promise<EntryType | null> {
  try {
    const stats = await lstat(path);
    return stats.isSymbolicLink() ? 'link' : stats.isDirectory() ? 'folder' : 'file';
  } catch {
    return null;
  }
}
