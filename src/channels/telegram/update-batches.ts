/**
 * Updates that were handed over and how far they can be confirmed. A batch that takes long, because a large file is
 * fetched, holds up the confirmation of all that came after it and nothing else: what is new meanwhile is a batch of its
 * own. What was left is asked for again when nothing is under way any more.
 */
import type { Update } from 'grammy/types';
import { sleep, type Clock } from '../../lib/clock.ts';
import type { Taken } from './receive-updates.ts';

interface Batch {
  readonly lowest: number;
  readonly ended: Promise<void>;
  /** Null while it is under way. */
  taken: Taken | null;
}

export class UpdateBatches {
  #batches: Batch[] = [];
  readonly #handed = new Set<number>();
  #offset = 0;

  /** Everything below it is stored, refused or of no interest. */
  get offset(): number {
    return this.#offset;
  }

  get isUnderWay(): boolean {
    return this.#batches.length > 0;
  }

  /** Those that were not handed over yet. After a week of silence the platform counts anew, from anywhere. */
  fresh(updates: readonly Update[]): readonly Update[] {
    const fresh = updates.filter(({ update_id: id }) => !this.#handed.has(id));
    this.#offset = Math.min(this.#offset, ...fresh.map(({ update_id: id }) => id));
    return fresh;
  }

  begin(updates: readonly Update[], taking: Promise<Taken>): void {
    const ids = updates.map(({ update_id: id }) => id);
    for (const id of ids) this.#handed.add(id);
    const ended = taking.then((taken) => {
      batch.taken = taken;
    });
    const batch: Batch = { lowest: Math.min(...ids), ended, taken: null };
    this.#batches.push(batch);
  }

  /** Resolves when one of them has ended, or after this time; at once if none is under way. */
  async someEnd(clock: Clock, limitMs: number, signal: AbortSignal): Promise<void> {
    const open = this.#batches.filter(({ taken }) => taken === null);
    if (open.length === 0) return;
    const over = new AbortController();
    const late = sleep(clock, limitMs, AbortSignal.any([signal, over.signal])).catch(() => {});
    await Promise.race([late, ...open.map(({ ended }) => ended)]);
    over.abort();
  }

  async allEnd(): Promise<void> {
    await Promise.all(this.#batches.map(({ ended }) => ended));
  }

  /** Moves the offset as far as it may go. False if all have ended and some updates were left. */
  settle(): boolean {
    const left = this.#batches.flatMap(({ lowest, taken }) => {
      if (taken === null) return [lowest];
      return taken.complete ? [] : [taken.confirmedBelow];
    });
    this.#offset = Math.max(this.#offset, Math.min(Math.max(-1, ...this.#handed) + 1, ...left));
    // There may be something under way for ever: what does not come again is forgotten as it goes.
    for (const id of this.#handed) if (id < this.#offset) this.#handed.delete(id);
    if (this.#batches.some(({ taken }) => taken === null)) {
      this.#batches = this.#batches.filter(({ taken }) => taken?.complete !== true);
      return true;
    }
    this.#batches = [];
    this.#handed.clear();
    return left.length === 0;
  }
}
