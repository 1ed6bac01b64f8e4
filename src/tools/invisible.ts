/** Characters that a person who reads a text does not see, and a model does: the one list of them. Pure. */

/** As a part of a pattern's class: controls, format characters, private and unassigned ones, fillers and selectors. */
export const unseenClasses = '\\p{Cc}\\p{Cf}\\p{Co}\\p{Cn}\\p{Default_Ignorable_Code_Point}';

/** Line ends and tabs are seen by what they do. */
const invisiblePattern = new RegExp(`(?![\\n\\r\\t])[${unseenClasses}]`, 'u');
/** Pictures that are put together from several characters, and keys with a digit. */
const picturePattern =
  /\p{Extended_Pictographic}\p{Emoji_Modifier}?\ufe0f?(?:\u200d\p{Extended_Pictographic}\p{Emoji_Modifier}?\ufe0f?)*|[\d#*]\ufe0f\u20e3/gu;
/** Scripts that need joiners for their ordinary spelling. */
const joiningScripts = 'Arab Syrc Mong Nkoo Deva Beng Guru Gujr Orya Taml Telu Knda Mlym Sinh Khmr Mymr Tibt'
  .split(' ')
  .map((script) => `\\p{Script_Extensions=${script}}`)
  .join('');
const joinedPattern = new RegExp(`(?<=[${joiningScripts}])[\\u200c\\u200d]`, 'gu');

/** Nearly all texts; the patterns above take milliseconds to be made ready. */
const plainPattern = /^[\x20-\x7e\n\r\t]*$/;

/** As `U+202E`; null if there is none. A mark at the very start that says how the file is encoded does not count. */
export function firstInvisible(text: string): string | null {
  if (plainPattern.test(text)) return null;
  const plain = text
    .replace(/^\uFEFF/, '')
    .replace(picturePattern, '')
    .replace(joinedPattern, '');
  const [found] = invisiblePattern.exec(plain) ?? [];
  return found === undefined ? null : `U+${(found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}

const wholePattern = new RegExp(
  `${picturePattern.source}|${joinedPattern.source}|(?<unseen>${invisiblePattern.source})`,
  'gu',
);

/** The text without them, and how many there were. What pictures and scripts are spelled with stays. */
export function withoutInvisible(text: string): { readonly text: string; readonly count: number } {
  if (plainPattern.test(text)) return { text, count: 0 };
  let count = 0;
  const kept: string[] = [];
  const plain = text.replace(/^\uFEFF/, '');
  let at = 0;
  // What belongs to pictures and spelling is kept as it is; between that, everything unseen goes.
  for (const match of plain.matchAll(wholePattern)) {
    kept.push(plain.slice(at, match.index));
    if (match.groups?.['unseen'] === undefined) kept.push(match[0]);
    else count += 1;
    at = match.index + match[0].length;
  }
  kept.push(plain.slice(at));
  return { text: kept.join(''), count };
}
