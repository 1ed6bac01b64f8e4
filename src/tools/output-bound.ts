/**
 * Keeps what a tool prints within what a model can read: the beginning and the end of a long text, and between them a
 * line that says how much was left out. Memory is bounded by the limit, however much passes through; no character is
 * cut in half.
 */
import { assert } from '../lib/assert.ts';
import { createEscapeStripper } from './escape-stripper.ts';
import { createLineFolder } from './line-folder.ts';
import { filterText } from './text-filter.ts';

/** In UTF-16 units, as a string's length counts. */
export const outputCharsMax = 30_000;

/** Room for the line in the middle. */
const markerCharsMax = 64;

export interface OutputBound {
  push(text: string): void;
  /** What is kept so far, never longer than the limit. */
  text(): string;
}

export function createOutputBound(charsMax = outputCharsMax): OutputBound {
  assert(charsMax >= 2 * markerCharsMax, `an output bound of ${charsMax} leaves no room for output`);
  const headCharsMax = Math.floor((charsMax - markerCharsMax) / 2);
  const tailCharsMax = charsMax - markerCharsMax - headCharsMax;
  let head = '';
  let tail = '';
  let seenChars = 0;
  return {
    push(text) {
      seenChars += text.length;
      const missing = headCharsMax - head.length;
      head += text.slice(0, missing);
      tail += text.slice(missing);
      // Trimmed at twice the limit only, so that many small pieces don't each cost a copy.
      if (tail.length > 2 * charsMax) tail = tail.slice(-charsMax);
    },
    text() {
      if (seenChars <= charsMax) return head + tail;
      const beginning = withoutHalfAtEnd(head);
      const ending = withoutHalfAtStart(tail.slice(-tailCharsMax));
      const leftOut = seenChars - beginning.length - ending.length;
      return `${beginning}\n[… ${grouped(leftOut)} characters left out …]\n${ending}`;
    },
  };
}

/** A text within the limit. */
export function boundText(text: string, charsMax = outputCharsMax): string {
  const bound = createOutputBound(charsMax);
  bound.push(text);
  return bound.text();
}

/** What a program printed for a terminal, as plain text. */
export function plainText(printed: string): string {
  return filterText(printed, [createEscapeStripper(), createLineFolder()]);
}

/** The newest part of a text, without half a character at its start. */
export function newestOf(text: string, charsMax: number): string {
  return text.length <= charsMax ? text : withoutHalfAtStart(text.slice(-charsMax));
}

/** 1234567 as `1,234,567`. */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ',');
}

function withoutHalfAtEnd(text: string): string {
  return /[\ud800-\udbff]$/.test(text) ? text.slice(0, -1) : text;
}

function withoutHalfAtStart(text: string): string {
  return /^[\udc00-\udfff]/.test(text) ? text.slice(1) : text;
}
