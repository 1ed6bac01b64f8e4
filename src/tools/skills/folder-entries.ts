/**
 * The files of a folder as the entries that an archive of it would have: links as links, so that the one who judges
 * entries sees them. What is no file, folder or link is a `SkillError`. Files are opened by the same care as those of a skill.
 */
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { TarEntry } from '../../lib/tar.ts';
import { SkillError } from './skill-error.ts';
import { fileBytesMax, filesMax } from './skill-limits.ts';
import { pathProblem, readInside } from './skill-path.ts';
import { unreadable } from './skill-tree.ts';

const nothing = new Uint8Array();

export interface FolderEntriesOptions {
  /** A second name of a file somewhere else could make that file part of a skill. */
  readonly refuseHardLinks: boolean;
}

export async function* folderEntries(folder: string, options: FolderEntriesOptions): AsyncGenerator<TarEntry> {
  if (!(await lstat(folder)).isDirectory()) throw new SkillError(`${folder} is no folder, or a link to one.`);
  yield* entriesBelow(folder, '', options, { left: 4 * filesMax });
}

async function* entriesBelow(
  folder: string,
  below: string,
  options: FolderEntriesOptions,
  budget: { left: number },
): AsyncGenerator<TarEntry> {
  for (const base of (await readdir(join(folder, below))).sort()) {
    // It is part of no skill, and large.
    if (base === '.git') continue;
    budget.left -= 1;
    if (budget.left < 0) throw new SkillError(`${folder} has too many files for a skill.`);
    const name = below === '' ? base : `${below}/${base}`;
    const found = await lstat(join(folder, name));
    const modifiedMs = found.mtimeMs;
    if (found.isSymbolicLink())
      yield { header: { kind: 'symlink', name, modifiedMs, target: '?' }, body: once(nothing) };
    else if (found.isDirectory()) {
      yield { header: { kind: 'folder', name, modifiedMs, mode: 0o700 }, body: once(nothing) };
      // Whoever takes the entries has refused what is too deep.
      if (pathProblem(name) === null) yield* entriesBelow(folder, name, options, budget);
    } else if (!found.isFile())
      throw new SkillError(`${name} is refused: it is no regular file. The skill was not taken.`);
    else if (options.refuseHardLinks && found.nlink > 1) {
      throw new SkillError(
        `${name} is refused: it is a hard link. Copy the folder without links and install the copy.`,
      );
    } else yield await fileEntry(folder, name, modifiedMs, found.size);
  }
}

async function fileEntry(folder: string, name: string, modifiedMs: number, size: number): Promise<TarEntry> {
  // Refused by its size before it is read.
  if (size > fileBytesMax)
    return { header: { kind: 'file', name, modifiedMs, mode: 0o600, size }, body: once(nothing) };
  const file = await readInside(folder, name, fileBytesMax);
  if (file.kind !== 'read') throw new SkillError(`${name} can't be read: ${unreadable(file)}.`);
  const { bytes, isExecutable } = file;
  const mode = isExecutable ? 0o700 : 0o600;
  return { header: { kind: 'file', name, modifiedMs, mode, size: bytes.length }, body: once(bytes) };
}

export async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  if (bytes.length > 0) yield bytes;
}
