/**
 * Ends turns in which nothing happens any more, after a warning; the people are told both times, in a message of its own
 * where they are and in the session's log. Never in silence: the word is stored before the turn is ended. A turn that
 * waits for a person does not run, so it is not watched. Holds one record and one timer per running turn.
 */
import type { Clock } from '../lib/clock.ts';
import type { IdSource } from '../lib/ids.ts';
import type { Log } from '../lib/log.ts';
import type { SessionEvent } from '../protocol/events.ts';
import type { SessionId, TurnId } from '../protocol/ids.ts';
import type { ReplyButton, Store } from '../store/store.ts';
import { afterEvent, enterTurn, idleMs, type Activity } from './activity.ts';
import { commandButton } from './command-button.ts';
import { situationOf } from './delivery/turn-place.ts';
import type { LiveHub } from './live-hub.ts';
import { durationInWords } from './progress-line.ts';
import type { RunWatcher, SessionDrain } from './session-drain.ts';

/** Between looks when a limit is switched off, and after a try that failed. */
const lookAgainMs = 60_000;

/** Milliseconds; 0 switches it off. */
export interface InactivityLimits {
  readonly warningMs: number;
  readonly timeoutMs: number;
}

export interface WatchdogDeps {
  readonly store: Pick<Store, 'queueMessage'> & { readonly read: Pick<Store['read'], 'journal' | 'inbox'> };
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly log: Log;
  readonly hub: Pick<LiveHub, 'publish' | 'current'>;
  /** As the configuration has them now. */
  readonly limits: () => InactivityLimits;
  readonly stopBecause: SessionDrain['stopBecause'];
  /** There is something to deliver. */
  readonly onQueued: () => void;
}

interface Watched {
  readonly turnId: TurnId;
  activity: Activity;
  /** Turns in a row that were interrupted, with no rest between them. */
  interruptDepth: number;
  isWarned: boolean;
  /** We are ending it: what comes after it is no re-entry. `told`: the people know; `stopped`: it has only to obey. */
  ending: 'no' | 'told' | 'stopped';
  cancel: () => void;
}

export class Watchdog implements RunWatcher {
  readonly #deps: WatchdogDeps;
  readonly #watched = new Map<SessionId, Watched>();
  /** What was interrupted, until the turn that it was interrupted for begins or the session rests. */
  readonly #interrupted = new Map<SessionId, Watched>();

  constructor(deps: WatchdogDeps) {
    this.#deps = deps;
  }

  /** For people who ask what a session is doing; null if nothing. */
  activity(sessionId: SessionId): Activity | null {
    return this.#watched.get(sessionId)?.activity ?? null;
  }

  see(sessionId: SessionId, event: SessionEvent): void {
    if (event.kind === 'turn-started') {
      this.#begin(sessionId, event.turnId);
      return;
    }
    const watched = this.#watched.get(sessionId);
    if (watched === undefined) return;
    if (event.kind === 'trouble') {
      // It is left alone for a while and then begun anew; people are told of it in another way.
      this.#forget(sessionId);
      return;
    }
    const before = watched.activity;
    watched.activity = afterEvent(before, event, this.#deps.hub.current(sessionId), this.#deps.clock.now());
    if (watched.isWarned && watched.activity !== before) this.#calmDown(sessionId, watched);
    if (event.kind === 'entry' && event.entry.kind === 'turn-closed' && event.entry.turnId === watched.turnId) {
      this.#forget(sessionId);
      if (event.entry.outcome === 'stopped' && watched.ending === 'no') this.#interrupted.set(sessionId, watched);
    }
  }

  rested(sessionId: SessionId): void {
    this.#forget(sessionId);
  }

  close(): void {
    for (const sessionId of [...this.#watched.keys(), ...this.#interrupted.keys()]) this.#forget(sessionId);
  }

  #begin(sessionId: SessionId, turnId: TurnId): void {
    const before = this.#interrupted.get(sessionId) ?? null;
    this.#forget(sessionId);
    const interruptDepth = before === null ? 0 : before.interruptDepth + 1;
    const activity = enterTurn(before?.activity ?? null, interruptDepth, this.#deps.clock.now());
    const isWarned = before?.isWarned ?? false;
    const watched: Watched = { turnId, activity, interruptDepth, isWarned, ending: 'no', cancel() {} };
    this.#watched.set(sessionId, watched);
    this.#look(sessionId, watched);
  }

  #forget(sessionId: SessionId): void {
    this.#watched.get(sessionId)?.cancel();
    this.#watched.delete(sessionId);
    this.#interrupted.delete(sessionId);
  }

  /** The timer is not touched by what happens: it looks when the next limit could be reached, and again if it was not. */
  #look(sessionId: SessionId, watched: Watched): void {
    const { clock, limits } = this.#deps;
    const { warningMs, timeoutMs } = limits();
    const idle = idleMs(watched.activity, clock.now());
    if (timeoutMs > 0 && idle >= timeoutMs) {
      void this.#end(sessionId, watched, idle);
      return;
    }
    const warnsBefore = warningMs > 0 && (timeoutMs === 0 || warningMs < timeoutMs);
    if (warnsBefore && idle >= warningMs && !watched.isWarned) {
      watched.isWarned = true;
      void this.#warn(sessionId, watched, idle, timeoutMs);
    }
    const next = [timeoutMs, watched.isWarned || !warnsBefore ? 0 : warningMs].filter((limit) => limit > 0);
    const waitMs = next.length === 0 ? lookAgainMs : Math.min(...next) - idle;
    this.#lookAfter(sessionId, watched, waitMs);
  }

  #lookAfter(sessionId: SessionId, watched: Watched, delayMs: number): void {
    if (this.#watched.get(sessionId) !== watched) return;
    watched.cancel();
    watched.cancel = this.#deps.clock.setTimer(delayMs, () => this.#look(sessionId, watched));
  }

  async #warn(sessionId: SessionId, watched: Watched, idle: number, timeoutMs: number): Promise<void> {
    const ending = timeoutMs === 0 ? '' : ` It ends by itself after ${durationInWords(timeoutMs)} of that.`;
    const text = `${nothingHappened(watched, idle)}.${ending} /stop ends it now.`;
    try {
      this.#deps.hub.publish(sessionId, { kind: 'status', turnId: watched.turnId, text });
      await this.#tell(sessionId, watched, text, [commandButton(sessionId, { label: 'Stop', value: '/stop' })]);
    } catch (error) {
      this.#deps.log.error('nobody could be warned of a turn in which nothing happens', { sessionId, error });
      watched.isWarned = false;
      this.#lookAfter(sessionId, watched, lookAgainMs);
    }
  }

  async #end(sessionId: SessionId, watched: Watched, idle: number): Promise<void> {
    const { log, stopBecause } = this.#deps;
    const text = `${nothingHappened(watched, idle)}, so the turn was ended. Write again to go on.`;
    try {
      if (watched.ending === 'stopped') log.error('a turn goes on although it was ended', { sessionId });
      else {
        log.warn('a turn is ended because nothing happens in it', { sessionId, activity: watched.activity });
        // Told once, however often the rest has to be tried.
        if (watched.ending === 'no' && !(await this.#tell(sessionId, watched, text, []))) return;
        watched.ending = 'told';
        if (await stopBecause(sessionId, watched.turnId, text)) watched.ending = 'stopped';
      }
    } catch (error) {
      log.error('a turn in which nothing happens can not be ended', { sessionId, error });
    }
    this.#lookAfter(sessionId, watched, lookAgainMs);
  }

  /** False if the turn is over. */
  async #tell(
    sessionId: SessionId,
    { turnId }: Watched,
    text: string,
    buttons: readonly ReplyButton[],
  ): Promise<boolean> {
    const { store, ids, onQueued } = this.#deps;
    const situation = await situationOf(store.read, sessionId, turnId);
    if (situation === null) return false;
    const outboxId = ids.next('out');
    await store.queueMessage({ ...situation.place, outboxId, text, buttons, sessionId, answers: null });
    onQueued();
    return true;
  }

  /** Something happens again: the next silence is warned of anew. */
  #calmDown(sessionId: SessionId, watched: Watched): void {
    watched.isWarned = false;
    this.#deps.hub.publish(sessionId, { kind: 'status', turnId: watched.turnId, text: '' });
    this.#look(sessionId, watched);
  }
}

function nothingHappened({ activity }: Watched, idle: number): string {
  return `Nothing has happened for ${durationInWords(idle)} (last: ${activity.description})`;
}
