/**
 * The file in which a project tells agents how it is worked on: the first one of the known names in a folder that is a
 * regular file. Links are not followed, neither to the file nor on the way to it, so that nothing from outside the
 * workspace comes in; a large file is read at both ends only. What its words are worth is left to `project-text.ts`.
 */
import { constants, open, readlink, realpath, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';

/** In this order; the first one found counts alone. */
export const projectFileNames = ['.talaria.md', 'AGENTS.md', 'CLAUDE.md', '.cursorrules'] as const;

/** Of each end; what is between does not fit into a prompt anyway. */
const endBytesMax = 128 * 1024;

export interface ProjectFile {
  /** Its path in the workspace. */
  readonly path: string;
  readonly content: string;
}

/** `folder` is relative to the workspace; empty for itself. Null if there is none. Never throws. */
export async function readProjectFile(workspace: string, folder: string): Promise<ProjectFile | null> {
  const top = await realpath(workspace).catch(() => null);
  if (top === null) return null;
  const place = join(top, folder);
  // A linked folder is another one: what is said there comes with results from there.
  if ((await realpath(place).catch(() => null)) !== place) return null;
  for (const name of projectFileNames) {
    const content = await readPlainFile(join(place, name));
    // What has a zero in it is no text, whatever it is called.
    if (content !== null && content.trim() !== '' && !content.includes('\0'))
      return { path: join(folder, name), content };
  }
  return null;
}

async function readPlainFile(path: string): Promise<string | null> {
  // Not to wait for the other end of a pipe.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(path, flags).catch(() => null);
  if (file === null) return null;
  try {
    const { size } = await file.stat();
    if (!(await file.stat()).isFile() || !(await isAt(file, path))) return null;
    if (size <= 2 * endBytesMax) return await textAt(file, 0, size);
    return `${await textAt(file, 0, endBytesMax)}\n${await textAt(file, size - endBytesMax, endBytesMax)}`;
  } catch {
    return null;
  } finally {
    await file.close();
  }
}

/** Whether no folder on the way was exchanged for a link in between; where the kernel does not tell, as it was checked. */
async function isAt(file: FileHandle, path: string): Promise<boolean> {
  if (process.platform !== 'linux') return (await realpath(path)) === path;
  return (await readlink(`/proc/self/fd/${file.fd}`)) === path;
}

async function textAt(file: FileHandle, position: number, length: number): Promise<string> {
  const buffer = Buffer.alloc(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await file.read(buffer, filled, length - filled, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.toString('utf8', 0, filled);
}
