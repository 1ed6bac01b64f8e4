/**
 * Where a fact comes from that is to be remembered: a stranger's text can be read in one turn and remembered in another. A
 * fact most of whose words stand in such a text was made from it, unless the person has said it too. Pure.
 */
import { isUnspaced, wordsOf } from '../../lib/text-words.ts';
import type { UntrustedSource } from '../../protocol/messages.ts';

/** Of the fact's words, in the text. */
const shareMin = 0.7;
/** Fewer than these are anybody's. */
const wordsMin = 2;
const wordCharsMin = 3;

/** What was said in a conversation; `source` is null for those who may use the agent. */
export interface Saying {
  readonly source: UntrustedSource | null;
  readonly text: string;
}

export function originOfFact(fact: string, said: readonly Saying[]): UntrustedSource | null {
  const words = termsOf(fact);
  if (words.size < wordsMin) return null;
  const isFrom = ({ text }: Saying) => {
    const there = termsOf(text);
    return [...words].filter((word) => there.has(word)).length >= shareMin * words.size;
  };
  const source = said.findLast((saying) => saying.source !== null && isFrom(saying))?.source ?? null;
  return source === null || said.some((saying) => saying.source === null && isFrom(saying)) ? null : source;
}

/** Words of some length, and two characters at a time where words are not told apart by spaces. */
function termsOf(text: string): ReadonlySet<string> {
  const terms = new Set<string>();
  for (const { folded } of wordsOf(text)) {
    const characters = Array.from(folded);
    if (!isUnspaced(folded)) {
      if (characters.length >= wordCharsMin) terms.add(folded);
    } else for (let at = 0; at + 1 < characters.length; at += 1) terms.add(characters.slice(at, at + 2).join(''));
  }
  return terms;
}
