/**
 * How a text is written of which parts are not known before it runs. A gap is one character of the private use area, so
 * that joining, splitting and comparing texts work as ever; what is read from outside may not hold one.
 */

/** Any text at all: the value of a variable, what a program prints. */
export const unknown = '\uE000';
/** What a pattern matches: any number of characters of a file's name, or one. */
export const anyChars = '\uE001';
export const anyChar = '\uE002';

const gapPattern = /[\uE000-\uE002]/;
const patternCharacters: Readonly<Record<string, string>> = { '*': anyChars, '?': anyChar };

export function hasGap(text: string): boolean {
  return gapPattern.test(text);
}

export function isKnown(text: string): boolean {
  return !gapPattern.test(text);
}

/** The value of an expansion that no quotes protect: pattern characters in it become patterns. */
export function withPatterns(value: string): string {
  return value
    .replace(/[*?]/g, (character) => patternCharacters[character] ?? character)
    .replace(/\[[^\]/]+\]/g, anyChar);
}

/** For people. */
export function readable(text: string): string {
  return text.replaceAll(unknown, '…').replaceAll(anyChars, '*').replaceAll(anyChar, '?');
}

/** Which of these names could it be? A gap stands for anything but a slash. */
export function couldBe(text: string, names: Iterable<string>): string[] {
  if (isKnown(text)) return [...names].filter((name) => name === text);
  const parts = text.split('/');
  return [...names].filter((name) => {
    const others = name.split('/');
    return others.length === parts.length && parts.every((part, index) => matchesPattern(part, others[index] ?? ''));
  });
}

/** In time that grows with the product of both lengths, whatever the pattern. */
export function matchesPattern(pattern: string, text: string): boolean {
  let at = 0;
  let position = 0;
  let retry: { readonly at: number; readonly position: number } | null = null;
  while (position < text.length) {
    const wanted = pattern.charAt(at);
    if (wanted === anyChars || wanted === unknown) {
      retry = { at, position };
      at += 1;
    } else if (wanted === anyChar || (wanted !== '' && wanted === text.charAt(position))) {
      at += 1;
      position += 1;
    } else if (retry === null) return false;
    else {
      retry = { at: retry.at, position: retry.position + 1 };
      at = retry.at + 1;
      position = retry.position;
    }
  }
  return Array.from(pattern.slice(at)).every((rest) => rest === anyChars || rest === unknown);
}
