/**
 * The words of a text, as a search sees them: without upper case, accents and width. Scripts that are written without spaces
 * make one long word of whatever stands together; a pictogram is a word. Pure.
 */
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

/** Letters with a stroke, and those that upper case or a plain keyboard writes as two. */
const plainLetters: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ħ: 'h',
  ı: 'i',
  ς: 'σ',
};
const oddLetters = new RegExp(`[${Object.keys(plainLetters).join('')}]`, 'gu');

function foldWord(word: string): string {
  // oxlint-disable-next-line no-control-regex -- plain ASCII needs no more than lower case
  if (/^[\0-\x7f]*$/.test(word)) return word.toLowerCase();
  const bare = word.toWellFormed().normalize('NFKD').replaceAll(accents, '').normalize('NFKC').toLowerCase();
  // A number in brackets is one character before it is unfolded, and has the brackets after it.
  return bare
    .replaceAll(oddLetters, (letter) => plainLetters[letter] ?? letter)
    .replaceAll(/[^a-z0-9\u0080-\u{10ffff}]/gu, '');
}

/** Too short to look for inside of words. */
export function isShort(part: string): boolean {
  return part.length < 6 && Array.from(part).length < 3 && !isUnspaced(part);
}
