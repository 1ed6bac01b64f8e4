/**
 * Where a path given by the model leads. It is taken as relative to the workspace, and only places inside the
 * workspace are named; links are followed before that is decided. The place need not exist yet.
 */
import { lstat, realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';

export type WorkspacePlace =
  /** `path` is absolute with all links followed; `shown` is relative to the workspace, for people. */
  | { readonly kind: 'inside'; readonly path: string; readonly shown: string }
  /** `problem` is a sentence. */
  | { readonly kind: 'refused'; readonly problem: string };

export async function placeInWorkspace(workspace: string, path: string): Promise<WorkspacePlace> {
  if (path === '') return refused('The path is empty. Give one relative to the workspace.');
  if (path.includes('\0')) return refused('The path contains a NUL character. Leave it out.');
  if (path.startsWith('~')) return refused(`${path}: "~" is not understood. Give a path relative to the workspace.`);
  const wanted = resolve(workspace, path);
  if (!isInside(resolve(workspace), wanted)) return outside(path);
  try {
    const root = await withLinksFollowed(workspace);
    const real = await withLinksFollowed(wanted);
    if (root === null || real === null) return refused(`${path} is a link to something that does not exist.`);
    if (!isInside(root, real)) return outside(path);
    return { kind: 'inside', path: real, shown: relative(root, real) || '.' };
  } catch (error) {
    return refused(`${path} can't be used: ${fileProblem(error)}.`);
  }
}

/** The real place of a path, of which the last parts need not exist; null if a link on the way leads nowhere. */
async function withLinksFollowed(path: string): Promise<string | null> {
  try {
    return await realpath(path);
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
  }
  if ((await lstat(path).catch(() => null)) !== null) return null;
  const parent = await withLinksFollowed(dirname(path));
  return parent === null ? null : join(parent, basename(path));
}

function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** An error of the file system in words that fit after a colon. */
export function fileProblem(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return problems[code] ?? (error instanceof Error ? error.message : String(error));
}

const problems: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'the system does not allow it',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  ELOOP: 'its links lead in a circle',
  ENAMETOOLONG: 'the name is too long',
  ENOTDIR: 'a part of the path is a file, not a folder',
  EISDIR: 'it is a folder',
  EMFILE: 'too many files are open',
};

export function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

function outside(path: string): WorkspacePlace {
  return refused(`${path} is outside the workspace. Only files inside it can be used; give a path relative to it.`);
}

function refused(problem: string): WorkspacePlace {
  return { kind: 'refused', problem };
}
