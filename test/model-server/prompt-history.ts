/**
 * Prompts that were seen before, and how much of a new one they have in common. It is the memory of the caches that
 * work by themselves, and the measure of what any cache could have had at best. Bounded: the least recently used group
 * and the oldest prompt of a group are forgotten.
 */
import type { PromptUnit } from './dialect.ts';

const groupsMax = 512;
const promptsPerGroupMax = 8;

interface Seen {
  readonly texts: readonly string[];
  at: number;
}

export class PromptHistory {
  readonly #groups = new Map<string, Seen[]>();

  /** Bytes that the prompt has in common with one of its group that is not older; `wholeUnits`: only of whole units. */
  commonBytes(group: string, units: readonly PromptUnit[], wholeUnits: boolean, since: number): number {
    const texts = units.map((unit) => unit.text);
    const known = (this.#groups.get(group) ?? []).filter(({ at }) => at >= since);
    return Math.max(0, ...known.map((seen) => common(seen.texts, texts, wholeUnits)));
  }

  /** How long the newest prompt of the group is. */
  newestBytes(group: string): number {
    return (this.#groups.get(group)?.at(-1)?.texts ?? []).reduce((bytes, text) => bytes + Buffer.byteLength(text), 0);
  }

  /** What it extends is replaced by it. */
  add(group: string, units: readonly PromptUnit[], now: number): void {
    const texts = units.map((unit) => unit.text);
    const others = (this.#groups.get(group) ?? []).filter((seen) => !isStart(seen.texts, texts));
    this.#groups.delete(group);
    this.#groups.set(group, [...others, { texts, at: now }].slice(-promptsPerGroupMax));
    for (const oldest of this.#groups.keys()) {
      if (this.#groups.size <= groupsMax) break;
      this.#groups.delete(oldest);
    }
  }
}

function isStart(texts: readonly string[], longer: readonly string[]): boolean {
  return texts.length <= longer.length && texts.every((text, index) => text === longer[index]);
}

function common(one: readonly string[], other: readonly string[], wholeUnits: boolean): number {
  let bytes = 0;
  for (const [index, text] of one.entries()) {
    const against = other[index];
    if (against === undefined) break;
    if (text === against) {
      bytes += Buffer.byteLength(text);
      continue;
    }
    return wholeUnits ? bytes : bytes + commonStart(Buffer.from(text), Buffer.from(against));
  }
  return bytes;
}

function commonStart(one: Uint8Array, other: Uint8Array): number {
  const end = Math.min(one.length, other.length);
  for (let index = 0; index < end; index++) if (one[index] !== other[index]) return index;
  return end;
}
