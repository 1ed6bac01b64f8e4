/**
 * Where a path leads, found by going there: each part of it is held before the next one is looked at, links are read and
 * followed by the same steps, and the kernel never follows one itself. What is returned is held, not named: whatever is
 * renamed, linked or mounted afterwards, it stays the thing whose zone was decided. Nothing is opened on the way, so no
 * pipe is waited for and no device notices.
 */
import { relative } from 'node:path';
import { fileProblem } from '../workspace-path.ts';
import type { HeldEntry, HeldFolder } from './held-folder.ts';
import { Way } from './way.ts';
import type { Marks, Zone } from './zones.ts';

const pathBytesMax = 4_096;

export interface Located {
  readonly zone: Zone;
  /** Absolute, without a link in it. */
  readonly path: string;
  /** For people: relative to the workspace if it is in there. */
  readonly shown: string;
  /** From the marked folder that the zone comes from; `path` itself where none is on the way. */
  readonly below: string;
  /** The last folder there is on the way; `name` is in it, or would be. */
  readonly folder: HeldFolder;
  /** Folders that are missing between `folder` and the file. */
  readonly missingFolders: readonly string[];
  /** Of the file; empty if the path leads to `folder` itself. */
  readonly name: string;
  /** Null if there is nothing yet, or if the path leads to `folder` itself. */
  readonly entry: HeldEntry | null;
}

export type Whereabouts =
  | ({ readonly kind: 'located' } & Located)
  /** `problem` is a sentence. */
  | { readonly kind: 'refused'; readonly problem: string };

/** Runs `use` while the place is held. Relative paths start in `workspace`. */
export async function atPath<T>(
  path: string,
  { workspace, marks }: { readonly workspace: string; readonly marks: Marks },
  use: (where: Whereabouts) => Promise<T>,
): Promise<T> {
  const problem = problemWith(path);
  if (problem !== null) return use({ kind: 'refused', problem });
  const way = new Way(marks);
  try {
    const where = await locate(way, path, workspace).catch((error: unknown): Whereabouts => ({
      kind: 'refused',
      problem: `${path} can't be used: ${fileProblem(error)}.`,
    }));
    return await use(where);
  } finally {
    await way.close();
  }
}

function problemWith(path: string): string | null {
  if (path === '') return 'The path is empty. Give one relative to the workspace.';
  if (path.includes('\0')) return 'The path contains a NUL character. Leave it out.';
  if (path.startsWith('~')) return `${path}: "~" is not understood. Give a path relative to the workspace.`;
  if (Buffer.byteLength(path) > pathBytesMax)
    return `The path is longer than ${pathBytesMax} bytes. Give a shorter one.`;
  if (!path.isWellFormed()) return 'The path contains half a character. Leave it out.';
  return null;
}

async function locate(way: Way, path: string, workspace: string): Promise<Whereabouts> {
  await way.begin();
  await way.follow(workspace);
  const home = way.path();
  if (way.entry !== null || way.missing.length > 0) throw new Error('the workspace is not a folder');
  await way.follow(path);
  const folder = way.folder();
  const name = way.entry === null ? (way.missing.at(-1) ?? '') : way.name;
  const inWorkspace = relative(home, way.path()) || '.';
  return {
    kind: 'located',
    zone: await way.zone(),
    path: way.path(),
    shown: /^\.\.(\/|$)/.test(inWorkspace) ? way.path() : inWorkspace,
    below: way.below(),
    folder,
    missingFolders: way.missing.slice(0, -1),
    name,
    entry: way.entry,
  };
}
