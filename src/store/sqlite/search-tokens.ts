/**
 * What the index knows of a message: its words whole (`=bread`), how they begin (`^b`, `^br`), three letters of them at a
 * time (`~bre`), and for scripts without spaces one and two characters at a time (`~漢`, `~漢字`). And whose it is (`@7`): an
 * owner's messages are found by looking among these alone. Every message that has what is asked for has its tokens; the
 * text itself then says whether it really has it. Pure.
 *
 * Every token carries the section of the log that its message is in (`3=bread`): the list of a common word is as long as a
 * section at most, and older ones are read only when the newer ones had too little.
 *
 * A part of a word is looked for in the list of all words first: with few words that have it, these are what is searched
 * for. Only a part that very many words have is searched for by its letters.
 */
import type { SearchTerm } from '../../lib/search-terms.ts';
import { isShort, isUnspaced, wordsOf } from '../../lib/text-words.ts';

/** Of one word: what is longer is no word but data. */
const wordCharsMax = 64;
/** Of one message. */
const tokensMax = 20_000;
/** More of them narrow a search hardly further and each costs a list to read. */
const tokensOfPartMax = 6;

/** Entries of a section. */
const sectionEntries = 2 ** 17;

export function sectionOf(entryId: number): number {
  return Math.floor(entryId / sectionEntries);
}

export interface Tokens {
  /** Without their section. */
  readonly tokens: readonly string[];
  /** The words that something could be a part of, each once. */
  readonly words: readonly string[];
}

export function tokensOf(text: string): Tokens {
  const tokens = new Set<string>();
  const seen = new Set<string>();
  for (const { folded } of wordsOf(text)) {
    if (tokens.size >= tokensMax) break;
    const word = known(folded);
    if (seen.has(word)) continue;
    seen.add(word);
    if (isUnspaced(word)) for (const gram of [...grams(word, 1), ...grams(word, 2)]) tokens.add(`~${gram}`);
    else {
      const [one = '', two = ''] = word;
      tokens.add(`=${word}`).add(`^${one}`).add(`^${one}${two}`);
      for (const gram of grams(word, 3)) tokens.add(`~${gram}`);
    }
  }
  return { tokens: [...tokens], words: [...seen].filter((word) => word.length > 3 && !isUnspaced(word)) };
}

export function ownerToken(number: number): string {
  return `@${number}`;
}

/** `whole`: all terms as they are. `parts`: also inside of words. */
export type Manner = 'whole' | 'parts';

/** All words that have this part; null if there are too many to name. */
export type WordsWith = (part: string) => readonly string[] | null;

/** Any of these tokens. */
export type Condition = readonly string[];

/** All of which a message must fulfil; null if looking for parts could find nothing more. */
export function conditionsOf(
  terms: readonly SearchTerm[],
  manner: Manner,
  wordsWith: WordsWith,
): readonly Condition[] | null {
  if (manner === 'parts' && terms.flat().every(isUnspaced)) return null;
  return terms.flatMap((term) =>
    term.flatMap((word, at) => {
      const isLast = at === term.length - 1;
      const mayBePart = manner === 'parts' && (isLast || (at === 0 && !isShort(word)));
      return mayBePart ? partConditions(known(word), wordsWith) : wholeConditions(known(word));
    }),
  );
}

/** As FTS5 reads it, for the messages of one section. */
export function expressionFor(section: number, conditions: readonly Condition[]): string {
  const written = conditions.map((any) => any.map((token) => quoted(`${section}${token}`)).join(' OR '));
  return [...new Set(written)].map((text) => `(${text})`).join(' AND ');
}

export function quoted(token: string): string {
  return `"${token}"`;
}

function wholeConditions(word: string): readonly Condition[] {
  if (!isUnspaced(word)) return [[`=${word}`]];
  const pairs = grams(word, 2);
  return (pairs.length === 0 ? grams(word, 1) : spread(pairs)).map((gram) => [`~${gram}`]);
}

function partConditions(part: string, wordsWith: WordsWith): readonly Condition[] {
  if (isUnspaced(part)) return wholeConditions(part);
  if (isShort(part)) return [[`^${part}`]];
  const words = wordsWith(part);
  if (words === null) return spread(grams(part, 3)).map((gram) => [`~${gram}`]);
  return [[...new Set([part, ...words])].map((word) => `=${word}`)];
}

function known(word: string): string {
  return word.length <= wordCharsMax ? word : word.slice(0, wordCharsMax).toWellFormed();
}

/** Some of them, from all over the word. */
function spread(all: readonly string[]): readonly string[] {
  if (all.length <= tokensOfPartMax) return all;
  const step = (all.length - 1) / (tokensOfPartMax - 1);
  return Array.from({ length: tokensOfPartMax }, (_, index) => all[Math.round(index * step)] ?? '');
}

function grams(word: string, size: number): string[] {
  const characters = Array.from(word);
  return characters.slice(size - 1).map((_, index) => characters.slice(index, index + size).join(''));
}
