/**
 * Replaces a file as a whole: whoever reads it, and whatever crashes, sees the old content or the new one, never a
 * mixture. When the promise resolves the content is on the disk. Failures are the file system's own errors, and the
 * file is as it was before then. Two writers at once are not kept apart: the last one wins.
 */
import type { Stats } from 'node:fs';
import { lstat, open, readlink, realpath, rename, rm, type FileHandle } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';

/** As deep as the kernel itself follows links. */
const linksMax = 40;

export interface AtomicWriteOptions {
  /** Exactly these permissions. Without it an existing file keeps its own, a new one gets 0666 less the umask. */
  readonly mode?: number;
}

export async function writeFileAtomically(
  path: string,
  data: string | Uint8Array,
  options: AtomicWriteOptions = {},
): Promise<void> {
  const target = await followLinks(path);
  const folder = dirname(target);
  const existing = await statOrNull(target);
  if (existing !== null && !existing.isFile()) throw new Error(`${target} is not a regular file`);

  const temporary = join(folder, `.${crypto.randomUUID()}.tmp`);
  const mode = options.mode ?? (existing === null ? null : existing.mode & 0o7777);
  // What will be private must not be readable for a moment under its temporary name.
  const file = await open(temporary, 'wx', mode === null ? 0o666 : 0o600);
  try {
    try {
      await file.writeFile(data);
      if (existing !== null) await takeOwner(file, existing);
      if (mode !== null) await file.chmod(mode);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncFolder(folder);
}

/** The place that `path` means, which need not exist yet. */
async function followLinks(path: string): Promise<string> {
  let target = resolve(path);
  for (let links = 0; links < linksMax; links++) {
    const folder = await realpath(dirname(target));
    const link = await readlink(target).catch((error: unknown) => {
      if (hasCode(error, 'EINVAL', 'ENOENT')) return null;
      throw error;
    });
    if (link === null) return target;
    target = resolve(folder, link);
  }
  throw new Error(`${path} leads through more than ${linksMax} symbolic links`);
}

async function statOrNull(path: string): Promise<Stats | null> {
  try {
    return await lstat(path);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null;
    throw error;
  }
}

/** Root editing a user's file leaves it the user's; anybody else may not give files away, and need not. */
async function takeOwner(file: FileHandle, existing: Stats): Promise<void> {
  const own = await file.stat();
  if (own.uid === existing.uid && own.gid === existing.gid) return;
  try {
    await file.chown(existing.uid, existing.gid);
  } catch (error) {
    if (!hasCode(error, 'EPERM', 'EINVAL', 'ENOSYS')) throw error;
  }
}

/** Makes the new name itself durable, where the platform can open and sync a folder. */
async function syncFolder(folder: string): Promise<void> {
  try {
    const handle = await open(folder, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (!hasCode(error, 'EACCES', 'EPERM', 'EINVAL', 'EISDIR', 'ENOTSUP')) throw error;
  }
}

function hasCode(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}
