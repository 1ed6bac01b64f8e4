/**
 * A cache that works by marks, as Anthropic's: everything up to a mark is remembered, under the whole of what stands
 * before it; at a mark, and up to 19 units before it, what is remembered is found again. Nothing is ever found that
 * differs in a single byte.
 */
import { createHash } from 'node:crypto';
import type { Prompt } from './dialect.ts';
import { sharedTokens } from './tokens.ts';

const lookBackUnits = 20;
const entriesMax = 50_000;
const lifeMs = { '5m': 300_000, '1h': 3_600_000 };

export interface CacheUse {
  readonly cached: number;
  readonly written5m: number;
  readonly written1h: number;
}

interface Entry {
  readonly lifeMs: number;
  until: number;
}

export class MarkCache {
  readonly #minTokens: number;
  readonly #entries = new Map<string, Entry>();

  constructor(minTokens: number) {
    this.#minTokens = minTokens;
  }

  /** `scope`: whose cache it is. */
  use(scope: string, { units }: Prompt, now: number): CacheUse {
    const places = placesOf(
      scope,
      units.map((unit) => unit.text),
    );
    const marks = units.flatMap((unit, index) => (unit.mark === null ? [] : [{ index, mark: unit.mark }]));
    const hit = Math.max(-1, ...marks.map(({ index }) => this.#find(places, index, now)));
    const tokensAt = (index: number) => places[index]?.tokens ?? 0;
    const cached = tokensAt(hit);
    const lastLong = Math.max(-1, ...marks.filter(({ mark }) => mark === '1h').map(({ index }) => index));
    const last = marks.at(-1)?.index ?? -1;
    for (const { index, mark } of marks) this.#write(places[index], lifeMs[mark], now);
    const long = tokensAt(lastLong) < this.#minTokens ? 0 : Math.max(0, tokensAt(lastLong) - cached);
    const all = tokensAt(last) < this.#minTokens ? 0 : Math.max(0, tokensAt(last) - cached);
    return { cached, written5m: Math.max(0, all - long), written1h: long };
  }

  #find(places: readonly Place[], from: number, now: number): number {
    for (let index = from; index > from - lookBackUnits && index >= 0; index--) {
      const place = places[index];
      const entry = place === undefined ? undefined : this.#entries.get(place.id);
      if (place === undefined || entry === undefined || entry.until <= now || place.tokens < this.#minTokens) continue;
      entry.until = now + entry.lifeMs;
      return index;
    }
    return -1;
  }

  #write(place: Place | undefined, lifeMs: number, now: number): void {
    if (place === undefined || place.tokens < this.#minTokens) return;
    const before = this.#entries.get(place.id);
    const isLonger = before !== undefined && before.until > now && before.lifeMs > lifeMs;
    const entry = isLonger ? before : { lifeMs, until: now + lifeMs };
    this.#entries.delete(place.id);
    this.#entries.set(place.id, entry);
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= entriesMax) break;
      this.#entries.delete(oldest);
    }
  }
}

interface Place {
  readonly id: string;
  /** Of everything up to here. */
  readonly tokens: number;
}

function placesOf(scope: string, texts: readonly string[]): Place[] {
  let id = scope;
  let bytes = 0;
  return texts.map((text) => {
    id = createHash('sha256').update(id).update('\0').update(text).digest('base64');
    bytes += Buffer.byteLength(text);
    return { id, tokens: sharedTokens(bytes) };
  });
}
