/**
 * Text from a model, a tool or a stored session, made safe for a terminal: escape sequences and control characters
 * are dropped, so that no reply can move the cursor, retitle the window or hide what was printed before it.
 */
import { stripVTControlCharacters } from 'node:util';

// eslint-disable-next-line no-control-regex -- finding them is the point
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

export function printable(text: string): string {
  return stripVTControlCharacters(text).replace(controls, '');
}

/** The same on one line and no longer than this many characters, an ellipsis included. */
export function printableLine(text: string, charsMax: number): string {
  // Cut first: the start of a huge text is all that can be shown.
  const line = printable(text.slice(0, charsMax * 8))
    .replace(/\s+/g, ' ')
    .trim();
  if (line.length <= charsMax) return line;
  // Half a pair at the cut would show as a broken character.
  return `${line.slice(0, charsMax - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
