/**
 * A folder that is held open, and what can be done in it by a single name: look, hold, make, put in place. On Linux all
 * of it goes through the descriptor (`/proc/self/fd/N/name` is what `openat` would open), so that it stays this very
 * folder whatever is renamed or linked meanwhile. Elsewhere it goes by the path, and the system is asked to refuse every
 * link on the way; a rename between looking and opening can then only lead to another folder that is no link.
 */
import type { BigIntStats } from 'node:fs';
import { constants, lstat, open, readlink, stat, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../workspace-path.ts';

const isLinux = process.platform === 'linux';
/** Holds what is there without opening it: a pipe is not waited for, a device does not notice. Linux only. */
const pathOnly = 0x20_0000;
/** Of macOS: no part of the path may be a link. */
export const noLinkAnywhere = process.platform === 'darwin' ? 0x2000_0000 : 0;

/** Something in a folder: a file, a folder, a link, or whatever else. */
export interface HeldEntry {
  readonly stats: BigIntStats;
  /** Equal for two entries that are the same thing under two names. */
  readonly id: string;
  /** Opens exactly this, which must be a regular file. */
  open(flags: number): Promise<FileHandle>;
  /** A path that leads to it, as long as it is held. */
  readonly way: string;
  readonly handle: FileHandle | null;
  close(): Promise<void>;
}

export interface HeldFolder extends HeldEntry {
  /** A path to something in it, for calls that do not follow a link at the end. */
  at(name: string): string;
  /** Null if there is nothing of that name. Throws the file system's errors. */
  hold(name: string): Promise<HeldEntry | null>;
  /** Where a link leads, as it is written. */
  readLink(name: string): Promise<string>;
}

export const idOf = ({ dev, ino }: { readonly dev: bigint; readonly ino: bigint }): string => `${dev}:${ino}`;

/** The folder at the top of all. */
export async function holdTop(): Promise<HeldFolder> {
  if (!isLinux) return folderOf({ ...entryAt('/', await lstat('/', { bigint: true })) }, '/');
  const handle = await open('/', pathOnly | constants.O_DIRECTORY);
  return folderOf(entryOf(handle, await handle.stat({ bigint: true })), '/');
}

/** `path` is where it was found, for systems that go by it. */
export function folderOf(entry: HeldEntry, path: string): HeldFolder {
  const at = (name: string) => join(entry.way, name);
  return {
    ...entry,
    at,
    hold: (name) => holdAt(isLinux ? at(name) : join(path, name)),
    readLink: (name) => readlink(at(name)),
  };
}

async function holdAt(path: string): Promise<HeldEntry | null> {
  try {
    if (!isLinux) return entryAt(path, await lstat(path, { bigint: true }));
    const handle = await open(path, pathOnly | constants.O_NOFOLLOW);
    return entryOf(handle, await handle.stat({ bigint: true }));
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null;
    throw error;
  }
}

function entryOf(handle: FileHandle, stats: BigIntStats): HeldEntry {
  const way = `/proc/self/fd/${handle.fd}`;
  return {
    stats,
    id: idOf(stats),
    way,
    handle,
    open: (flags) => open(way, flags | constants.O_NONBLOCK),
    close: () => handle.close(),
  };
}

function entryAt(path: string, stats: BigIntStats): HeldEntry {
  return {
    stats,
    id: idOf(stats),
    way: path,
    handle: null,
    async open(flags) {
      const handle = await open(path, flags | constants.O_NONBLOCK | constants.O_NOFOLLOW | noLinkAnywhere);
      if (idOf(await handle.stat({ bigint: true })) === idOf(stats)) return handle;
      await handle.close();
      throw new Error('it was replaced while it was opened');
    },
    close: () => Promise.resolve(),
  };
}

/** Identifies a folder that somebody chose, following links; null if there is none. */
export async function folderIdAt(path: string): Promise<string | null> {
  const found = await stat(path, { bigint: true }).catch(() => null);
  return found?.isDirectory() === true ? idOf(found) : null;
}
