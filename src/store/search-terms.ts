/**
 * What a search looks for, and whether a text has it: the rules of searching, for every driver. A query is words and
 * "quoted phrases", all of which must occur; upper case, accents and width do not count; a part of a word is enough.
 * Scripts that are written without spaces are matched by their characters. No input is a mistake. Pure.
 */
const queryCharsMax = 1_000;
const termsMax = 32;
const wordsInTermMax = 32;
const snippetCharsMax = 240;
/** How much of a snippet stands before its first mark. */
const leadCharsMax = 60;

/** Scripts that put no spaces between words: Thai to Lao, Myanmar, Hangul, Khmer, Chinese and Japanese. */
const unspacedRanges: readonly (readonly [from: number, to: number])[] = [
  [0x0e01, 0x0eff],
  [0x1000, 0x109f],
  [0x1100, 0x11ff],
  [0x1780, 0x17ff],
  [0x2e80, 0x2fdf],
  [0x3005, 0x3007],
  [0x3021, 0x30ff],
  [0x3105, 0x31ff],
  [0x3400, 0x4dbf],
  [0x4e00, 0x9fff],
  [0xa960, 0xa97f],
  [0xac00, 0xd7ff],
  [0xf900, 0xfaff],
  [0xff66, 0xffdc],
  [0x20000, 0x3ffff],
];

export interface Word {
  readonly folded: string;
  readonly start: number;
  readonly end: number;
}

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

export function wordsOf(text: string): readonly Word[] {
  const words: Word[] = [];
  for (const match of text.matchAll(/[\p{L}\p{N}\p{M}\p{Co}]+|\p{Extended_Pictographic}/gu)) {
    let start = match.index;
    for (const run of runsOf(match[0])) {
      const folded = foldWord(run);
      if (folded !== '') words.push({ folded, start, end: start + run.length });
      start += run.length;
    }
  }
  return words;
}

/** Where the script changes from one with spaces to one without, or back, a word ends. */
function runsOf(word: string): readonly string[] {
  if (!/[\u0e01-\u{3ffff}]/u.test(word)) return [word];
  const runs: string[] = [];
  let run = '';
  for (const character of word) {
    if (run !== '' && isUnspaced(run) !== isUnspaced(character)) {
      runs.push(run);
      run = '';
    }
    run += character;
  }
  return [...runs, run];
}

/** By its first character: all of a word's are of the same kind. */
export function isUnspaced(word: string): boolean {
  const code = word.codePointAt(0) ?? 0;
  return code >= 0x0e01 && unspacedRanges.some(([from, to]) => code >= from && code <= to);
}

/** Marks that may be left out in writing: accents, and the vowel points of Hebrew and Arabic. */
const accents = /[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u064b-\u065f\u0670]/gu;

function foldWord(word: string): string {
  // oxlint-disable-next-line no-control-regex -- plain ASCII needs no more than lower case
  if (/^[\0-\x7f]*$/.test(word)) return word.toLowerCase();
  const bare = word.toWellFormed().normalize('NFKD').replaceAll(accents, '').normalize('NFKC').toLowerCase();
  // A number in brackets is one character before it is unfolded, and has the brackets after it.
  return bare.replaceAll('ς', 'σ').replaceAll(/[^a-z0-9\u0080-\u{10ffff}]/gu, '');
}

export interface TextMatch {
  /** Every term stands there as whole words. */
  readonly isWhole: boolean;
  /** The surroundings of the first hit, with what matched between ‹ and ›. */
  readonly snippet: string;
}

/** Null if a term does not occur. With no terms at all, the beginning of the text. */
export function matchText(text: string, terms: readonly SearchTerm[]): TextMatch | null {
  const words = wordsOf(text);
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

/** Too short to look for inside of words. */
export function isShort(part: string): boolean {
  return part.length < 6 && [...part].length < 3 && !isUnspaced(part);
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
