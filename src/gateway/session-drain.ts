/**
 * Works off sessions: at most one run per session, by lease, and many sessions side by side. `wake` may be called at
 * any time and any number of times; a session that was woken while it ran is looked at once more. A session whose
 * work can't be stored is left alone for a while and then tried again; nothing is given up.
 */
import { ActionCut } from '../agent/turn-deps.ts';
import { runSession, type RunEnd, type RunSessionDeps, type SessionAgent } from '../agent/run-session.ts';
import { sleep, type Clock } from '../lib/clock.ts';
import { retryDelayMs } from '../lib/retry.ts';
import type { SessionEvent } from '../protocol/events.ts';
import type { NodeId, SessionId, TurnId } from '../protocol/ids.ts';
import { StoreError, type Lease, type SessionWrite } from '../store/store.ts';
import type { LiveHub } from './live-hub.ts';

const leaseTtlMs = 30_000;
const sessionsAtOnceMax = 256;
/** How many unfinished sessions one start takes up; more than a machine can hold open anyway. */
const recoveredSessionsMax = 100_000;
/** Crashes already counted before this run; the one that may be counted now comes on top. */
const crashesOfSuspects = 1;
/** A suspect that lives longer than this lets the next one begin beside it. */
const suspectPatienceMs = 60_000;
const troubleDelays = { attemptsMax: Infinity, firstDelayMs: 1_000, delayMaxMs: 30_000 };

export interface SessionDrainDeps extends Omit<RunSessionDeps, 'publish'> {
  readonly owner: NodeId;
  readonly hub: LiveHub;
  /** The agent for the next run of this session, as the configuration wants it now. */
  readonly agentFor: (sessionId: SessionId) => Promise<BorrowedAgent>;
  /** Called after each run: there may be something to deliver. */
  readonly onRan: () => void;
  readonly watchers?: readonly RunWatcher[];
}

/** Looks on while sessions run here. Never throws. */
export interface RunWatcher {
  see(sessionId: SessionId, event: SessionEvent): void;
  /** Nothing runs for this session any more: its turn is closed, or waits for a person, or went to another process. */
  rested(sessionId: SessionId): void;
}

/** An agent in use; nobody closes it before it is given back. */
export interface BorrowedAgent extends SessionAgent {
  /** Idempotent. */
  giveBack(): void;
}

interface Run {
  wokenAgain: boolean;
  action: AbortController;
  /** Aborts once the session is woken. */
  arrival: AbortController;
  /** While it is held. */
  lease: Lease | null;
  done: Promise<void>;
}

export interface SessionDrain {
  wake(sessionId: SessionId): void;
  /** Takes up whatever was left unfinished, by this process or one before it. */
  recover(): Promise<void>;
  /** Ends the session's turn; false if none is open. */
  stop(sessionId: SessionId): Promise<boolean>;
  /** The same, with a word in the log on why; false if this turn does not run here. Throws a `StoreError`. */
  stopBecause(sessionId: SessionId, turnId: TurnId, notice: string): Promise<boolean>;
  /** Writes into a session beside its run, under the run's lease; false if none runs here. Throws a `StoreError`. */
  writeBeside(sessionId: SessionId, writes: readonly SessionWrite[]): Promise<boolean>;
  /** Resolves once nothing runs for this session; at once if nothing does. */
  whenIdle(sessionId: SessionId): Promise<void>;
  counts(): { running: number; queued: number };
  /** Lets actions under way end, cuts those short that take longer than `graceMs`, and gives up all leases. */
  leave(graceMs: number): Promise<void>;
}

export function createSessionDrain(deps: SessionDrainDeps): SessionDrain {
  const running = new Map<SessionId, Run>();
  const queued = new Set<SessionId>();
  /** Timers of sessions that wait for a person. */
  const alarms = new Map<SessionId, () => void>();
  const leaving = new AbortController();
  /** Ends with the suspect turn that was begun last. */
  let suspects: Promise<void> = Promise.resolve();
  let whenIdle: (() => void) | null = null;
  let cancelRenewal: (() => void) | null = null;

  const publish = (sessionId: SessionId, event: SessionEvent) => {
    deps.hub.publish(sessionId, event);
    for (const watcher of deps.watchers ?? []) watcher.see(sessionId, event);
  };

  const startNext = () => {
    for (const sessionId of queued) {
      if (running.size >= sessionsAtOnceMax || leaving.signal.aborted) break;
      queued.delete(sessionId);
      const run: Run = {
        wokenAgain: false,
        action: new AbortController(),
        arrival: new AbortController(),
        lease: null,
        done: Promise.resolve(),
      };
      running.set(sessionId, run);
      scheduleRenewal();
      run.done = drain(sessionId, run).finally(() => {
        running.delete(sessionId);
        for (const watcher of deps.watchers ?? []) watcher.rested(sessionId);
        if (run.wokenAgain) queued.add(sessionId);
        startNext();
        if (running.size === 0) whenIdle?.();
      });
    }
  };

  const scheduleRenewal = () => {
    cancelRenewal ??= deps.clock.setTimer(leaseTtlMs / 3, () => {
      cancelRenewal = null;
      if (running.size === 0) return;
      deps.store
        .renewLeases(deps.owner, leaseTtlMs)
        .catch((error: unknown) => deps.log.error('leases not renewed', { error }));
      scheduleRenewal();
    });
  };

  const drain = async (sessionId: SessionId, run: Run): Promise<void> => {
    for (let failures = 0; ;) {
      try {
        await runOnce(sessionId, run);
        return;
      } catch (error) {
        if (error instanceof StoreError && error.reason === 'lease-lost') {
          deps.log.warn('session has another owner now', { sessionId });
          return;
        }
        failures += 1;
        deps.log.error('session can not go on', { sessionId, failures, error });
        const text = error instanceof StoreError ? error.message : 'Something went wrong inside Talaria; see its log.';
        publish(sessionId, { kind: 'trouble', text });
      }
      try {
        await sleep(deps.clock, retryDelayMs(troubleDelays, failures, deps.random), leaving.signal);
      } catch {
        return;
      }
    }
  };

  /**
   * A turn that was open when the process died twice may be the reason. Such turns run one at a time: should the process
   * die again, it is known of which one, and the innocent are not parked with it.
   */
  const runOnce = async (sessionId: SessionId, run: Run): Promise<void> => {
    const turn = (await deps.store.read.journal(sessionId, Number.MAX_SAFE_INTEGER))?.openTurn ?? null;
    if (turn === null || turn.crashes < crashesOfSuspects) return runLeased(sessionId, run);
    const before = suspects;
    const { promise, resolve } = Promise.withResolvers<void>();
    suspects = promise;
    try {
      await settledWithin(deps.clock, before, suspectPatienceMs, leaving.signal);
      if (!leaving.signal.aborted) await runLeased(sessionId, run);
    } finally {
      resolve();
    }
  };

  const runLeased = async (sessionId: SessionId, run: Run): Promise<void> => {
    const lease = await deps.store.acquireLease(sessionId, deps.owner, leaseTtlMs);
    if (lease === null) return;
    run.lease = lease;
    try {
      run.wokenAgain = false;
      const nextAction = () => {
        if (run.action.signal.aborted && !leaving.signal.aborted) run.action = new AbortController();
        return run.action.signal;
      };
      const nextArrival = () => {
        if (run.arrival.signal.aborted) run.arrival = new AbortController();
        return run.arrival.signal;
      };
      const control = { leaving: leaving.signal, nextAction, nextArrival };
      for (let end: RunEnd = { kind: 'more' }; end.kind === 'more';) {
        const borrowed = await deps.agentFor(sessionId);
        try {
          const ports = { publish: (event: SessionEvent) => publish(sessionId, event), onQueued: deps.onRan };
          end = await runSession({ ...deps, ...ports }, borrowed, lease, control);
        } finally {
          borrowed.giveBack();
        }
        if (end.kind === 'waits') wakeAt(sessionId, end.until);
      }
    } finally {
      run.lease = null;
      await deps.store.releaseLease(lease);
      deps.onRan();
    }
  };

  /** A question has a deadline, also if nobody ever answers. */
  const wakeAt = (sessionId: SessionId, time: number) => {
    alarms.get(sessionId)?.();
    const ring = () => {
      alarms.delete(sessionId);
      wake(sessionId);
    };
    alarms.set(sessionId, deps.clock.setTimer(Math.max(0, time - deps.clock.now()), ring));
  };

  const wake = (sessionId: SessionId) => {
    const run = running.get(sessionId);
    if (run !== undefined) {
      run.wokenAgain = true;
      run.arrival.abort();
    } else queued.add(sessionId);
    startNext();
  };

  const writeBeside = async (sessionId: SessionId, writes: readonly SessionWrite[]) => {
    const lease = running.get(sessionId)?.lease ?? null;
    if (lease === null) return false;
    await deps.store.commit(lease, writes);
    return true;
  };

  const stop = async (sessionId: SessionId) => {
    const stopped = await deps.store.requestStop(sessionId);
    const run = running.get(sessionId);
    run?.action.abort(new ActionCut('stop'));
    // A turn that waits for a person, or is about to, has nobody at work who would see the stop.
    if (stopped) wake(sessionId);
    return stopped;
  };

  return {
    wake,
    async recover() {
      for (const sessionId of await deps.store.read.sessionsWithWork(recoveredSessionsMax)) wake(sessionId);
    },
    stop,
    async stopBecause(sessionId, turnId, notice) {
      const isWritten = await writeBeside(sessionId, [{ verb: 'notice', turnId, text: notice }]);
      return isWritten && stop(sessionId);
    },
    writeBeside,
    whenIdle: (sessionId) => running.get(sessionId)?.done ?? Promise.resolve(),
    counts: () => ({ running: running.size, queued: queued.size }),
    async leave(graceMs) {
      leaving.abort(new ActionCut('leave'));
      queued.clear();
      if (running.size > 0) {
        const idle = new Promise<void>((resolve) => (whenIdle = resolve));
        const cancel = deps.clock.setTimer(graceMs, () => {
          for (const run of running.values()) run.action.abort(new ActionCut('leave'));
        });
        await idle;
        cancel();
      }
      cancelRenewal?.();
      for (const cancel of alarms.values()) cancel();
      alarms.clear();
    },
  };
}

/** Waits for something to end, but not for ever. */
function settledWithin(clock: Clock, event: Promise<void>, limitMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      cancel();
      signal.removeEventListener('abort', end);
      resolve();
    };
    const cancel = clock.setTimer(limitMs, end);
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
    void event.then(end);
  });
}
