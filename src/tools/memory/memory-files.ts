/**
 * The files of one memory: `MEMORY.md` about the work, `USER.md` about the person, and `ARCHIVE.md` with what had no more
 * room in them. They belong to the person, who may edit them at any time: they are read anew for every change and replaced
 * whole. An entry is in the archive before it leaves its file: a crash between the two leaves it twice, never nowhere.
 */
import { constants } from 'node:fs';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { isUtf8 } from 'node:buffer';
import { writeFileAtomically } from '../../lib/atomic-file.ts';
import { matchText, searchTerms } from '../../lib/search-terms.ts';
import { hasCode } from '../workspace-path.ts';
import {
  addEntry,
  addMissing,
  charsOf,
  entriesOf,
  factOf,
  factsLike,
  findEntry,
  hasFact,
  makeRoom,
  readNotes,
  replaceEntry,
  withoutFact,
  writeNotes,
  type Notes,
} from './edit-notes.ts';
import { withMemoryLock } from './memory-lock.ts';
import {
  archiveFileName,
  machineOwner,
  memoriesFolderName,
  memoryFileNames,
  memoryFolder,
  ownerOfFolder,
  peopleFolderName,
  type MemoryTarget,
} from './memory-places.ts';

/** Not to wait for the other end of a pipe. */
const readFlags = constants.O_RDONLY | constants.O_NONBLOCK;

/** Of each file, in characters: all of both is part of the prompt of every later session. */
export const memoryLimits: Readonly<Record<MemoryTarget, number>> = { memory: 4_000, user: 2_000 };
export type MemoryLimits = typeof memoryLimits;

export type MemoryChange =
  | { readonly action: 'add'; readonly target: MemoryTarget; readonly entry: string }
  | { readonly action: 'replace'; readonly target: MemoryTarget; readonly old: string; readonly entry: string }
  | { readonly action: 'remove'; readonly target: MemoryTarget; readonly old: string };

/** How full a file is. */
export interface MemoryUse {
  readonly chars: number;
  readonly charsMax: number;
}

export type ChangeOutcome =
  | { readonly kind: 'added'; readonly archived: readonly string[]; readonly use: MemoryUse }
  | { readonly kind: 'there-already'; readonly use: MemoryUse }
  | { readonly kind: 'replaced'; readonly was: string; readonly archived: readonly string[]; readonly use: MemoryUse }
  | { readonly kind: 'removed'; readonly was: string; readonly use: MemoryUse }
  | { readonly kind: 'not-found'; readonly entries: readonly string[] }
  | { readonly kind: 'several'; readonly entries: readonly string[] }
  /** What is not a list of entries fills the file. */
  | { readonly kind: 'no-room'; readonly use: MemoryUse };

/** A file is not what can be changed without losing something of it; the message is a clause. */
export class MemoryFileError extends Error {
  override readonly name = 'MemoryFileError';
}

/** Failures are the file system's own errors and a `MemoryFileError`; then nothing was changed. */
export async function changeMemory(
  folder: string,
  change: MemoryChange,
  limits: MemoryLimits = memoryLimits,
): Promise<ChangeOutcome> {
  return withMemoryLock(folder, () => changeLocked(folder, change, limits));
}

async function changeLocked(folder: string, change: MemoryChange, limits: MemoryLimits): Promise<ChangeOutcome> {
  const path = join(folder, memoryFileNames[change.target]);
  const charsMax = limits[change.target];
  const before = readNotes(await exactText(path));
  const useOf = (notes: Notes): MemoryUse => ({ chars: charsOf(notes), charsMax });
  const store = async (notes: Notes, kept: string) => {
    const room = makeRoom(notes, kept, charsMax);
    if (room === null) return { kind: 'no-room', use: useOf(before) } as const;
    await archive(folder, room.taken);
    await write(path, room.notes);
    return { kind: 'stored', archived: room.taken, use: useOf(room.notes) } as const;
  };
  if (change.action === 'add') {
    if (hasFact(before, change.entry)) return { kind: 'there-already', use: useOf(before) };
    const stored = await store(addEntry(before, change.entry), change.entry);
    return stored.kind === 'no-room' ? stored : { ...stored, kind: 'added' };
  }
  const found = findEntry(before, change.old);
  if (found.kind === 'none') return { kind: 'not-found', entries: entriesOf(before) };
  if (found.kind === 'several') return found;
  if (change.action === 'remove') {
    const after = withoutFact(before, factOf(found.entry));
    await write(path, after);
    return { kind: 'removed', was: found.entry, use: useOf(after) };
  }
  const stored = await store(replaceEntry(before, found.index, change.entry), change.entry);
  return stored.kind === 'no-room' ? stored : { ...stored, kind: 'replaced', was: found.entry };
}

async function archive(folder: string, entries: readonly string[]): Promise<void> {
  if (entries.length === 0) return;
  const path = join(folder, archiveFileName);
  const before = readNotes(await exactText(path));
  const after = addMissing(before, entries);
  if (after.lines.length > before.lines.length) await write(path, after);
}

async function write(path: string, notes: Notes): Promise<void> {
  await mkdir(join(path, '..'), { recursive: true, mode: 0o700 });
  // A link leads to where the person keeps it; a new file is theirs alone.
  const isNew = (await textOrNull(path)) === null;
  await writeFileAtomically(path, writeNotes(notes), isNew ? { mode: 0o600 } : {});
}

export interface Memories {
  readonly memory: string;
  readonly user: string;
}

/** What can't be read is left out: nobody's turn should fail for it. */
export async function readMemories(home: string, owner: string): Promise<Memories> {
  const folder = memoryFolder(home, owner);
  const read = (target: MemoryTarget) =>
    readFile(join(folder, memoryFileNames[target]), { encoding: 'utf8', flag: readFlags }).catch(() => '');
  const [memory, user] = await Promise.all([read('memory'), read('user')]);
  return { memory, user };
}

export interface MemoryHit {
  readonly file: string;
  /** With the matching words between ‹ and ›. */
  readonly text: string;
}

/** Entries with all these words, of the archive too; all entries if there are no words. */
export async function searchMemories(folder: string, query: string): Promise<readonly MemoryHit[]> {
  const terms = searchTerms(query);
  const hits: MemoryHit[] = [];
  for (const file of [...Object.values(memoryFileNames), archiveFileName]) {
    const { lines } = readNotes(await textOrEmpty(join(folder, file)));
    for (const line of lines) {
      const match = line.trim() === '' ? null : matchText(line.trim().replace(/^[-*+] /, ''), terms);
      if (match !== null) hits.push({ file, text: match.snippet });
    }
  }
  return hits;
}

export type ForgetOutcome =
  | { readonly kind: 'forgotten'; readonly entry: string; readonly files: readonly string[] }
  | { readonly kind: 'not-found' }
  | { readonly kind: 'several'; readonly entries: readonly string[] };

/** Takes the one entry with these words out of every file that has it, for good. */
export async function forgetEntry(folder: string, words: string): Promise<ForgetOutcome> {
  // As it is listed, or in a person's own words.
  const wanted = words.trim().replace(/^[-*+] +/, '');
  if (wanted === '') return { kind: 'not-found' };
  // Nobody gets a folder by being looked for.
  const isThere = await readdir(folder).then(
    () => true,
    () => false,
  );
  return isThere ? withMemoryLock(folder, () => forgetLocked(folder, wanted)) : { kind: 'not-found' };
}

async function forgetLocked(folder: string, words: string): Promise<ForgetOutcome> {
  const files = [...Object.values(memoryFileNames), archiveFileName];
  const notes = await Promise.all(files.map(async (file) => readNotes(await exactText(join(folder, file)))));
  const facts = factsLike(notes, words);
  const [fact] = facts;
  if (fact === undefined) return { kind: 'not-found' };
  if (facts.length > 1) return { kind: 'several', entries: facts };
  const changed: string[] = [];
  for (const [at, file] of files.entries()) {
    const before = notes[at] ?? { lines: [] };
    const after = withoutFact(before, fact);
    if (after.lines.length === before.lines.length) continue;
    await write(join(folder, file), after);
    changed.push(file);
  }
  return { kind: 'forgotten', entry: fact, files: changed };
}

/** Everybody who has a folder; one whose name is too long to be told is left out. */
export async function memoryOwners(home: string): Promise<readonly string[]> {
  const names = await readdir(join(home, memoriesFolderName, peopleFolderName)).catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return [];
    throw error;
  });
  const people = names.flatMap((name) => ownerOfFolder(name) ?? []);
  return [machineOwner, ...people.sort()];
}

/** As it can be written back; empty if there is none. */
async function exactText(path: string): Promise<string> {
  const bytes = await readFile(path, { flag: readFlags }).catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return new Uint8Array();
    throw error;
  });
  if (isUtf8(bytes)) return Buffer.from(bytes).toString('utf8');
  throw new MemoryFileError(`${basename(path)} is no UTF-8 text, and a change would lose some of it; save it as UTF-8`);
}

async function textOrEmpty(path: string): Promise<string> {
  return (await textOrNull(path)) ?? '';
}

async function textOrNull(path: string): Promise<string | null> {
  try {
    return await readFile(path, { encoding: 'utf8', flag: readFlags });
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null;
    throw error;
  }
}
