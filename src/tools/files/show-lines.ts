/** Lines of an open file as a search shows them: `path:12: text`, and `path-13- text` for those around a match. */
import type { FileHandle } from 'node:fs/promises';

const lineCharsMax = 400;
/** Of a file that has changed since it was searched, the line may be far: that is not looked for without end. */
const bytesReadMax = 60_000_000;

/** `wanted` in order. Null if the file has none of them any more. */
export async function showLines(
  file: FileHandle,
  shown: string,
  wanted: readonly number[],
  around: number,
  signal: AbortSignal,
): Promise<string | null> {
  const isWanted = new Set(wanted);
  const isNear = new Set(
    wanted.flatMap((line) => Array.from({ length: 2 * around + 1 }, (_, at) => line - around + at)),
  );
  const last = (wanted.at(-1) ?? 0) + around;
  const rows: string[] = [];
  let previous = 0;
  let hasMatch = false;
  for await (const [number, text] of linesOf(file, last, signal)) {
    if (!isNear.has(number)) continue;
    const sign = isWanted.has(number) ? ':' : '-';
    hasMatch ||= sign === ':';
    if (rows.length > 0 && number !== previous + 1 && around > 0) rows.push('--');
    rows.push(`${shown}${sign}${number}${sign} ${text}`);
    previous = number;
  }
  return hasMatch ? rows.join('\n') : null;
}

/** Each line, cut where it gets long, up to a certain one. */
async function* linesOf(file: FileHandle, last: number, signal: AbortSignal): AsyncGenerator<[number, string]> {
  const chunk = Buffer.allocUnsafe(65_536);
  let kept: Buffer = Buffer.alloc(0);
  let number = 1;
  let position = 0;
  while (position < bytesReadMax) {
    signal.throwIfAborted();
    const { bytesRead } = await file.read(chunk, 0, chunk.length, position);
    if (bytesRead === 0) break;
    position += bytesRead;
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0 && end < bytesRead; end = chunk.indexOf(10, start)) {
      yield [number, textOf(Buffer.concat([kept, chunk.subarray(start, end)]))];
      if (number >= last) return;
      number += 1;
      start = end + 1;
      kept = Buffer.alloc(0);
    }
    // Of a long line only the beginning is shown.
    if (kept.length <= 4 * lineCharsMax) kept = Buffer.concat([kept, chunk.subarray(start, bytesRead)]);
  }
  if (kept.length > 0) yield [number, textOf(kept)];
}

function textOf(line: Buffer): string {
  const text = line
    .subarray(0, 4 * lineCharsMax + 4)
    .toString()
    .replace(/\r$/, '')
    .replaceAll('\0', '\ufffd');
  return text.length <= lineCharsMax ? text : `${text.slice(0, lineCharsMax).toWellFormed()} …`;
}
