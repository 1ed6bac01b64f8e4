/**
 * A text as a person has to see it before they say yes: every character that can't be seen, moves others about or passes for
 * another one stands as its number, so that what is read is what will happen. No two texts look the same.
 */
import { unseenClasses } from '../invisible.ts';

/** Control characters, spaces of other kinds, fillers, joiners, directions, what no font has. */
const unseenPattern = new RegExp(`[${unseenClasses}\\p{Zl}\\p{Zp}\\u2800]|(?! )\\p{Zs}`, 'u');
/** Part of a picture made of several characters. */
const joinedPattern =
  /\p{Extended_Pictographic}(?:\ufe0f)?(?:\u200d\p{Extended_Pictographic}(?:\ufe0f)?)+|\p{Extended_Pictographic}\ufe0f/gu;
const lookalikePattern = new RegExp(
  [
    '[\\p{Script=Cyrillic}\\p{Script=Greek}\\p{Script=Armenian}\\p{Script=Cherokee}\\p{Script=Coptic}\\p{Script=Lisu}',
    // Letters, hyphens, slashes, colons and bars that a font may draw like the plain ones.
    '\\u0131\\u01c0-\\u01c3\\u0237\\u0251\\u0261\\u0269-\\u026a\\u02b0-\\u02ff\\u1d00-\\u1d7f',
    '\\u2010-\\u2012\\u2044\\u2212\\u2215-\\u2217\\u2223\\u2236\\u223c\\u29f5\\u29f8\\ua789]',
  ].join(''),
  'u',
);

/** What can't be seen in it, as `U+202E`, each once. */
export function unseenCharacters(text: string): string[] {
  const found = Array.from(text.replace(joinedPattern, '')).filter(
    (one) => one !== '\n' && one !== '\t' && unseenPattern.test(one),
  );
  return [...new Set(found.map(number))];
}

/** More of them than this move what follows out of sight. */
const spacesMax = 40;
const lineEndsMax = 5;
const longSpaces = new RegExp(` {${spacesMax + 1},}`, 'g');
const longLineEnds = new RegExp(`\\n{${lineEndsMax + 1},}`, 'g');

export function shownText(text: string): string {
  return text
    .replace(/\S+/gu, (word) => {
      const isOdd = isMixed(word);
      // A letter with its accent as a character of its own is drawn like the one that has it.
      const isParted = word !== word.normalize('NFC');
      return replaceEach(
        word,
        (one) => /[‹›]/.test(one) || (isOdd && isLookalike(one)) || (isParted && /\p{M}/u.test(one)),
      );
    })
    .replace(/[^\n]/gu, (one) => (unseenPattern.test(one) ? mark(one) : one))
    .replace(longSpaces, (spaces) => ` ‹U+0020 × ${spaces.length - 2}› `)
    .replace(/ +$/gm, (spaces) => mark(' ').repeat(spaces.length))
    .replace(longLineEnds, (ends) => `\n‹U+000A × ${ends.length - 2}›\n`);
}

/** Latin letters with letters of another script among them: one passes for the other. */
function isMixed(word: string): boolean {
  return /[A-Za-z]/.test(word) && Array.from(word).some(isLookalike);
}

/** Also what is only another form of a plain character: wide, mathematical, a Roman numeral. */
function isLookalike(one: string): boolean {
  if (one <= '\u007f') return false;
  return lookalikePattern.test(one) || /^[\x21-\x7e]+$/.test(one.normalize('NFKC'));
}

function replaceEach(word: string, isOdd: (character: string) => boolean): string {
  return Array.from(word)
    .map((one) => (isOdd(one) ? mark(one) : one))
    .join('');
}

function mark(character: string): string {
  return `‹${number(character)}›`;
}

function number(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}
