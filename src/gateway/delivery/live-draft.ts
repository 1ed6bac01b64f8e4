/**
 * One draft on a platform, kept up to date by edits: one at a time, no more often than the platform allows, what changes
 * in between together. It can be held, so that a delivery takes its place with no edit coming after, or removed.
 * Whatever fails is left out; the next change shows it.
 */
import type { LiveDisplay } from '../../channels/channel.ts';
import { sleep, type Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { beatMinMs } from '../progress-line.ts';
import type { Picture } from './turn-view.ts';

/** How long a platform that did not want a change is left alone; twice as long each time it does not want one again. */
const refusedPauseMs = 5_000;
const refusedPauseMaxMs = 300_000;
/** A quick answer needs no draft. */
const firstAfterMs = 1_000;
/** What happens in one go is shown in one go. */
const togetherMs = 250;
/** How often the platform is asked to take a draft away, and how long after the first failure; then twice as long each time. */
const removalsMax = 6;
const removeAgainMs = 1_000;
/** How long a delivery waits for an edit under way. */
const editPatienceMs = 10_000;

export interface LiveDraftDeps {
  readonly live: LiveDisplay;
  readonly target: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Remembers the draft's id, or that there is none. Never throws. */
  readonly note: (platformId: string | null) => Promise<void>;
  /** Whether another draft may be begun; if not, what is in its way is being taken away. */
  readonly mayBegin: () => boolean;
  /** Ends the waits between tries. */
  readonly closing: AbortSignal;
}

export class LiveDraft {
  readonly #deps: LiveDraftDeps;
  readonly #ending = new AbortController();
  #picture: ((now: number, hasDraft: boolean) => Picture) | null = null;
  #id: string | null;
  /** What stands there; null if that is not known. */
  #shown: Picture | null = null;
  #changedAt: number | null = null;
  #lastAt: number;
  #notBefore = 0;
  /** When its turn comes, once it has taken one. */
  #turnAt: number | null = null;
  #refusals = 0;
  #underWay: Promise<void> | null = null;
  #cancel = () => {};

  /** `platformId`: of a draft that an earlier process left. */
  constructor(deps: LiveDraftDeps, platformId: string | null) {
    this.#deps = deps;
    this.#id = platformId;
    this.#lastAt = deps.clock.now();
  }

  get platformId(): string | null {
    return this.#id;
  }

  /** From now on it shows this. */
  show(picture: (now: number, hasDraft: boolean) => Picture): void {
    if (this.#ending.signal.aborted) return;
    this.#picture = picture;
    this.#turnAt = null;
    this.#changedAt ??= this.#deps.clock.now();
    this.#schedule();
  }

  changed(): void {
    // What changes before the next look is seen by it.
    if (this.#changedAt !== null) return;
    this.#changedAt = this.#deps.clock.now();
    this.#schedule();
  }

  /**
   * Shows no more. Resolves with the draft's id once nothing is under way; null if there is none, or if an edit takes so
   * long that it might come after whatever takes the draft's place: then the draft is removed when it has ended.
   */
  async hold(): Promise<string | null> {
    this.#picture = null;
    this.#cancel();
    if (this.#underWay !== null && !(await this.#endsInTime(this.#underWay))) {
      this.#ending.abort(new Error('the draft is not wanted any more'));
      void this.#underWay.then(() => this.remove());
      return null;
    }
    return this.#id;
  }

  /** Something else stands in its place now: the next change begins another one. */
  replaced(): void {
    this.#id = null;
    this.#shown = null;
  }

  async remove(): Promise<void> {
    this.#picture = null;
    this.#cancel();
    await this.#underWay;
    const id = this.#id;
    if (id === null) return;
    this.replaced();
    if (await this.#isRemoved(id)) await this.#deps.note(null);
  }

  /** False if it may still stand there: then it stays on record, for the next process. */
  async #isRemoved(id: string): Promise<boolean> {
    const { live, target, clock, log, closing } = this.#deps;
    for (let tries = 1; tries <= removalsMax && !closing.aborted; tries += 1) {
      try {
        await live.remove(target, id, new AbortController().signal);
        return true;
      } catch (error) {
        log.debug('a draft was not removed', { error });
      }
      await sleep(clock, removeAgainMs * 2 ** (tries - 1), closing).catch(() => {});
    }
    return false;
  }

  get #beatMs(): number {
    return this.#shown?.beatMs ?? beatMinMs;
  }

  #schedule(): void {
    this.#cancel();
    if (this.#picture === null || this.#underWay !== null) return;
    const { clock, live } = this.#deps;
    const changeAt = Math.max(
      (this.#changedAt ?? Infinity) + (this.#id === null ? firstAfterMs : togetherMs),
      this.#lastAt + live.editEveryMs,
    );
    const beatAt = this.#lastAt + Math.max(this.#beatMs, live.editEveryMs);
    const at = Math.max(this.#notBefore, this.#turnAt ?? 0, Math.min(changeAt, beatAt));
    this.#cancel = clock.setTimer(Math.max(0, at - clock.now()), () => this.#look());
  }

  #look(): void {
    const { clock, live, target } = this.#deps;
    const now = clock.now();
    const picture = this.#picture?.(now, this.#id !== null);
    if (picture === undefined) return;
    const isBeat = now - this.#lastAt >= this.#beatMs;
    const isShown = picture.text === this.#shown?.text || (picture.gist === this.#shown?.gist && !isBeat);
    if (picture.text === '' || isShown) {
      this.#changedAt = null;
      // Nothing was shown, but the time between two looks begins anew.
      if (isBeat) this.#lastAt = now;
      this.#schedule();
      return;
    }
    this.#turnAt ??= now + (live.turnInMs?.(target) ?? 0);
    if (now < this.#turnAt) {
      // Looked at again then: what happens until its turn comes is shown with it.
      this.#schedule();
      return;
    }
    this.#changedAt = null;
    this.#turnAt = null;
    this.#underWay = this.#put(picture).finally(() => {
      this.#underWay = null;
      this.#schedule();
    });
  }

  async #put(picture: Picture): Promise<void> {
    const { live, target, clock, log, note, mayBegin } = this.#deps;
    try {
      const isAllowed = this.#id !== null || mayBegin();
      const id = isAllowed ? await live.draft(target, picture.text, this.#id, this.#ending.signal) : null;
      if (id === null) this.#refused();
      else {
        const isNew = id !== this.#id;
        this.#id = id;
        this.#shown = picture;
        this.#refusals = 0;
        if (isNew) await note(id);
      }
    } catch (error) {
      log.debug('a draft was not shown', { error });
      this.#refused();
    }
    this.#lastAt = clock.now();
  }

  #refused(): void {
    const now = this.#deps.clock.now();
    this.#changedAt ??= now;
    this.#notBefore = now + Math.min(refusedPauseMaxMs, refusedPauseMs * 2 ** this.#refusals);
    this.#refusals += 1;
  }

  #endsInTime(event: Promise<void>): Promise<boolean> {
    return new Promise((resolve) => {
      const cancel = this.#deps.clock.setTimer(editPatienceMs, () => resolve(false));
      void event.then(() => {
        cancel();
        resolve(true);
      });
    });
  }
}
