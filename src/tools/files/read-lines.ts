/**
 * Reads a window of lines from an open file without ever holding more than the window and one chunk, however large the
 * file is. What lies before the window is passed over, what lies after it is not looked at.
 */
import type { FileHandle } from 'node:fs/promises';

const chunkBytes = 65_536;
const newlineByte = 10;

export interface LineLimits {
  /** Counts from 1. */
  readonly firstLine: number;
  readonly linesMax: number;
  readonly bytesMax: number;
}

export type LineWindow =
  | {
      readonly kind: 'lines';
      /** As in the file, line ends included. */
      readonly bytes: Uint8Array;
      readonly lines: number;
      /** The window's only line is longer than the window: this is its beginning. */
      readonly isLineCut: boolean;
      /** The file goes on after the window. */
      readonly hasMore: boolean;
    }
  /** The window begins after the file's end. */
  | { readonly kind: 'past-end'; readonly linesTotal: number };

/** Throws the file system's errors, and the signal's reason when it aborts. */
export async function readLines(file: FileHandle, limits: LineLimits, signal: AbortSignal): Promise<LineWindow> {
  const start = await startOfLine(file, limits.firstLine, signal);
  if (start.kind === 'past-end') return start;
  // One byte more than may be shown tells whether anything follows.
  const bytes = await readAt(file, start.position, limits.bytesMax + 1);
  if (bytes.length === 0) return { kind: 'past-end', linesTotal: limits.firstLine - 1 };
  return windowOf(bytes, limits);
}

type LineStart = { readonly kind: 'found'; readonly position: number } | Extract<LineWindow, { kind: 'past-end' }>;

async function startOfLine(file: FileHandle, line: number, signal: AbortSignal): Promise<LineStart> {
  const chunk = Buffer.allocUnsafe(chunkBytes);
  let linesBefore = 0;
  let endsInNewline = true;
  for (let position = 0; linesBefore < line - 1;) {
    signal.throwIfAborted();
    const { bytesRead } = await file.read(chunk, 0, chunkBytes, position);
    if (bytesRead === 0) return { kind: 'past-end', linesTotal: linesBefore + (endsInNewline ? 0 : 1) };
    const seen = chunk.subarray(0, bytesRead);
    for (let newline = seen.indexOf(newlineByte); newline >= 0; newline = seen.indexOf(newlineByte, newline + 1)) {
      linesBefore++;
      if (linesBefore === line - 1) return { kind: 'found', position: position + newline + 1 };
    }
    endsInNewline = seen.at(-1) === newlineByte;
    position += bytesRead;
  }
  return { kind: 'found', position: 0 };
}

async function readAt(file: FileHandle, position: number, bytesMax: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(bytesMax);
  let filled = 0;
  while (filled < bytesMax) {
    const { bytesRead } = await file.read(bytes, filled, bytesMax - filled, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return bytes.subarray(0, filled);
}

/** The whole lines that fit; if not even one does, the beginning of it. */
function windowOf(bytes: Buffer, limits: LineLimits): LineWindow {
  let lines = 0;
  let end = 0;
  while (lines < limits.linesMax && end < bytes.length) {
    const newline = bytes.indexOf(newlineByte, end);
    const lineEnd = newline < 0 ? bytes.length : newline + 1;
    if (lineEnd > limits.bytesMax) break;
    lines++;
    end = lineEnd;
  }
  const isLineCut = lines === 0;
  if (isLineCut) end = wholeCharactersEnd(bytes, limits.bytesMax);
  return {
    kind: 'lines',
    bytes: bytes.subarray(0, end),
    lines: Math.max(1, lines),
    isLineCut,
    hasMore: end < bytes.length,
  };
}

/** Steps back from the middle of a UTF-8 character to its start. */
function wholeCharactersEnd(bytes: Buffer, end: number): number {
  let start = end;
  while (start > end - 4 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start--;
  return start > end - 4 ? start : end;
}
