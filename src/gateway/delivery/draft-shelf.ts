/**
 * The drafts that stand on platforms: where, whose, and until when. One that no turn is shown by waits here for whatever
 * takes its place, and is removed if nothing does. That a draft stands is noted in the store as soon as it does. The store
 * remembers one of each session: another one is begun only when what an earlier process left is gone.
 */
import type { Channel } from '../../channels/channel.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { SessionId, TurnId } from '../../protocol/ids.ts';
import type { OutboxRecord, Store } from '../../store/store.ts';
import { LiveDraft } from './live-draft.ts';
import type { TurnPlace } from './turn-place.ts';

/** How long a draft waits, after its turn, for the delivery that takes its place. */
export const standingMaxMs = 60_000;

export interface DraftShelfDeps {
  readonly store: Pick<Store, 'noteDraft'> & { readonly read: Pick<Store['read'], 'journal' | 'drafts'> };
  readonly clock: Clock;
  readonly log: Log;
  readonly channels: ReadonlyMap<string, Channel>;
}

export interface Placed {
  readonly sessionId: SessionId;
  /** Null if an earlier process left it and its turn is over. */
  readonly turnId: TurnId | null;
  readonly place: TurnPlace;
  readonly draft: LiveDraft;
  /** Whether no turn is shown by it and no delivery is taking its place. */
  isFree: boolean;
  cancelRemoval: () => void;
}

export class DraftShelf {
  readonly #deps: DraftShelfDeps;
  readonly #drafts = new Set<Placed>();
  readonly #removing = new Set<Placed>();
  readonly #closing = new AbortController();

  constructor(deps: DraftShelfDeps) {
    this.#deps = deps;
  }

  get size(): number {
    return this.#drafts.size;
  }

  /** Finds what earlier processes left. What belongs to an open turn waits for it to go on. */
  async recover(): Promise<void> {
    const { channels, store, log } = this.#deps;
    for (const { name, live } of channels.values()) {
      if (live === undefined) continue;
      try {
        for (const { sessionId, target, platformId } of await store.read.drafts(name)) {
          const turn = (await store.read.journal(sessionId, Number.MAX_SAFE_INTEGER))?.openTurn ?? null;
          const left = this.put(sessionId, turn?.id ?? null, { channel: name, target }, platformId);
          if (left !== null) this.free(left, turn === null ? standingMaxMs : null);
        }
      } catch (error) {
        log.debug('drafts not found', { channel: name, error });
      }
    }
  }

  /** A draft in this place, in use; null if the channel can't show one. */
  put(sessionId: SessionId, turnId: TurnId | null, place: TurnPlace, platformId: string | null): Placed | null {
    const { channels, clock, log } = this.#deps;
    const live = channels.get(place.channel)?.live;
    if (live === undefined) return null;
    const note = (id: string | null) => this.#note(sessionId, place, id);
    const mayBegin = () => this.#isClear(sessionId);
    const { signal: closing } = this.#closing;
    const draft = new LiveDraft({ live, target: place.target, clock, log, note, mayBegin, closing }, platformId);
    const placed: Placed = { sessionId, turnId, place, draft, isFree: false, cancelRemoval() {} };
    this.#drafts.add(placed);
    return placed;
  }

  /** Nobody uses it now. `removeAfterMs`: when nothing has taken its place by then; null if its turn goes on. */
  free(placed: Placed, removeAfterMs: number | null): void {
    if (!this.#drafts.has(placed)) return;
    placed.isFree = true;
    if (removeAfterMs === 0) this.remove(placed);
    else if (removeAfterMs !== null) {
      placed.cancelRemoval = this.#deps.clock.setTimer(removeAfterMs, () => this.remove(placed));
    }
    void placed.draft.hold().then((platformId) => {
      if (platformId === null && placed.isFree) this.forget(placed);
    });
  }

  use(placed: Placed): void {
    placed.isFree = false;
    placed.cancelRemoval();
  }

  forget(placed: Placed): void {
    placed.cancelRemoval();
    this.#drafts.delete(placed);
  }

  remove(placed: Placed): void {
    this.forget(placed);
    this.#removing.add(placed);
    void placed.draft.remove().finally(() => this.#removing.delete(placed));
  }

  ofTurn(turnId: TurnId): readonly Placed[] {
    return [...this.#drafts].filter((placed) => placed.turnId === turnId && placed.isFree);
  }

  /** The one that waits for this delivery. */
  waitingFor(record: OutboxRecord): Placed | null {
    const isIts = ({ turnId, sessionId }: Placed) =>
      turnId === record.turnId || (turnId === null && sessionId === record.sessionId);
    return [...this.#drafts].find((placed) => placed.isFree && isAt(placed, record) && isIts(placed)) ?? null;
  }

  ofSession(sessionId: SessionId): readonly Placed[] {
    return [...this.#drafts].filter((placed) => placed.sessionId === sessionId);
  }

  /** Another delivery of the session has arrived, and with it the store has forgotten what stands there. */
  async noteAgain(sessionId: SessionId): Promise<void> {
    const placed = this.ofSession(sessionId).findLast(({ draft }) => draft.platformId !== null);
    if (placed !== undefined) await this.#note(sessionId, placed.place, placed.draft.platformId);
  }

  /** Whether nothing stands there that an earlier process left, and nothing is being removed; what is left is removed now. */
  #isClear(sessionId: SessionId): boolean {
    for (const placed of this.ofSession(sessionId)) if (placed.isFree && placed.turnId === null) this.remove(placed);
    return ![...this.#removing].some((placed) => placed.sessionId === sessionId);
  }

  /** Changes nothing more on any platform. */
  async close(): Promise<void> {
    this.#closing.abort(new Error('the program is leaving'));
    const drafts = [...this.#drafts];
    for (const placed of drafts) this.forget(placed);
    await Promise.all(drafts.map(({ draft }) => draft.hold()));
  }

  async #note(sessionId: SessionId, place: TurnPlace, platformId: string | null): Promise<void> {
    // Another draft of the session may be on record by now.
    if (platformId === null && this.ofSession(sessionId).some(({ draft }) => draft.platformId !== null)) return;
    try {
      await this.#deps.store.noteDraft(sessionId, platformId === null ? null : { ...place, platformId });
    } catch (error) {
      this.#deps.log.debug('a draft was not noted', { sessionId, error });
    }
  }
}

export function isAt({ place }: Placed, { channel, target }: TurnPlace): boolean {
  return place.channel === channel && place.target === target;
}
