/** All bytes of a held file, within a limit: what grows while it is read is not read for ever. */
import { createHash } from 'node:crypto';
import { constants } from 'node:fs/promises';
import type { HeldEntry } from './held-folder.ts';

/** Null if it has more than `bytesMax`. Throws the file system's errors. */
export async function readWhole(entry: HeldEntry, bytesMax: number): Promise<Buffer | null> {
  const file = await entry.open(constants.O_RDONLY);
  try {
    const { size } = await file.stat();
    if (size > bytesMax) return null;
    const bytes = Buffer.allocUnsafe(Math.min(size, bytesMax) + 1);
    let filled = 0;
    while (filled < bytes.length) {
      const { bytesRead } = await file.read(bytes, filled, bytes.length - filled, filled);
      if (bytesRead === 0) return bytes.subarray(0, filled);
      filled += bytesRead;
    }
    throw new Error('it grew while it was read');
  } finally {
    await file.close();
  }
}

export function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
