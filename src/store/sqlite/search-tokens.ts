/**
 * What the index knows of a message: words whole (`=bread`), how they begin (`^b`, `^br`), three letters of them at a time
 * (`~bre`), and for scripts without spaces one and two characters at a time (`~漢`, `~漢字`). And whose it is (`@7`): an
 * owner's messages are found by looking among these alone. Every message that has what is asked for has its tokens; the
 * text itself then says whether it really has it. Pure.
 */
import { isShort, isUnspaced, wordsOf, type SearchTerm } from '../search-terms.ts';

/** Of one word: what is longer is no word but data. */
const wordCharsMax = 64;
/** Of one message. */
const tokensMax = 20_000;
/** More of them narrow a search hardly further and each costs a list to read. */
const tokensOfPartMax = 6;

export function tokensOf(text: string): string {
  const tokens = new Set<string>();
  const seen = new Set<string>();
  for (const { folded } of wordsOf(text)) {
    if (tokens.size >= tokensMax) break;
    const word = folded.length <= wordCharsMax ? folded : folded.slice(0, wordCharsMax).toWellFormed();
    if (seen.has(word)) continue;
    seen.add(word);
    if (isUnspaced(word)) for (const gram of [...grams(word, 1), ...grams(word, 2)]) tokens.add(`~${gram}`);
    else {
      const [one = '', two = ''] = word;
      tokens.add(`=${word}`).add(`^${one}`).add(`^${one}${two}`);
      for (const gram of grams(word, 3)) tokens.add(`~${gram}`);
    }
  }
  return [...tokens].join(' ');
}

export function ownerToken(number: number): string {
  return `@${number}`;
}

/** `whole`: all terms as they are. `parts`: also inside of words. */
export type Manner = 'whole' | 'parts';

/** Null if looking for parts could find nothing more. */
export function expressionOf(terms: readonly SearchTerm[], manner: Manner): string | null {
  const spaced = terms.flat().filter((word) => !isUnspaced(word));
  if (manner === 'parts' && spaced.length === 0) return null;
  const tokens = new Set<string>();
  for (const term of terms) {
    for (const [at, word] of term.entries()) {
      const isLast = at === term.length - 1;
      const mayBePart = isLast || (at === 0 && !isShort(word));
      for (const token of wordTokens(word, mayBePart ? manner : 'whole')) tokens.add(token);
    }
  }
  return allOf([...tokens]);
}

export function allOf(tokens: readonly string[]): string {
  return tokens.map((token) => `"${token}"`).join(' AND ');
}

function wordTokens(word: string, manner: Manner): readonly string[] {
  const known = word.slice(0, wordCharsMax).toWellFormed();
  if (isUnspaced(known)) {
    const pairs = grams(known, 2);
    return pairs.length === 0 ? grams(known, 1).map((gram) => `~${gram}`) : spread(pairs).map((gram) => `~${gram}`);
  }
  if (manner === 'whole') return [`=${known}`];
  return isShort(known) ? [`^${known}`] : spread(grams(known, 3)).map((gram) => `~${gram}`);
}

/** Some of them, from all over the word. */
function spread(all: readonly string[]): readonly string[] {
  if (all.length <= tokensOfPartMax) return all;
  const step = (all.length - 1) / (tokensOfPartMax - 1);
  return Array.from({ length: tokensOfPartMax }, (_, index) => all[Math.round(index * step)] ?? '');
}

function grams(word: string, size: number): string[] {
  const characters = [...word];
  return characters.slice(size - 1).map((_, index) => characters.slice(index, index + size).join(''));
}
