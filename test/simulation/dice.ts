/** Random choices from a seed. Each part of the simulation has dice of its own, so that one does not disturb another. */
import { seededRandom, type RandomSource } from '../../src/lib/random.ts';

export class Dice {
  readonly source: RandomSource;

  constructor(seed: number, part: number) {
    this.source = seededRandom(Math.imul(seed + 1, 0x9e3779b1) ^ Math.imul(part + 1, 0x85ebca6b));
    // The first numbers of neighbouring seeds are alike.
    this.source.float();
    this.source.float();
  }

  chance(probability: number): boolean {
    return this.source.float() < probability;
  }

  /** A whole number from `low` to `high`, both included. */
  between(low: number, high: number): number {
    return low + Math.floor(this.source.float() * (high - low + 1));
  }

  pick<Item>(items: readonly Item[]): Item {
    const item = items[this.between(0, items.length - 1)];
    if (item === undefined) throw new RangeError('nothing to pick from');
    return item;
  }

  /** A key, by its weight. */
  weighted<Key extends string>(weights: Readonly<Record<Key, number>>): Key {
    const entries = Object.entries(weights) as [Key, number][];
    let left = this.source.float() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [key, weight] of entries) {
      left -= weight;
      if (left < 0) return key;
    }
    return entries[entries.length - 1]?.[0] as Key;
  }

  /** Mostly nothing, sometimes a little, rarely much: how long things take. */
  delayMs(most: number): number {
    if (this.chance(0.6)) return 0;
    return this.chance(0.8) ? this.between(1, Math.max(1, Math.floor(most / 20))) : this.between(1, most);
  }
}
