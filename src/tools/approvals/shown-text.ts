/**
 * A text as a person has to see it before they say yes: every character that can't be seen, moves others about or passes for
 * another one stands as its number, so that what is read is what will happen. No two texts look the same.
 */

/** Control characters, spaces of other kinds, fillers, joiners, directions, what no font has. */
const unseenPattern = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}/u;
/** Part of a picture made of several characters. */
const joinedPattern =
  /\p{Extended_Pictographic}(?:\ufe0f)?(?:\u200d\p{Extended_Pictographic}(?:\ufe0f)?)+|\p{Extended_Pictographic}\ufe0f/gu;
const lookalikePattern =
  /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\uff01-\uff5e\u{1d400}-\u{1d7ff}]/u;

/** What can't be seen in it, as `U+202E`, each once. */
export function unseenCharacters(text: string): string[] {
  const found = Array.from(text.replace(joinedPattern, '')).filter(
    (one) => one !== '\n' && one !== '\t' && unseenPattern.test(one),
  );
  return [...new Set(found.map(number))];
}

export function shownText(text: string): string {
  return text
    .replace(/\S+/gu, (word) => {
      const isOdd = isMixed(word);
      return replaceEach(word, (one) => /[‹›]/.test(one) || (isOdd && lookalikePattern.test(one)));
    })
    .replace(/[^\n]/gu, (one) => (unseenPattern.test(one) ? mark(one) : one))
    .replace(/ +$/gm, (spaces) => mark(' ').repeat(spaces.length));
}

/** Latin letters with letters of another script among them: one passes for the other. */
function isMixed(word: string): boolean {
  return /[A-Za-z]/.test(word) && lookalikePattern.test(word);
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
