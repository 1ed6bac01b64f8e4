/**
 * The platform's queue of updates, by the real rules: an update is forgotten only when a higher offset is asked for, a
 * second poller ends the first one's wait, and one that waits is answered as soon as something comes.
 */
import type { Update } from 'grammy/types';

const limitDefault = 100;
const timeoutSMax = 50;
/** An offset that is further ahead than this belongs to ids of long ago: it confirms nothing. */
const aheadMax = 10;

export type UpdateKind = Exclude<keyof Update, 'update_id'>;

export interface UpdatesQuery {
  readonly offset?: number;
  readonly limit?: number;
  readonly timeout?: number;
  readonly allowed_updates?: readonly string[];
}

/** `conflict`: another poller has come. */
export type UpdatesAnswer =
  | { readonly kind: 'updates'; readonly updates: readonly Update[] }
  | { readonly kind: 'conflict' };

interface Waiting {
  readonly answer: (answer: UpdatesAnswer) => void;
  readonly query: UpdatesQuery;
}

export class UpdateQueue {
  #updates: Update[] = [];
  #nextId: number;
  #waiting: Waiting | null = null;
  #forgottenBelow = 0;
  /** Null: all but the few that must be asked for. */
  #allowed: ReadonlySet<string> | null = null;

  constructor(firstId: number) {
    this.#nextId = firstId;
  }

  /** What is not forgotten yet. */
  get pending(): readonly Update[] {
    return this.#updates;
  }

  /** The lowest id that has not been confirmed. */
  get forgottenBelow(): number {
    return this.#forgottenBelow;
  }

  get isPolled(): boolean {
    return this.#waiting !== null;
  }

  allow(kinds: readonly string[] | undefined): void {
    if (kinds !== undefined) this.#allowed = kinds.length === 0 ? null : new Set(kinds);
  }

  /** Null if nobody wants to hear of this kind. */
  add(body: Omit<Update, 'update_id'>): Update | null {
    if (this.#allowed !== null && !Object.keys(body).some((kind) => this.#allowed?.has(kind))) return null;
    const update: Update = { ...body, update_id: this.#nextId };
    this.#nextId += 1;
    this.#updates.push(update);
    this.wake();
    return update;
  }

  /** As after a week of silence. */
  countAnew(fromId: number): void {
    this.#nextId = fromId;
    this.#forgottenBelow = 0;
  }

  /** Puts a forgotten update back, as a platform does that has lost a confirmation. */
  restore(update: Update): void {
    this.#updates = [update, ...this.#updates.filter(({ update_id: id }) => id !== update.update_id)];
    this.wake();
  }

  take(query: UpdatesQuery, gone: AbortSignal): Promise<UpdatesAnswer> {
    this.allow(query.allowed_updates);
    this.conflict();
    if ((query.offset ?? 0) <= this.#nextId + aheadMax) this.forget(query.offset ?? 0);
    const ready = this.#ready(query);
    const timeoutMs = Math.min(query.timeout ?? 0, timeoutSMax) * 1_000;
    if (ready.length > 0 || timeoutMs <= 0) return Promise.resolve({ kind: 'updates', updates: ready });
    return new Promise((resolve) => {
      const end = (answer: UpdatesAnswer) => {
        clearTimeout(timer);
        gone.removeEventListener('abort', leave);
        if (this.#waiting === waiting) this.#waiting = null;
        resolve(answer);
      };
      const leave = () => end({ kind: 'updates', updates: [] });
      const timer = setTimeout(leave, timeoutMs);
      const waiting: Waiting = { query, answer: end };
      this.#waiting = waiting;
      gone.addEventListener('abort', leave, { once: true });
      if (gone.aborted) leave();
    });
  }

  /** Ends the wait of whoever polls. */
  conflict(): void {
    this.#waiting?.answer({ kind: 'conflict' });
  }

  forget(below: number): void {
    const offset = below < 0 ? (this.#updates.at(below)?.update_id ?? 0) : below;
    this.#forgottenBelow = Math.max(this.#forgottenBelow, offset);
    if (offset > 0) this.#updates = this.#updates.filter(({ update_id: id }) => id >= offset);
  }

  wake(): void {
    const ready = this.#waiting === null ? [] : this.#ready(this.#waiting.query);
    if (ready.length > 0) this.#waiting?.answer({ kind: 'updates', updates: ready });
  }

  #ready({ limit = limitDefault }: UpdatesQuery): readonly Update[] {
    return this.#updates.slice(0, Math.min(Math.max(limit, 1), limitDefault));
  }
}
