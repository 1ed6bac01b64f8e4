/**
 * The words for the agent, from a template and what was sent. `{{a.b.0}}` is a field, `{{body}}` all of it. What is put in
 * is data: it is bounded, and nothing in it is looked at again. Pure.
 */

/** Of one field, of the whole body, and of all that is put in together. More is cut, and that is said. */
const fieldCharsMax = 16_000;
const bodyCharsMax = 100_000;
const filledCharsMax = 200_000;

const placePattern = /\{\{\s*([^{}\s]{1,200})\s*\}\}/g;

export interface Filled {
  readonly text: string;
  /** Fields that were not sent, in the template's words; each once. */
  readonly missing: readonly string[];
}

/** `fields` is what the body means; undefined if nothing can be read from it. */
export function fillTemplate(template: string, body: string, fields: unknown): Filled {
  const missing = new Set<string>();
  let leftChars = filledCharsMax;
  const text = template.replaceAll(placePattern, (_all, place: string) => {
    const value = place === 'body' ? body : fieldAt(fields, place);
    if (value === undefined) {
      missing.add(place);
      return '';
    }
    const words = typeof value === 'string' ? value : JSON.stringify(value);
    const shown = cut(words, Math.min(leftChars, place === 'body' ? bodyCharsMax : fieldCharsMax));
    leftChars -= Math.min(leftChars, words.length);
    return shown;
  });
  return { text, missing: [...missing] };
}

/** Only what was sent itself: nothing that every object has. */
function fieldAt(fields: unknown, place: string): unknown {
  return place.split('.').reduce<unknown>((value, step) => {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
    // The length of a list is its own, and was not sent.
    if (Array.isArray(value) && !/^\d+$/.test(step)) return undefined;
    return (value as Readonly<Record<string, unknown>>)[step];
  }, fields);
}

function cut(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  return `${text.slice(0, charsMax).toWellFormed()}… (${text.length - charsMax} more characters were cut off)`;
}
