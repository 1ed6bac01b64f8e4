/**
 * All files of a skill's folder, sorted, with a fingerprint of what they are on the disk, and the hash of their names and
 * content. A folder with a link or something else that is no file in it, or one that is too large, is broken as a whole.
 */
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileProblem, hasCode } from '../workspace-path.ts';
import { SkillError } from './skill-error.ts';
import { fileBytesMax, filesMax, treeBytesMax } from './skill-limits.ts';
import { pathProblem, readInside } from './skill-path.ts';

export interface TreeFile {
  readonly path: string;
  readonly size: number;
  readonly isExecutable: boolean;
  /** Changes with the file, whatever times are put on it. */
  readonly fingerprint: string;
}

export type SkillTree =
  | { readonly kind: 'tree'; readonly files: readonly TreeFile[]; readonly bytes: number }
  /** `problem` is a sentence. */
  | { readonly kind: 'broken'; readonly problem: string };

/** Left behind by a file manager in every folder it shows. */
export const ignoredNames: ReadonlySet<string> = new Set(['.DS_Store']);

export async function readTree(folder: string): Promise<SkillTree> {
  try {
    if (!(await lstat(folder)).isDirectory()) return { kind: 'broken', problem: 'It is no folder, or a link to one.' };
    const files: TreeFile[] = [];
    await walk(folder, '', files);
    files.sort((one, other) => (one.path < other.path ? -1 : 1));
    return { kind: 'tree', files, bytes: files.reduce((sum, { size }) => sum + size, 0) };
  } catch (error) {
    if (error instanceof SkillError) return { kind: 'broken', problem: error.message };
    if (hasCode(error, 'ENOENT')) return { kind: 'broken', problem: 'Its folder is not there.' };
    return { kind: 'broken', problem: `It can't be read: ${fileProblem(error)}.` };
  }
}

async function walk(folder: string, below: string, files: TreeFile[]): Promise<void> {
  for (const name of await readdir(join(folder, below))) {
    if (ignoredNames.has(name)) continue;
    const path = below === '' ? name : `${below}/${name}`;
    const wrong = pathProblem(path);
    if (wrong !== null) throw new SkillError(`It has ${JSON.stringify(path)}: ${wrong}.`);
    const found = await lstat(join(folder, path), { bigint: true });
    if (found.isDirectory()) {
      await walk(folder, path, files);
      continue;
    }
    if (found.isSymbolicLink())
      throw new SkillError(`${path} is a link, and a skill has none. Put the file itself there.`);
    if (!found.isFile()) throw new SkillError(`${path} is no regular file.`);
    const size = Number(found.size);
    if (size > fileBytesMax) throw new SkillError(`${path} has ${size} bytes; at most ${fileBytesMax} are allowed.`);
    const { dev, ino, mtimeNs, ctimeNs, mode } = found;
    const isExecutable = (mode & 0o100n) !== 0n;
    files.push({ path, size, isExecutable, fingerprint: [dev, ino, size, mtimeNs, ctimeNs, mode].join(':') });
    if (files.length > filesMax) throw new SkillError(`It has more than ${filesMax} files.`);
    if (files.reduce((sum, file) => sum + file.size, 0) > treeBytesMax) {
      throw new SkillError(`Its files have more than ${treeBytesMax} bytes together.`);
    }
  }
}

/** Names, permission to run, and content. Throws a `SkillError` if a file can't be read. */
export async function hashTree(folder: string, files: readonly TreeFile[]): Promise<string> {
  const { createHash } = await import('node:crypto');
  const whole = createHash('sha256');
  for (const { path } of files) {
    const file = await readInside(folder, path, fileBytesMax);
    if (file.kind !== 'read') throw new SkillError(`${path} can't be read: ${unreadable(file)}.`);
    whole.update(`${JSON.stringify([path, file.isExecutable, file.bytes.length])}\n`).update(file.bytes);
  }
  return `sha256:${whole.digest('hex')}`;
}

export function unreadable(
  file: { readonly kind: 'missing' } | { readonly kind: 'refused'; readonly problem: string },
): string {
  return file.kind === 'missing' ? 'it is not there' : file.problem;
}

/** What two trees differ in, for people: `+ path`, `- path`, `~ path`. */
export async function treeChanges(before: string, after: string): Promise<readonly string[]> {
  const [old, now] = [await contentsOf(before), await contentsOf(after)];
  const paths = [...new Set([...old.keys(), ...now.keys()])].sort();
  return paths.flatMap((path) => {
    const [was, is] = [old.get(path), now.get(path)];
    if (was === is) return [];
    return [`${was === undefined ? '+' : is === undefined ? '-' : '~'} ${path}`];
  });
}

async function contentsOf(folder: string): Promise<ReadonlyMap<string, string>> {
  const tree = await readTree(folder);
  if (tree.kind === 'broken') return new Map();
  const hashes = tree.files.map(async (file) => [file.path, await hashTree(folder, [file])] as const);
  return new Map(await Promise.all(hashes));
}
