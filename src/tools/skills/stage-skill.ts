/**
 * Writes the files of a skill that comes from somewhere into a new folder: the one place where what somebody else made is
 * judged before it lies in the home. Plain files and folders only, names that stay inside and mean one file on every file
 * system, within the limits; else a `SkillError`. Nothing is run, and nothing keeps more permissions than "may be run".
 */
import { mkdir, open, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { TarEntry } from '../../lib/tar.ts';
import { hasCode } from '../workspace-path.ts';
import { SkillError } from './skill-error.ts';
import { fileBytesMax, filesMax, treeBytesMax } from './skill-limits.ts';
import { pathProblem } from './skill-path.ts';

/** What programs leave in folders; it belongs to no skill. */
const leftOut: ReadonlySet<string> = new Set(['.git', '.DS_Store', '__MACOSX']);

/** `folder` must not exist yet; whoever calls removes it if this throws. */
export async function stageSkill(entries: AsyncIterable<TarEntry>, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const seen = new Set<string>();
  let [count, bytes] = [0, 0];
  for await (const { header, body } of entries) {
    const { name } = header;
    if (name.split('/').some((part) => leftOut.has(part))) continue;
    const wrong = pathProblem(name);
    if (wrong !== null) throw refusal(name, wrong);
    if (header.kind === 'symlink') throw refusal(name, 'it is a link');
    if (header.kind === 'folder') continue;
    // Some file systems take names that differ only in case or in composition for the same.
    const folded = name.normalize('NFC').toLowerCase();
    if (seen.has(folded)) throw refusal(name, 'there are two of this name');
    seen.add(folded);
    count += 1;
    bytes += header.size;
    if (header.size > fileBytesMax)
      throw refusal(name, `it has ${header.size} bytes, and at most ${fileBytesMax} are allowed`);
    if (count > filesMax) throw new SkillError(`The skill has more than ${filesMax} files; it was not installed.`);
    if (bytes > treeBytesMax)
      throw new SkillError(`The skill has more than ${treeBytesMax} bytes; it was not installed.`);
    await writeNew(folder, name, { body, size: header.size, isExecutable: (header.mode & 0o100) !== 0 });
  }
}

interface NewFile {
  readonly body: AsyncIterable<Uint8Array>;
  readonly size: number;
  readonly isExecutable: boolean;
}

async function writeNew(folder: string, name: string, { body, size, isExecutable }: NewFile): Promise<void> {
  const file = await create(folder, name, isExecutable ? 0o700 : 0o600);
  try {
    let written = 0;
    for await (const chunk of body) {
      written += chunk.length;
      if (written > size) break;
      await file.writeFile(chunk);
    }
    if (written !== size) throw refusal(name, 'it has another size than it says');
  } finally {
    await file.close();
  }
}

async function create(folder: string, name: string, mode: number): Promise<FileHandle> {
  const path = join(folder, name);
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    // The folder is new and only ours: nothing can be there but what came before.
    return await open(path, 'wx', mode);
  } catch (error) {
    if (!hasCode(error, 'EEXIST') && !hasCode(error, 'ENOTDIR') && !hasCode(error, 'EISDIR')) throw error;
    throw refusal(name, 'a file and a folder have the same name');
  }
}

function refusal(name: string, why: string): SkillError {
  return new SkillError(`${JSON.stringify(name)} is refused: ${why}. The skill was not taken.`);
}
