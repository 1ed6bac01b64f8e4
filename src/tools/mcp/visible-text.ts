/** Words of a server as text that a person would see too: nothing hidden in it, and no longer than a limit. Pure. */

/** Control characters, directions, joiners, tags: orders can be hidden in them. Tab and line feed apart. */
const unseen = /(?![\t\n])[\p{Cc}\p{Cf}\p{Co}\p{Zl}\p{Zp}\ufe00-\ufe0f\u{e0100}-\u{e01ef}]/gu;

export function visibleText(text: string, charsMax: number): string {
  const visible = text
    .slice(0, 4 * charsMax)
    .toWellFormed()
    .replace(unseen, '')
    .trim();
  return visible.length <= charsMax ? visible : `${visible.slice(0, charsMax - 1).toWellFormed()}…`;
}

/** The same on one line. */
export function visibleLine(text: string, charsMax: number): string {
  return visibleText(text.replace(/\s+/g, ' '), charsMax);
}
