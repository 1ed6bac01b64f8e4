/**
 * Puts new content in the place of a held path, as a whole or not at all, in exactly the folder that is held. A file that
 * was there keeps its mode and owner; its other names, if it has some, keep the old content. What was changed since it
 * was looked at is not overwritten. On the disk when it resolves.
 */
import { constants, lstat, mkdir, open, rename, unlink, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../workspace-path.ts';
import type { Located } from './confined-open.ts';
import { folderOf, idOf, noLinkAnywhere, type HeldEntry, type HeldFolder } from './held-folder.ts';

export class FileChanged extends Error {
  override readonly name = 'FileChanged';
  constructor() {
    super('somebody else changed it in this moment');
  }
}

/** Without `mode` an existing file keeps its own, a new one gets 0666 less the umask. */
export async function replaceFile(place: Located, content: Uint8Array, mode?: number): Promise<void> {
  const made: HeldEntry[] = [];
  try {
    const folder = await makeFolders(place, made);
    await putInPlace(folder, place, content, mode);
    await syncFolder(folder);
  } finally {
    await Promise.all(made.map((entry) => entry.close()));
  }
}

/** Takes a file away; the same promises. */
export async function removeFile(place: Located): Promise<void> {
  if (place.entry === null) return;
  await checkUnchanged(place.folder, place);
  await unlink(place.folder.at(place.name));
  await syncFolder(place.folder);
}

async function makeFolders(place: Located, made: HeldEntry[]): Promise<HeldFolder> {
  let folder = place.folder;
  let path = place.path.slice(0, place.path.length - [...place.missingFolders, place.name].join('/').length - 1);
  for (const name of place.missingFolders) {
    await mkdir(folder.at(name)).catch((error: unknown) => {
      if (!hasCode(error, 'EEXIST')) throw error;
    });
    const entry = await folder.hold(name);
    if (entry !== null) made.push(entry);
    // Somebody was quicker, perhaps with a link: that is another place than the one that was decided about.
    if (entry?.stats.isDirectory() !== true) throw new FileChanged();
    path = join(path, name);
    folder = folderOf(entry, path);
  }
  return folder;
}

async function putInPlace(folder: HeldFolder, place: Located, content: Uint8Array, mode?: number): Promise<void> {
  const temporary = folder.at(`.${crypto.randomUUID()}.tmp`);
  const { O_CREAT, O_EXCL, O_WRONLY, O_NOFOLLOW } = constants;
  const old = place.entry?.stats ?? null;
  const wanted = mode ?? (old === null ? null : Number(old.mode) & 0o7777);
  // What will be private must not be readable for a moment under its temporary name.
  const file = await open(
    temporary,
    O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | noLinkAnywhere,
    wanted === null ? 0o666 : 0o600,
  );
  try {
    try {
      await file.writeFile(content);
      if (old !== null) await takeOwner(file, Number(old.uid), Number(old.gid));
      if (wanted !== null) await file.chmod(wanted);
      await file.sync();
    } finally {
      await file.close();
    }
    await checkUnchanged(folder, place);
    await rename(temporary, folder.at(place.name));
  } catch (error) {
    await unlink(temporary).catch(() => {});
    throw error;
  }
}

async function checkUnchanged(folder: HeldFolder, { name, entry }: Located): Promise<void> {
  const now = await lstat(folder.at(name), { bigint: true }).catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return null;
    throw error;
  });
  if (now === null && entry === null) return;
  const isSame =
    now !== null &&
    entry !== null &&
    idOf(now) === entry.id &&
    now.size === entry.stats.size &&
    now.mtimeNs === entry.stats.mtimeNs;
  if (!isSame) throw new FileChanged();
}

/** Root editing a user's file leaves it the user's; anybody else may not give files away, and need not. */
async function takeOwner(file: FileHandle, uid: number, gid: number): Promise<void> {
  const own = await file.stat();
  if (own.uid === uid && own.gid === gid) return;
  await file.chown(uid, gid).catch((error: unknown) => {
    if (!hasCode(error, 'EPERM') && !hasCode(error, 'EINVAL') && !hasCode(error, 'ENOSYS')) throw error;
  });
}

async function syncFolder(folder: HeldFolder): Promise<void> {
  try {
    const handle = await open(folder.at('.'), constants.O_RDONLY | constants.O_DIRECTORY);
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (error) {
    const mayNot = ['EACCES', 'EPERM', 'EINVAL', 'ENOTSUP'].some((code) => hasCode(error, code));
    if (!mayNot) throw error;
  }
}
