/** Bytes of a file to text, or one sentence on why they are no text. Files are UTF-8, with or without a byte-order mark. */
import { wholeFile, type Position } from './problem.ts';

export type DecodedText =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'unreadable'; readonly position: Position; readonly message: string };

export function decodeText(input: string | Uint8Array, bytesMax: number): DecodedText {
  // A text has at least as many bytes as UTF-16 units.
  if (input.length > bytesMax) return unreadable(tooLarge(bytesMax));
  if (typeof input !== 'string' && isUtf16(input)) {
    return unreadable('this file is saved as UTF-16; save it as UTF-8 (in the editor: "Save with encoding")');
  }
  const text = typeof input === 'string' ? input : Buffer.from(input).toString('utf8');
  const nul = text.indexOf('\0');
  if (nul !== -1) return unreadable('there is a NUL byte here, so this is no text file', positionOf(text, nul));
  if (typeof input === 'string' ? !text.isWellFormed() : !isUtf8(input)) {
    const at = positionOf(text, Math.max(0, text.toWellFormed().indexOf('\uFFFD')));
    return unreadable('this is not valid UTF-8 from here on; save the file as UTF-8', at);
  }
  return { kind: 'text', text: text.startsWith('\uFEFF') ? text.slice(1) : text };
}

export function tooLarge(bytesMax: number): string {
  return `this file is larger than ${bytesMax / 1_000} KB; a configuration is never that long`;
}

function unreadable(message: string, position = wholeFile): DecodedText {
  return { kind: 'unreadable', position, message };
}

/** By its mark, or, without one, by every other byte of the beginning being NUL. */
function isUtf16(bytes: Uint8Array): boolean {
  const [first, second] = bytes;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) return true;
  const head = bytes.subarray(0, 64);
  const pairs = Math.floor(head.length / 2);
  if (pairs < 2) return false;
  const nulsAt = (offset: 0 | 1) =>
    head.reduce((sum, byte, index) => sum + Number(index % 2 === offset && byte === 0), 0);
  return nulsAt(0) > pairs / 2 !== nulsAt(1) > pairs / 2;
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

function positionOf(text: string, offset: number): Position {
  const before = text.slice(0, offset).split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}
