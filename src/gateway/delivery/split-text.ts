/**
 * Splits a text into parts that a platform takes. Pure and deterministic: after a crash the same parts come out, so
 * that it can be told by a number which of them have arrived.
 *
 * A part ends where a reader would pause: after a paragraph, else a line, a sentence, a word; never inside a character.
 * A fenced code block that is cut is closed at the end of its part and opened again, in the same language, in the next.
 * Blank space around a cut is left out, everything else is kept.
 */
import { assert } from '../../lib/assert.ts';
import { findFences, type Fence } from './code-fences.ts';

/** Less leaves no room for a word beside the fences of a code block. */
export const partCharsMin = 24;
/** A pause that is earlier than this share of a part is not worth the short part. */
const fillMin = 0.5;
/** Some are many code points, like a flag or a family; more than this is no character. */
const characterCharsMax = 64;

/** No part is blank; of a blank text that is too long nothing is left. */
export function splitText(text: string, charsMax: number): readonly string[] {
  assert(charsMax >= partCharsMin, `a part of ${charsMax} characters is too short to be worth sending`);
  if (text.length <= charsMax) return [text];
  const fences = findFences(text, charsMax);
  const parts: string[] = [];
  for (let at = 0, open: Fence | null = null; at < text.length;) {
    const cut: Cut = cutAfter({ text, fences, charsMax }, at, open);
    const body: string = text.slice(at, cut.end);
    const begun: string = open === null ? body.replace(/^[\r\n]+/, '') : `${open.opening}\n${body}`;
    parts.push(cut.within === null ? begun : `${begun}${begun.endsWith('\n') ? '' : '\n'}${cut.within.closing}`);
    at = cut.next;
    open = cut.reopens ? cut.within : null;
  }
  return parts.map((part) => part.trimEnd()).filter((part) => part !== '');
}

interface Whole {
  readonly text: string;
  readonly fences: readonly Fence[];
  readonly charsMax: number;
}

interface Cut {
  readonly end: number;
  /** Where the next part begins; a closing fence that the cut has made superfluous is skipped. */
  readonly next: number;
  /** The code block that the cut is in. */
  readonly within: Fence | null;
  readonly reopens: boolean;
}

function cutAfter({ text, fences, charsMax }: Whole, start: number, open: Fence | null): Cut {
  const room = charsMax - (open === null ? 0 : open.opening.length + 1);
  if (text.length - start <= room) return { end: text.length, next: text.length, within: null, reopens: false };
  for (let limit = start + room; ;) {
    const cut = settle(fences, pauseBefore(text, start, limit), start, start + room);
    const length = cut.end - start + (cut.within === null ? 0 : cut.within.closing.length + 1);
    if (length <= room) return cut;
    limit = Math.min(limit - 1, start + room - (length - (cut.end - start)));
  }
}

/** Moves a cut that would go through a fence's own lines; says which code block it is in. */
function settle(fences: readonly Fence[], end: number, start: number, roomEnd: number): Cut {
  const fence = fences.find((candidate) => candidate.start < end && end < candidate.end);
  if (fence === undefined) return { end, next: end, within: null, reopens: false };
  if (end < fence.contentStart && fence.start > start) {
    return { end: fence.start, next: fence.start, within: null, reopens: false };
  }
  if (end < fence.contentEnd) return { end, next: end, within: fence, reopens: true };
  if (fence.end <= roomEnd) return { end: fence.end, next: fence.end, within: null, reopens: false };
  return { end: fence.contentEnd, next: fence.end, within: fence, reopens: false };
}

/** The best place for a cut that is not after `limit`. */
function pauseBefore(text: string, start: number, limit: number): number {
  const window = text.slice(start, limit);
  const pauses = [
    () => window.lastIndexOf('\n\n') + 2,
    () => window.lastIndexOf('\n') + 1,
    () => lastEnd(window, /[.!?…][)"'\]]*\s|[。！？]/gu),
    () => lastEnd(window, /\s/gu),
  ];
  for (const pause of pauses) {
    const length = pause();
    if (length >= window.length * fillMin) return start + length;
  }
  return beforeCharacter(text, start, limit);
}

/** Where the character begins that `limit` is inside of: what a reader takes for one, if it is not too long for that. */
function beforeCharacter(text: string, start: number, limit: number): number {
  const characters = new Intl.Segmenter('en', { granularity: 'grapheme' });
  const around = text.slice(start, limit + characterCharsMax);
  const length = characters.segment(around).containing(limit - start)?.index ?? limit - start;
  if (length > 0 && limit - start - length <= characterCharsMax) return start + length;
  const isInsideCharacter =
    /[\uD800-\uDBFF]/.test(text.charAt(limit - 1)) && /[\uDC00-\uDFFF]/.test(text.charAt(limit));
  return isInsideCharacter ? limit - 1 : limit;
}

function lastEnd(window: string, pattern: RegExp): number {
  let end = 0;
  for (const match of window.matchAll(pattern)) end = match.index + match[0].length;
  return end;
}
