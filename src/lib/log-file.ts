/** Appends lines to a file and starts a new one when it has grown, keeping a few old ones. Never throws into its user. */
import { appendFileSync, renameSync, statSync } from 'node:fs';

const bytesMax = 10_000_000;
const oldFilesMax = 3;

export function openLogFile(path: string): (line: string) => void {
  let size = sizeOf(path);
  return (line) => {
    const text = `${line}\n`;
    try {
      if (size > bytesMax) {
        rotate(path);
        size = 0;
      }
      appendFileSync(path, text, { mode: 0o600 });
      size += Buffer.byteLength(text);
    } catch {
      // A log that can't be written (full disk, folder gone) must not stop the work it tells about.
    }
  };
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function rotate(path: string): void {
  for (let index = oldFilesMax - 1; index >= 1; index--) {
    const from = `${path}.${index}`;
    if (sizeOf(from) > 0) renameSync(from, `${path}.${index + 1}`);
  }
  renameSync(path, `${path}.1`);
}
