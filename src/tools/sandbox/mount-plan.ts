/**
 * What a sandbox's file tree is put together from, in order: what is above comes first, so that of two entries the deeper
 * one counts. Everything that is not in the plan does not exist inside. The plan is the same for every kind of sandbox
 * that has a file tree of its own.
 */
import { access, lstat, realpath } from 'node:fs/promises';
import { isAbsolute, normalize } from 'node:path';
import { SandboxError, type SandboxRequest } from '../sandbox.ts';
import { findGuards, type Guard } from './find-guards.ts';
import { findRepositories } from './find-repositories.ts';
import type { SystemEntry } from './system-folders.ts';

export type Mount =
  | { readonly kind: 'read' | 'write'; readonly path: string; readonly source: string }
  | { readonly kind: 'link'; readonly path: string; readonly target: string }
  /** Empty, gone with the sandbox. `isFixed`: nothing can be put into it. */
  | { readonly kind: 'scratch'; readonly path: string; readonly mode: string; readonly isFixed: boolean }
  /** Nothing to be read there: an empty file or folder, as it is one outside. */
  | { readonly kind: 'blank'; readonly path: string; readonly isFolder: boolean };

export interface MountPlan {
  readonly mounts: readonly Mount[];
  /** Where the command starts, without links. */
  readonly cwd: string;
  /** The writable folders, each with what must not come to be in it. */
  readonly absent: readonly GuardedFolder[];
}

export interface GuardedFolder {
  readonly folder: string;
  readonly guards: readonly AbsentGuard[];
  /** To be remembered. */
  readonly repositories: readonly string[];
}

/** What earlier sandboxes left to know about a folder. */
export interface GuardMemory {
  /** What of it they have put there, and is not the user's. */
  ours(folder: string): Promise<ReadonlySet<string>>;
  repositories(folder: string): Promise<readonly string[]>;
}

export const noMemory: GuardMemory = {
  ours: () => Promise.resolve(new Set<string>()),
  repositories: () => Promise.resolve([]),
};

const looksMax = 5;
/** Nothing of the machine's own is in there. */
const temporary: ReadonlySet<string> = new Set(['/tmp', '/var/tmp']);

type AbsentGuard = Extract<Guard, { kind: 'absent' }>;

export async function planMounts(
  request: SandboxRequest,
  system: readonly SystemEntry[],
  memory: GuardMemory,
): Promise<MountPlan> {
  const byPath = new Map<string, Mount>();
  const put = (mount: Mount): void => void byPath.set(mount.path, mount);
  for (const entry of system) put(entry);
  put({ kind: 'scratch', path: '/tmp', mode: '1777', isFixed: false });
  put({ kind: 'link', path: '/var/tmp', target: '/tmp' });
  const absent: GuardedFolder[] = [];
  const readable = (await Promise.all(request.readable.map(folderIfThere))).filter((folder) => folder !== null);
  const isShown = (asked: string) =>
    isBelowAny(
      asked,
      [...byPath.values()].filter((mount) => !temporary.has(mount.path)),
    );
  for (const { path, asked } of readable) placeFolder({ put, isShown }, 'read', path, asked);
  const writable = await Promise.all(request.writable.map(realFolder));
  for (const { path, asked } of writable) placeFolder({ put, isShown }, 'write', path, asked);
  const home = request.env['HOME'];
  if (home !== undefined && isAbsolute(home) && normalize(home) !== '/' && !isInside(home, writable, readable)) {
    const path = await realpath(home).catch(() => normalize(home));
    if (!byPath.has(path)) put({ kind: 'scratch', path, mode: '0700', isFixed: false });
  }
  // A folder that is named twice, or by a link as well, is guarded once.
  for (const path of new Set(writable.map((folder) => folder.path))) {
    const repositories = await findRepositories(path, await memory.repositories(path));
    const guards = await guardsOf(path, memory, repositories);
    for (const guard of guards) {
      if (writable.some((folder) => folder.path === guard.path)) continue;
      put(guardMount(guard));
    }
    absent.push({ folder: path, guards: guards.filter((guard) => guard.kind === 'absent'), repositories });
  }
  for (const hidden of request.hidden) await hide(hidden, byPath, put);
  // Nothing can be mounted below a link.
  if ([...byPath.keys()].some((path) => path.startsWith('/var/tmp/'))) {
    put({ kind: 'scratch', path: '/var/tmp', mode: '1777', isFixed: false });
  }
  const mounts = [...byPath.values()].sort((left, right) => compareDepth(left.path, right.path));
  return { mounts, cwd: await realpath(request.cwd).catch(() => request.cwd), absent };
}

function guardMount(guard: Guard): Mount {
  switch (guard.kind) {
    case 'kept':
      return { kind: 'read', path: guard.path, source: guard.path };
    case 'pinned':
      return { kind: 'write', path: guard.path, source: guard.path };
    case 'absent':
      return guard.text === null
        ? { kind: 'blank', path: guard.path, isFolder: true }
        : { kind: 'read', path: guard.path, source: guard.path };
  }
}

/** Nothing below what is kept needs a guard of its own. */
async function guardsOf(folder: string, { ours }: GuardMemory, repositories: readonly string[]): Promise<Guard[]> {
  let guards = await findGuards(folder, await ours(folder), repositories);
  // Another sandbox may begin between the two looks: what it put there is not the user's, and goes with it.
  for (let attempt = 0; attempt < looksMax; attempt++) {
    const since = await ours(folder);
    if (!guards.some(({ kind, path }) => kind === 'kept' && since.has(path))) break;
    guards = await findGuards(folder, since, repositories);
  }
  const closed = guards.filter(({ kind }) => kind !== 'pinned').map(({ path }) => `${path}/`);
  return guards.filter(({ path }) => !closed.some((above) => path.startsWith(above)));
}

interface RealFolder {
  readonly path: string;
  readonly asked: string;
}

async function realFolder(asked: string): Promise<RealFolder> {
  if (!isAbsolute(asked)) throw new SandboxError(`${asked}: the sandbox needs the whole path of a folder.`);
  try {
    return { path: await realpath(asked), asked: normalize(asked).replace(/(?<=.)\/$/, '') };
  } catch (error) {
    throw new SandboxError(`${asked}: the sandbox can't open this folder. Create it, or take it out of the settings.`, {
      cause: error,
    });
  }
}

/** Where there is nothing, nothing can be read: no reason to refuse a command. */
function folderIfThere(asked: string): Promise<RealFolder | null> {
  return access(asked).then(
    () => realFolder(asked),
    () => null,
  );
}

interface Placing {
  readonly put: (mount: Mount) => void;
  readonly isShown: (asked: string) => boolean;
}

function placeFolder({ put, isShown }: Placing, kind: 'read' | 'write', path: string, asked: string): void {
  if (path === '/') throw new SandboxError('The whole machine can not be a folder of the sandbox.');
  // A link in a folder that is shown, the system's for one, is seen there already.
  if (asked !== path && !isShown(asked)) put({ kind: 'link', path: asked, target: path });
  put({ kind, path, source: path });
}

function isBelowAny(path: string, mounts: readonly Mount[]): boolean {
  return mounts.some((mount) => ['read', 'write', 'link'].includes(mount.kind) && path.startsWith(`${mount.path}/`));
}

function isInside(path: string, ...groups: readonly (readonly RealFolder[])[]): boolean {
  const clean = normalize(path);
  return groups.flat().some((folder) => isAtOrBelow(clean, folder.path) || isAtOrBelow(clean, folder.asked));
}

async function hide(asked: string, mounts: ReadonlyMap<string, Mount>, put: (mount: Mount) => void): Promise<void> {
  const path = await realpath(asked).catch(() => null);
  if (path === null) return;
  const showing = [...mounts.values()].filter(({ kind }) => kind === 'read' || kind === 'write');
  const isSeen = showing.some((mount) => isAtOrBelow(path, mount.path));
  if (!isSeen) return;
  const { isDirectory } = await lstat(path).then((stats) => ({ isDirectory: stats.isDirectory() }));
  if (isDirectory) put({ kind: 'scratch', path, mode: '0755', isFixed: true });
  else put({ kind: 'blank', path, isFolder: false });
}

function isAtOrBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === '/' ? '/' : `${folder}/`);
}

function compareDepth(left: string, right: string): number {
  const depth = (path: string): number => (path === '/' ? 0 : path.split('/').length);
  return depth(left) - depth(right) || (left < right ? -1 : Number(left > right));
}
