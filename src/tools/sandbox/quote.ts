/** A word for a POSIX shell that means exactly this text. */
export function quote(text: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

export function quoteAll(texts: readonly string[]): string {
  return texts.map(quote).join(' ');
}

/** A list written as lines of words. */
export function words(...lines: readonly string[]): readonly string[] {
  return lines.flatMap((line) => line.split(' '));
}
