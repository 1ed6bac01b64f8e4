/** Reads a file that another process appends to, as far as it goes, again and again. Characters come out whole. */
import { open, type FileHandle } from 'node:fs/promises';
import { hasCode } from '../workspace-path.ts';

const chunkBytes = 65_536;
/** A flood must not keep the reader from noticing anything else. */
const chunksMaxAtOnce = 16;

export interface OutputFollower {
  /** Hands on what came since the last time, or a part of it. The file need not be there yet. */
  readOn(): Promise<'nothing' | 'all' | 'part'>;
  /** Hands on half a character that was held back. Nothing is handed on after it. */
  close(): Promise<void>;
  /** Up to where it was read. */
  position(): number;
}

export function followOutput(path: string, onText: (text: string) => void, from = 0): OutputFollower {
  const decoder = new TextDecoder();
  const chunk = Buffer.allocUnsafe(chunkBytes);
  let file: FileHandle | null = null;
  let position = from;
  const hand = (text: string) => {
    if (text !== '') onText(text);
  };
  return {
    async readOn() {
      file ??= await openIfThere(path);
      if (file === null) return 'nothing';
      for (let chunks = 0; chunks < chunksMaxAtOnce; chunks++) {
        const { bytesRead } = await file.read(chunk, 0, chunkBytes, position);
        if (bytesRead === 0) return chunks === 0 ? 'nothing' : 'all';
        position += bytesRead;
        hand(decoder.decode(chunk.subarray(0, bytesRead), { stream: true }));
      }
      return 'part';
    },
    async close() {
      await file?.close();
      hand(decoder.decode());
    },
    position: () => position,
  };
}

async function openIfThere(path: string): Promise<FileHandle | null> {
  try {
    return await open(path, 'r');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null;
    throw error;
  }
}

/** Hands on all that is there now. */
export async function readToEnd(output: OutputFollower): Promise<void> {
  while ((await output.readOn()) === 'part');
}
