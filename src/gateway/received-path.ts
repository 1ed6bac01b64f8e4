/**
 * Where a file that somebody sent is put in the workspace: under its own name, with the beginning of its hash before it, so
 * that two of one name stay apart, the same one twice is one, and no name is one that other programs act on. Pure.
 */
import type { FilePart } from '../protocol/messages.ts';

const folder = 'received';
const hashCharsMax = 8;
const nameCharsMax = 100;

export function receivedPath({ name, content }: FilePart): string {
  return `${folder}/${content.sha256.slice(0, hashCharsMax)}-${plainName(name)}`;
}

/** Letters, digits and a few signs: what a shell takes for one word. The end is kept, which says what kind it is. */
function plainName(name: string): string {
  const plain = name.normalize('NFC').replaceAll(/[^\p{L}\p{N}._-]+/gu, '_');
  return Array.from(plain).slice(-nameCharsMax).join('') || 'file';
}
