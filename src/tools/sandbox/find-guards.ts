/**
 * Finds what has to be guarded in a writable folder: names that other programs act on, and in every git repository what
 * makes git run programs. A guarded file must not be replaced by moving a folder above it away, so the folders between
 * are pinned. Which repositories there are is found by `find-repositories.ts`; one that a command makes in a folder of
 * its own is its own.
 */
import { lstat, readFile, realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { findRepositories, gitFoldersIn } from './find-repositories.ts';
import { protectedIfThere, protectedInProjects, protectedNames } from './protected-names.ts';

export type Guard =
  /** It is there and stays as it is. */
  | { readonly kind: 'kept'; readonly path: string }
  /** It can be changed, but not moved or removed. */
  | { readonly kind: 'pinned'; readonly path: string }
  /** It is not there and does not come to be. `text`: it has to be a file with this text for others not to mind. */
  | { readonly kind: 'absent'; readonly path: string; readonly text: string | null };

/** For this common folder git looks at the same one again; without it, a file of this name leads it elsewhere. */
const sameFolder = '.\n';

/** What a sandbox put there itself (`ours`) counts as absent. `repositories`: as `findRepositories` found them. */
export async function findGuards(
  folder: string,
  ours: ReadonlySet<string> = new Set(),
  repositories?: readonly string[],
): Promise<Guard[]> {
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
  for (const repository of repositories ?? (await findRepositories(folder))) {
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

/** `git`: the folder or file of that name, or a repository without files of its own. */
async function guardRepository(look: Look, git: string): Promise<Guard[]> {
  const guards = basename(git) === '.git' ? await guardProject(look, dirname(git)) : [];
  if ((await look.typeOf(git)) !== 'folder') return [...guards, ...(await guardName(look, git))];
  guards.push({ kind: 'pinned', path: git }, ...(await guardGitFolder(look, git)));
  const modules = await gitFoldersIn(join(git, 'modules'));
  // More than anybody has: then none of them is changed.
  if (modules === null) guards.push({ kind: 'kept', path: join(git, 'modules') });
  for (const module of modules ?? []) guards.push(...(await guardGitFolder(look, module)));
  const trees = await gitFoldersIn(join(git, 'worktrees'));
  if (trees === null) guards.push({ kind: 'kept', path: join(git, 'worktrees') });
  const hasOwnConfig = /worktreeconfig/i.test(await configOf(git));
  for (const tree of trees ?? []) {
    for (const name of ['commondir', 'gitdir']) guards.push(...(await guardName(look, join(tree, name), sameFolder)));
    if (hasOwnConfig) guards.push(...(await guardName(look, join(tree, 'config.worktree'), '')));
  }
  return guards;
}

/** What is there of the names in a project further down. Placeholders for the rest would be in everybody's way. */
async function guardProject(look: Look, project: string): Promise<Guard[]> {
  if (project === look.folder) return [];
  const found = await Promise.all(protectedInProjects.map((name) => guardName(look, join(project, name))));
  return found.flat().filter(({ kind }) => kind === 'kept');
}

async function guardGitFolder(look: Look, git: string): Promise<Guard[]> {
  const config = await configOf(git);
  const guards = [
    ...(await guardName(look, join(git, 'config'), '')),
    ...(await guardName(look, join(git, 'hooks'))),
    ...(await guardName(look, join(git, 'commondir'), sameFolder)),
  ];
  const worktreeConfig = join(git, 'config.worktree');
  if (/worktreeconfig/i.test(config) || (await look.typeOf(worktreeConfig)) !== null) {
    guards.push(...(await guardName(look, worktreeConfig, '')));
  }
  for (const [, key = '', written = ''] of config.matchAll(
    /^\s*(hooksPath|path|attributesFile)\s*=\s*"?([^"\n]+?)"?\s*$/gim,
  )) {
    // Hooks are looked for from where the files are, everything else from where the configuration is.
    const isHooks = key.toLowerCase() === 'hookspath';
    const [likely, other] = isHooks ? [dirname(git), git] : [git, dirname(git)];
    guards.push(...(await guardNamed(look, resolve(likely, written), isHooks ? null : '')));
    const elsewhere = resolve(other, written);
    if ((await look.typeOf(elsewhere)) !== null) guards.push({ kind: 'kept', path: elsewhere });
  }
  // Whatever a configuration says, the repository itself can be worked in.
  return guards.filter(({ path }) => !isBelow(git, path));
}

/** What a configuration leads to. If it is not there, neither that nor a folder on the way to it comes to be. */
async function guardNamed(look: Look, path: string, text: string | null): Promise<Guard[]> {
  if (!isBelow(path, look.folder) || relative(look.folder, path).split('/').includes('~')) return [];
  const names = relative(look.folder, path).split('/');
  let at = look.folder;
  for (const [index, name] of names.entries()) {
    at = join(at, name);
    const type = await look.typeOf(at);
    if (type === null) return [{ kind: 'absent', path: at, text: index === names.length - 1 ? text : null }];
    if (type === 'link') return guardName(look, at);
  }
  return [{ kind: 'kept', path }];
}

function configOf(git: string): Promise<string> {
  return readFile(join(git, 'config'), 'utf8').catch(() => '');
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

async function typeOf(path: string): Promise<EntryType | null> {
  try {
    const stats = await lstat(path);
    return stats.isSymbolicLink() ? 'link' : stats.isDirectory() ? 'folder' : 'file';
  } catch {
    return null;
  }
}
