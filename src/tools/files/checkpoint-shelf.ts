/**
 * What files were before tools changed them. A folder for each session, in it a numbered folder for each change: the old
 * bytes, and a note that says which file, what it was and what it becomes. A checkpoint is whole and on the disk before
 * it has its number, and it has its number before the change begins. Old ones go by age, then by the room they take.
 */
import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../lib/clock.ts';
import type { SessionId } from '../../protocol/ids.ts';
import { hasCode } from '../workspace-path.ts';
import { pruneCheckpoints } from './prune-checkpoints.ts';
import { sha256Of } from './read-whole.ts';

/** For all sessions together. */
export const checkpointBytesMax = 500_000_000;
/** How many are made before it is looked again what may go. */
const prunedEvery = 100;
const noteFile = 'note.json';

export interface FileState {
  readonly sha256: string;
  readonly bytes: number;
  readonly mode: number;
}

export interface ChangedFile {
  /** Absolute, without links. */
  readonly path: string;
  /** Null if there was none. */
  readonly before: FileState | null;
  /** The hash of what it becomes; null if it is taken away. */
  readonly after: string | null;
}

export interface Checkpoint {
  /** Grows with each; a session's first one is 1. */
  readonly number: number;
  /** The call that is about to change the files, or `rollback`. */
  readonly callId: string;
  readonly tool: string;
  readonly at: number;
  readonly workspace: string;
  readonly files: readonly ChangedFile[];
}

export interface NewCheckpoint extends Omit<Checkpoint, 'number' | 'at' | 'files'> {
  readonly files: readonly (Omit<ChangedFile, 'before'> & {
    readonly before: { readonly content: Uint8Array; readonly mode: number } | null;
  })[];
}

export interface CheckpointShelf {
  /** Its number. On the disk when it resolves; throws the file system's errors. */
  keep(sessionId: SessionId, made: NewCheckpoint): Promise<number>;
  /** Newest first. */
  list(sessionId: SessionId): Promise<readonly Checkpoint[]>;
  /** The bytes that a file of a checkpoint had. */
  content(sessionId: SessionId, checkpoint: number, index: number): Promise<Buffer>;
  remove(sessionId: SessionId): Promise<void>;
  /** Lets go of what is too old or too much. */
  prune(): Promise<void>;
}

export function createCheckpointShelf(deps: {
  readonly folder: string;
  readonly clock: Clock;
  readonly keptMs: () => number;
  readonly bytesMax?: number;
}): CheckpointShelf {
  const { folder, clock, keptMs, bytesMax = checkpointBytesMax } = deps;
  const prune = () => pruneCheckpoints(folder, { before: clock.now() - keptMs(), bytesMax });
  let untilPrune = 0;
  return {
    async keep(sessionId, made) {
      const shelf = join(folder, sessionId);
      await mkdir(shelf, { recursive: true, mode: 0o700 });
      const draft = join(shelf, `.${crypto.randomUUID()}`);
      await mkdir(draft, { mode: 0o700 });
      try {
        await writeDraft(draft, made, clock.now());
        const number = await publish(shelf, draft);
        untilPrune -= 1;
        if (untilPrune < 0) {
          untilPrune = prunedEvery;
          await prune();
        }
        return number;
      } catch (error) {
        await rm(draft, { recursive: true, force: true });
        throw error;
      }
    },
    async list(sessionId) {
      const shelf = join(folder, sessionId);
      const found: Checkpoint[] = [];
      for (const number of (await numbersIn(shelf)).reverse()) {
        const note = await readNote(join(shelf, nameOf(number)));
        if (note !== null) found.push({ number, ...note });
      }
      return found;
    },
    content: (sessionId, checkpoint, index) => readFile(join(folder, sessionId, nameOf(checkpoint), String(index))),
    remove: (sessionId) => rm(join(folder, sessionId), { recursive: true, force: true }),
    prune,
  };
}

async function writeDraft(draft: string, made: NewCheckpoint, at: number): Promise<void> {
  const files: ChangedFile[] = [];
  for (const [index, { path, before, after }] of made.files.entries()) {
    if (before === null) {
      files.push({ path, before, after });
      continue;
    }
    const { content, mode } = before;
    await writeDurably(join(draft, String(index)), content);
    files.push({ path, before: { sha256: sha256Of(content), bytes: content.length, mode }, after });
  }
  const { callId, tool, workspace } = made;
  const note: Omit<Checkpoint, 'number'> = { callId, tool, at, workspace, files };
  await writeDurably(join(draft, noteFile), Buffer.from(JSON.stringify(note)));
  await syncFolder(draft);
}

/** Takes the next number; somebody who takes the same one at the same time gets the one after it. */
async function publish(shelf: string, draft: string): Promise<number> {
  for (let number = ((await numbersIn(shelf)).at(-1) ?? 0) + 1; ; number += 1) {
    try {
      await rename(draft, join(shelf, nameOf(number)));
      await syncFolder(shelf);
      return number;
    } catch (error) {
      if (!hasCode(error, 'ENOTEMPTY') && !hasCode(error, 'EEXIST')) throw error;
    }
  }
}

const nameOf = (number: number) => String(number).padStart(8, '0');

/** In order. */
export async function numbersIn(shelf: string): Promise<number[]> {
  const names = await readdir(shelf).catch(() => []);
  return names
    .filter((name) => /^\d{8,}$/.test(name))
    .map(Number)
    .sort((a, b) => a - b);
}

/** Null if it is not one that this program wrote. */
export async function readNote(folder: string): Promise<Omit<Checkpoint, 'number'> | null> {
  try {
    return JSON.parse(await readFile(join(folder, noteFile), 'utf8')) as Omit<Checkpoint, 'number'>;
  } catch {
    return null;
  }
}

async function writeDurably(path: string, content: Uint8Array): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
