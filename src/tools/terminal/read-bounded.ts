/**
 * Reads a file that a sandboxed process may have put there: no link is followed, nothing is waited for, only a plain file
 * is read, and no more of it than was asked for.
 */
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';

/** The beginning of the file, or what follows `from`; null if there is no such plain file. */
export async function readBounded(path: string, bytesMax: number, from = 0): Promise<Buffer | null> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(path, flags).catch(() => null);
  if (file === null) return null;
  try {
    if (!(await file.stat()).isFile()) return null;
    const buffer = Buffer.alloc(Math.min(bytesMax, Math.max(0, (await file.stat()).size - from)));
    const { bytesRead } = await file.read(buffer, 0, buffer.length, from);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}
