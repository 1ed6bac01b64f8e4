/**
 * Shows running turns on channels that can show work in progress: that somebody is typing, and a draft that becomes the
 * answer. It is told what happens by the drain and asked for drafts by the outbox. Whatever it does may fail without
 * anybody noticing; it holds nothing but the turns that run and the drafts that something is about to replace.
 */
import type { SessionEvent } from '../protocol/events.ts';
import type { SessionId, TurnId } from '../protocol/ids.ts';
import type { OutboxRecord, Store } from '../store/store.ts';
import type { DraftTaker, TakenDraft } from './delivery/deliver.ts';
import { DraftShelf, isAt, standingMaxMs, type DraftShelfDeps, type Placed } from './delivery/draft-shelf.ts';
import { draftRoom } from './delivery/draft-text.ts';
import { keepTyping } from './delivery/keep-typing.ts';
import { situationOf, type TurnPlace } from './delivery/turn-place.ts';
import { TurnView } from './delivery/turn-view.ts';
import type { RunWatcher } from './session-drain.ts';

export interface LiveDeliveryDeps extends DraftShelfDeps {
  readonly store: DraftShelfDeps['store'] & { readonly read: Pick<Store['read'], 'inbox'> };
}

interface Running {
  readonly turnId: TurnId;
  readonly view: TurnView;
  /** Null until it is known where, and where nothing can be shown. */
  shown: Placed | null;
  stopTyping: () => void;
  /** Ends with the look at where its people are that was begun last. */
  located: Promise<void>;
}

export class LiveDelivery implements RunWatcher, DraftTaker {
  readonly #deps: LiveDeliveryDeps;
  readonly #shelf: DraftShelf;
  readonly #isAnyLive: boolean;
  readonly #running = new Map<SessionId, Running>();
  #isClosed = false;

  constructor(deps: LiveDeliveryDeps) {
    this.#deps = deps;
    this.#shelf = new DraftShelf(deps);
    this.#isAnyLive = [...deps.channels.values()].some(({ live }) => live !== undefined);
  }

  /** Turns that are looked at, and drafts that are shown or wait to be replaced. */
  get counts(): { running: number; drafts: number } {
    return { running: this.#running.size, drafts: this.#shelf.size };
  }

  /** Finds the drafts that earlier processes left. Before anything runs or is delivered. */
  recover(): Promise<void> {
    return this.#shelf.recover();
  }

  see(sessionId: SessionId, event: SessionEvent): void {
    if (!this.#isAnyLive || this.#isClosed) return;
    const run = this.#running.get(sessionId);
    if (event.kind === 'turn-started' && run?.turnId !== event.turnId) {
      this.#begin(sessionId, event.turnId);
      return;
    }
    if (run === undefined || !isOfTurn(event, run.turnId)) return;
    if (run.view.see(event, this.#deps.clock.now())) run.shown?.draft.changed();
    if (event.kind !== 'entry') return;
    const { entry } = event;
    // People may have written from elsewhere meanwhile.
    if ('inboxId' in entry && entry.inboxId !== null) this.#locate(sessionId, run);
    if (entry.kind !== 'turn-closed') return;
    const hasNothingToSay = entry.outcome === 'stopped' && run.view.lastAnswer === '';
    this.#end(sessionId, run, hasNothingToSay ? 0 : standingMaxMs);
  }

  rested(sessionId: SessionId): void {
    const run = this.#running.get(sessionId);
    // It goes on later, from where its draft stands.
    if (run !== undefined) this.#end(sessionId, run, null);
  }

  async take(record: OutboxRecord): Promise<TakenDraft> {
    const { sessionId, turnId } = record;
    if (sessionId === null || turnId === null) return { draftId: null, done() {} };
    const run = this.#running.get(sessionId);
    const isShownThere = run?.turnId === turnId && run.shown !== null && isAt(run.shown, record);
    if (record.file !== null) return this.#makeWay(record, isShownThere ? run : null);
    if (isShownThere && run.shown !== null) return this.#lend(run, run.shown);
    const waiting = this.#shelf.waitingFor(record);
    if (waiting !== null) return this.#giveAway(waiting);
    // One that another turn is shown by is not this one's to replace.
    const isOthers = this.#shelf.ofSession(sessionId).some(({ draft }) => draft.platformId === record.draftId);
    return {
      draftId: isOthers ? null : record.draftId,
      done: () => void this.#shelf.noteAgain(sessionId),
    };
  }

  /** Changes nothing more; the drafts of turns that go on stay where they are. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const run of this.#running.values()) run.stopTyping();
    this.#running.clear();
    await this.#shelf.close();
  }

  #begin(sessionId: SessionId, turnId: TurnId): void {
    const before = this.#running.get(sessionId);
    if (before !== undefined) this.#end(sessionId, before, standingMaxMs);
    const view = new TurnView(this.#deps.clock.now());
    const run: Running = { turnId, view, shown: null, stopTyping() {}, located: Promise.resolve() };
    this.#running.set(sessionId, run);
    this.#locate(sessionId, run);
  }

  #locate(sessionId: SessionId, run: Running): void {
    const look = async () => {
      const situation = await situationOf(this.#deps.store.read, sessionId, run.turnId);
      if (situation === null || this.#running.get(sessionId) !== run) return;
      if (run.view.lastAnswer === '') run.view.answered(situation.lastAnswer);
      this.#showAt(sessionId, run, situation.place);
    };
    run.located = run.located.then(look).catch((error: unknown) => {
      this.#deps.log.debug('a turn can not be shown', { sessionId, error });
    });
  }

  #showAt(sessionId: SessionId, run: Running, place: TurnPlace): void {
    if (run.shown !== null && isAt(run.shown, place)) return;
    run.stopTyping();
    run.stopTyping = () => {};
    if (run.shown !== null) this.#shelf.remove(run.shown);
    const left = this.#shelf.ofTurn(run.turnId);
    for (const elsewhere of left.filter((placed) => !isAt(placed, place))) this.#shelf.remove(elsewhere);
    run.shown = left.find((placed) => isAt(placed, place)) ?? this.#shelf.put(sessionId, run.turnId, place, null);
    const live = this.#deps.channels.get(place.channel)?.live;
    if (run.shown === null || live === undefined) return;
    this.#shelf.use(run.shown);
    run.stopTyping = keepTyping(this.#deps, live, place.target);
    this.#show(run, run.shown);
  }

  #show(run: Running, { draft, place }: Placed): void {
    const room = draftRoom(this.#deps.channels.get(place.channel)?.limits.textCharsMax ?? null);
    draft.show((now, hasDraft) => run.view.picture(room, now, hasDraft));
  }

  #end(sessionId: SessionId, run: Running, removeAfterMs: number | null): void {
    this.#running.delete(sessionId);
    run.stopTyping();
    if (run.shown !== null) this.#shelf.free(run.shown, removeAfterMs);
  }

  /** The turn goes on, with another draft if this one was replaced. */
  async #lend(run: Running, shown: Placed): Promise<TakenDraft> {
    const draftId = await shown.draft.hold();
    return {
      draftId,
      done: (outcome) => {
        if (outcome === 'sent') shown.draft.replaced();
        if (this.#running.get(shown.sessionId) === run && run.shown === shown) this.#show(run, shown);
        else if (outcome === 'sent') this.#shelf.forget(shown);
      },
    };
  }

  /** A file stands below what was shown before it; what is shown from then on begins anew, below the file. */
  async #makeWay(record: OutboxRecord, run: Running | null): Promise<TakenDraft> {
    const shown = run?.shown ?? null;
    const waiting = shown === null ? this.#shelf.waitingFor(record) : null;
    if (waiting !== null) this.#shelf.remove(waiting);
    await shown?.draft.remove();
    return {
      draftId: null,
      done: () => {
        if (run === null || shown === null || run.shown !== shown) return;
        if (this.#running.get(shown.sessionId) === run) this.#show(run, shown);
      },
    };
  }

  async #giveAway(waiting: Placed): Promise<TakenDraft> {
    this.#shelf.use(waiting);
    const draftId = await waiting.draft.hold();
    return {
      draftId,
      done: (outcome) => {
        if (outcome === 'sent' || draftId === null) this.#shelf.forget(waiting);
        else if (outcome === 'failed') this.#shelf.remove(waiting);
        // The next attempt takes it.
        else this.#shelf.free(waiting, null);
        if (outcome === 'sent') void this.#shelf.noteAgain(waiting.sessionId);
      },
    };
  }
}

function isOfTurn(event: SessionEvent, turnId: TurnId): boolean {
  if (event.kind === 'entry') return event.entry.turnId === turnId;
  return 'turnId' in event ? event.turnId === turnId : event.kind === 'trouble';
}
