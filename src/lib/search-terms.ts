/**
 * What a search looks for, and whether a text has it: the rules of searching, wherever it is done. A query is words and
 * "quoted phrases", all of which must occur; upper case, accents and width do not count; a part of a word is enough.
 * Scripts that are written without spaces are matched by their characters. No input is a mistake. Pure.
 */
import { isShort, isUnspaced, wordsOf, type Word } from './text-words.ts';

const queryCharsMax = 1_000;
const termsMax = 32;
const wordsInTermMax = 32;
const snippetCharsMax = 240;
/** How much of a snippet stands before its first mark. */
const leadCharsMax = 60;

/** A run of words that must stand one after the other, folded. */
export type SearchTerm = readonly string[];

export function searchTerms(query: string): readonly SearchTerm[] {
  const texts = query.slice(0, queryCharsMax).matchAll(/"([^"]*)"?|([^\s"]+)/gu);
  return [...texts]
    .map((match) => wordsOf(match[1] ?? match[2] ?? ''))
    .filter((words) => words.length > 0)
    .slice(0, termsMax)
    .map((words) => words.slice(0, wordsInTermMax).map((word) => word.folded));
}

export interface TextMatch {
  /** Every term stands there as whole words. */
  readonly isWhole: boolean;
  /** The surroundings of the first hit, with what matched between ‹ and ›. */
  readonly snippet: string;
}

/** Null if a term does not occur. With no terms at all, the beginning of the text. */
export function matchText(text: string, terms: readonly SearchTerm[]): TextMatch | null {
  const words = (text.length > longTextChars ? wordsNear(text, terms) : null) ?? wordsOf(text);
  const spans: Span[] = [];
  let isWhole = true;
  for (const term of terms) {
    const found = occurrences(words, term);
    if (found.length === 0) return null;
    const whole = found.filter((span) => span.isWhole);
    if (whole.length === 0) isWhole = false;
    spans.push(...(whole.length > 0 ? whole : found));
  }
  return { isWhole, snippet: snippetOf(text, spans) };
}

/** From here on a text is not read whole, if it can be helped. */
const longTextChars = 8_000;
const placesMax = 20;
/** What stands around a place. More than a snippet. */
const nearChars = 400;

/** The words around where the terms stand; null if that can't be told by looking for their letters alone. */
function wordsNear(text: string, terms: readonly SearchTerm[]): readonly Word[] | null {
  const lower = text.toLowerCase();
  if (lower.length !== text.length) return null;
  const words = new Map<number, Word>();
  for (const [word = '', ...more] of terms) {
    if (more.length > 0) return null;
    const places = placesOf(lower, word);
    // Only in plain letters can nothing pass for another one.
    // oxlint-disable-next-line no-control-regex -- plain ASCII
    if (places.length === 0) return /^[\0-\x7f]*$/.test(text) ? [] : null;
    for (const place of places) {
      const from = Math.max(0, text.lastIndexOf(' ', place - nearChars) + 1);
      const space = text.indexOf(' ', place + nearChars);
      const to = space < 0 ? text.length : space;
      const near = to - from > 4 * nearChars || place - from > 2 * nearChars ? null : text.slice(from, to);
      // No space for long: where a word begins and ends takes more looking.
      if (near === null) return null;
      for (const { folded, start, end } of wordsOf(near)) {
        words.set(from + start, { folded, start: from + start, end: from + end });
      }
    }
  }
  return [...words.values()].sort((one, other) => one.start - other.start);
}

/** Where it stands as a word, or else within one; the first of them. */
function placesOf(lower: string, word: string): readonly number[] {
  const [whole, parts]: [number[], number[]] = [[], []];
  for (let at = lower.indexOf(word); at >= 0 && whole.length < placesMax; at = lower.indexOf(word, at + 1)) {
    const isStart = !/[\p{L}\p{N}]/u.test(lower[at - 1] ?? '');
    if (isStart && !/[\p{L}\p{N}]/u.test(lower[at + word.length] ?? '')) whole.push(at);
    else if (parts.length < placesMax && (isStart || !isShort(word))) parts.push(at);
  }
  return [...whole, ...parts];
}

interface Span {
  readonly start: number;
  readonly end: number;
  readonly isWhole: boolean;
}

/** More marks than that tell nobody more. */
const spansMax = 100;

function occurrences(words: readonly Word[], term: SearchTerm): Span[] {
  const [first = '', last = ''] = [term[0], term.at(-1)];
  const spans: Span[] = [];
  for (let at = 0; at + term.length <= words.length && spans.length < spansMax; at++) {
    if (term.length === 1) spans.push(...partsOf(words[at], first));
    else {
      const run = words.slice(at, at + term.length);
      const [begin, end] = [run[0], run.at(-1)];
      if (begin === undefined || end === undefined) continue;
      if (!(isShort(first) ? begin.folded === first : begin.folded.endsWith(first))) continue;
      if (!end.folded.startsWith(last)) continue;
      if (!run.slice(1, -1).every((word, index) => word.folded === term[index + 1])) continue;
      const isWhole = (isUnspaced(first) || begin.folded === first) && (isUnspaced(last) || end.folded === last);
      spans.push({ start: begin.start, end: end.end, isWhole });
    }
  }
  return spans;
}

/** Where a word has this in it; one or two letters only count where the word begins. */
function partsOf(word: Word | undefined, part: string): Span[] {
  if (word === undefined) return [];
  const { folded, start, end } = word;
  if (folded === part) return [{ start, end, isWhole: true }];
  const index = folded.indexOf(part);
  if (index < 0 || (index > 0 && isShort(part))) return [];
  const isWhole = isUnspaced(part);
  // Folding can change a word's length; then all of it is marked.
  if (end - start !== folded.length) return [{ start, end, isWhole }];
  return [{ start: start + index, end: start + index + part.length, isWhole }];
}

function snippetOf(text: string, spans: readonly Span[]): string {
  const inOrder = spans.toSorted((one, other) => one.start - other.start || other.end - one.end);
  const from = text.length <= snippetCharsMax ? 0 : startOfSnippet(text, inOrder[0]?.start ?? 0);
  const to = text.length <= snippetCharsMax ? text.length : Math.min(text.length, from + snippetCharsMax);
  let marked = from > 0 ? '…' : '';
  let done = from;
  for (const { start, end } of inOrder) {
    if (start < done || start >= to) continue;
    marked += `${text.slice(done, start)}‹${text.slice(start, Math.min(end, to))}›`;
    done = Math.min(end, to);
  }
  return `${marked}${text.slice(done, to)}${to < text.length ? '…' : ''}`.toWellFormed();
}

/** At the beginning of a word, if one begins soon. */
function startOfSnippet(text: string, hit: number): number {
  const earliest = Math.min(Math.max(0, hit - leadCharsMax), Math.max(0, text.length - snippetCharsMax));
  if (earliest === 0) return 0;
  const space = text.slice(earliest, hit).search(/\s/u);
  return space < 0 ? earliest : earliest + space + 1;
}
