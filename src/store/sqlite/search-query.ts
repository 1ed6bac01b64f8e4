/**
 * What a person types into a search box, as an FTS5 expression: words and "quoted phrases", all of which must occur.
 * Every character is taken literally, so that no input is a syntax error.
 */
const queryCharsMax = 1000;
const termsMax = 32;

/** What the tokenizer keeps; a term without any of it would match nothing and take the others with it. */
const wordCharacter = /[\p{L}\p{N}\p{Co}]/u;

/** Null if there is nothing to look for. */
export function toSearchExpression(query: string): string | null {
  const terms = query.slice(0, queryCharsMax).matchAll(/"([^"]*)"?|([^\s"]+)/gu);
  const phrases = [...terms]
    .map((term) => (term[1] ?? term[2] ?? '').replaceAll('\0', ' '))
    .filter((text) => wordCharacter.test(text))
    .slice(0, termsMax);
  return phrases.length === 0 ? null : phrases.map((phrase) => `"${phrase}"`).join(' AND ');
}
