/**
 * The skills there are: those in the home, and those that come with the program, of which one in the home with the same
 * name takes the place. An installed skill whose files are not what a person confirmed is `changed`, and is offered to no
 * model until it is confirmed again. A broken skill is reported and keeps no other from being found. Reads only.
 */
import { lstat, readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { fileProblem, hasCode } from '../workspace-path.ts';
import { readInstalled, type InstalledRecord, type InstalledSkill } from './installed-record.ts';
import { SkillError } from './skill-error.ts';
import { nameProblem, readSkill, type SkillHeader } from './skill-format.ts';
import { skillFileBytesMax, skillFileName, skillsMax } from './skill-limits.ts';
import { readInside } from './skill-path.ts';
import { hashTree, readTree, unreadable } from './skill-tree.ts';

/** Folders looked at side by side. */
const besideMax = 16;

export interface Skill extends SkillHeader {
  /** Absolute. */
  readonly folder: string;
  readonly origin: 'built-in' | 'own' | 'installed';
  /** Only what is `offered` is shown to a model. */
  readonly state: 'offered' | 'changed' | 'disabled';
  readonly installed: InstalledSkill | null;
}

export interface BrokenSkill {
  readonly name: string;
  /** A sentence. */
  readonly problem: string;
}

export interface ShelfReport {
  /** Sorted by name. */
  readonly skills: readonly Skill[];
  readonly broken: readonly BrokenSkill[];
}

export interface SkillShelf {
  /** Where the skills of the home are; may not exist yet. Names in it that begin with a dot are Talaria's own. */
  readonly folder: string;
  readonly builtInFolder: string;
  list(): Promise<ShelfReport>;
  /** One of them, whatever its state. */
  find(name: string): Promise<Skill | BrokenSkill | null>;
}

export interface SkillShelfDeps {
  readonly folder: string;
  readonly builtInFolder: string;
  /** Names of skills that the operator does not want. */
  readonly disabled: () => readonly string[];
}

export function createSkillShelf({ folder, builtInFolder, disabled }: SkillShelfDeps): SkillShelf {
  const headers = new Remembered<SkillHeader | string>();
  const hashes = new Remembered<string>();

  async function look(name: string, record: InstalledRecord): Promise<Skill | BrokenSkill | null> {
    const own = await readHeader(headers, folder, name);
    const header = own ?? (await readHeader(headers, builtInFolder, name));
    if (header === null) return null;
    if (typeof header === 'string') return { name, problem: header };
    if (header.name !== name) {
      return { name, problem: `Its name is ${header.name}, and its folder is ${name}: both must be the same.` };
    }
    const isDisabled = disabled().includes(name);
    if (own === null) {
      const state = isDisabled ? 'disabled' : 'offered';
      return { ...header, folder: join(builtInFolder, name), origin: 'built-in', state, installed: null };
    }
    if (record.kind === 'damaged') return { name, problem: record.problem };
    const installed = record.skills.get(name) ?? null;
    const isAsConfirmed = installed === null || (await hashNow(hashes, join(folder, name))) === installed.hash;
    return {
      ...header,
      folder: join(folder, name),
      origin: installed === null ? 'own' : 'installed',
      state: !isAsConfirmed ? 'changed' : isDisabled ? 'disabled' : 'offered',
      installed,
    };
  }

  return {
    folder,
    builtInFolder,
    async list() {
      const [record, own, builtIn] = await Promise.all([
        readInstalled(folder),
        namesIn(folder),
        namesIn(builtInFolder),
      ]);
      const all = [...new Set([...own, ...builtIn])].sort();
      const names = all.slice(0, skillsMax);
      const found: (Skill | BrokenSkill | null)[] = [];
      for (let start = 0; start < names.length; start += besideMax) {
        found.push(...(await Promise.all(names.slice(start, start + besideMax).map((name) => look(name, record)))));
      }
      const broken = found.filter((one): one is BrokenSkill => one !== null && 'problem' in one);
      if (all.length > skillsMax) {
        broken.push({
          name: all[skillsMax] ?? '',
          problem: `There are more than ${skillsMax} skills; the rest is left out.`,
        });
      }
      return { skills: found.filter((one): one is Skill => one !== null && !('problem' in one)), broken };
    },
    async find(name) {
      return nameProblem(name) === null ? look(name, await readInstalled(folder)) : null;
    },
  };
}

/** Null if there is nothing of that name; a sentence if it is no skill. */
async function readHeader(
  headers: Remembered<SkillHeader | string>,
  shelf: string,
  name: string,
): Promise<SkillHeader | string | null> {
  const folder = join(shelf, name);
  try {
    const found = await lstat(folder);
    if (found.isSymbolicLink()) return `It is a link. Copy it there, or install it: talaria skills install FOLDER.`;
    if (!found.isDirectory()) return 'It is no folder.';
    const wrong = nameProblem(name);
    if (wrong !== null) return wrong;
    const path = join(await realpath(folder), skillFileName);
    const file = await lstat(path, { bigint: true });
    const mark = [file.dev, file.ino, file.size, file.mtimeNs, file.ctimeNs].join(':');
    return await headers.get(path, mark, () => headerIn(folder));
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) return `It can't be read: ${fileProblem(error)}.`;
    return (await lstat(folder).catch(() => null)) === null ? null : `It has no ${skillFileName}.`;
  }
}

async function headerIn(folder: string): Promise<SkillHeader | string> {
  const file = await readInside(folder, skillFileName, skillFileBytesMax);
  if (file.kind !== 'read') return `Its ${skillFileName} can't be read: ${unreadable(file)}.`;
  const read = await readSkill(Buffer.from(file.bytes).toString('utf8'));
  return read.kind === 'skill' ? read.header : read.problem;
}

/** Null for a folder that can't be hashed: that is not what was confirmed. */
async function hashNow(hashes: Remembered<string>, folder: string): Promise<string | null> {
  const tree = await readTree(folder);
  if (tree.kind === 'broken') return null;
  const mark = tree.files.map(({ path, fingerprint }) => `${path}\0${fingerprint}`).join('\n');
  try {
    return await hashes.get(folder, mark, () => hashTree(folder, tree.files));
  } catch (error) {
    if (error instanceof SkillError) return null;
    throw error;
  }
}

/** Entries without a dot in front; others than folders too, so that they can be reported. */
async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return (await readdir(folder)).filter((name) => !name.startsWith('.') && !name.endsWith('.md'));
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return [];
    throw new SkillError(`The skills in ${folder} can't be read: ${fileProblem(error)}.`);
  }
}

/** What was made of a file or folder, for as long as its mark is the same. */
class Remembered<T> {
  readonly #values = new Map<string, { readonly mark: string; readonly value: T }>();

  async get(key: string, mark: string, make: () => Promise<T>): Promise<T> {
    const known = this.#values.get(key);
    if (known?.mark === mark) return known.value;
    const value = await make();
    if (this.#values.size >= 2 * skillsMax) this.#values.clear();
    this.#values.set(key, { mark, value });
    return value;
  }
}
