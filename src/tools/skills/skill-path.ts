/**
 * Paths inside a skill's folder, and reading a file there. No link is followed, neither on the way nor at its end, and no
 * pipe or device is opened; what was opened is then held against what stands at that place, without links, so that a
 * folder exchanged meanwhile is noticed. Nobody but the owner of the home can exchange one.
 */
import { constants } from 'node:fs';
import { open, realpath, stat, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { fileProblem, hasCode } from '../workspace-path.ts';
import { pathCharsMax, pathDepthMax } from './skill-limits.ts';

/** What is wrong with a path relative to a skill's folder, as a clause; null if nothing is. */
export function pathProblem(path: string): string | null {
  if (path === '') return 'it is empty';
  if (path.length > pathCharsMax) return `it is longer than ${pathCharsMax} characters`;
  // eslint-disable-next-line no-control-regex -- finding them is the point
  if (/[\u0000-\u001f\u007f\\]|[\p{Cf}\p{Zl}\p{Zp}]/u.test(path))
    return 'it has characters that no file of a skill needs';
  if (path.startsWith('/') || path.startsWith('~')) return 'it is not relative to the folder of the skill';
  const parts = path.split('/');
  if (parts.length > pathDepthMax) return `it is deeper than ${pathDepthMax} folders`;
  if (parts.includes('..')) return 'it leads out of the folder of the skill';
  if (parts.includes('') || parts.includes('.')) return 'it has an empty part';
  return null;
}

export type InsideFile =
  | { readonly kind: 'read'; readonly bytes: Uint8Array; readonly isExecutable: boolean }
  | { readonly kind: 'missing' }
  /** `problem` is a clause. */
  | { readonly kind: 'refused'; readonly problem: string };

export async function readInside(folder: string, path: string, bytesMax: number): Promise<InsideFile> {
  const wrong = pathProblem(path);
  if (wrong !== null) return refused(wrong);
  let file: FileHandle | null = null;
  try {
    const root = await realpath(folder);
    const wanted = join(root, path);
    file = await open(wanted, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const opened = await file.stat();
    const there = await realpath(wanted);
    if (there !== wanted) return refused('it leads through a link');
    const now = await stat(there);
    if (now.ino !== opened.ino || now.dev !== opened.dev) return refused('it was exchanged while it was opened');
    if (!opened.isFile()) return refused(opened.isDirectory() ? 'it is a folder' : 'it is no regular file');
    if (opened.size > bytesMax) return refused(`it has ${opened.size} bytes, more than ${bytesMax}`);
    const bytes = await readAtMost(file, bytesMax);
    if (bytes === null) return refused(`it grew past ${bytesMax} bytes`);
    return { kind: 'read', bytes, isExecutable: (opened.mode & 0o100) !== 0 };
  } catch (error) {
    if (hasCode(error, 'ENOENT') || hasCode(error, 'ENOTDIR')) return { kind: 'missing' };
    if (hasCode(error, 'ELOOP')) return refused('it is a link');
    return refused(fileProblem(error));
  } finally {
    await file?.close();
  }
}

async function readAtMost(file: FileHandle, bytesMax: number): Promise<Uint8Array | null> {
  const chunks: Uint8Array[] = [];
  let total = 0;
  for (;;) {
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(64 * 1024));
    if (bytesRead === 0) return Buffer.concat(chunks, total);
    total += bytesRead;
    if (total > bytesMax) return null;
    chunks.push(buffer.subarray(0, bytesRead));
  }
}

function refused(problem: string): InsideFile {
  return { kind: 'refused', problem };
}
