/** What commands work with, supplied by whoever composes the gateway. */
import type { Clock } from '../../lib/clock.ts';
import { sleep } from '../../lib/clock.ts';
import type { IdSource } from '../../lib/ids.ts';
import type { Log } from '../../lib/log.ts';
import type { SessionSettings, SettingsQuote, StatusReport } from '../../protocol/api.ts';
import type { NodeId, SessionId } from '../../protocol/ids.ts';
import type { Lease, SessionRecord, Store } from '../../store/store.ts';
import type { Identity } from '../identity.ts';
import type { SessionDrain } from '../session-drain.ts';

/** Commands answer within a second: what takes longer is said to be under way. */
const settleMs = 800;
const leaseTtlMs = 10_000;
const leaseTriesMax = 5;

export interface CommandServices {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly log: Log;
  /**
   * Under which commands hold a lease. Not the drain's: a run under way must keep its own, and a command that comes in
   * between waits for it.
   */
  readonly holder: NodeId;
  readonly drain: Pick<SessionDrain, 'wake' | 'stop' | 'whenIdle'>;
  readonly status: () => Promise<StatusReport>;
  /** What these settings would mean for the session. Throws an `ApiError` if there is no such model. */
  readonly quote: (session: SessionRecord, settings: SessionSettings) => Promise<SettingsQuote>;
  /** Tears down what the session's tools hold: processes, sandbox. Idempotent; waits for a turn under way to end. */
  readonly hardClose: (sessionId: SessionId) => Promise<void>;
  /** What the agent remembers and this person may read; empty if nothing. */
  readonly memory: (identity: Identity) => Promise<string>;
  /** What role `user` may command on this channel; null: as the commands themselves say. */
  readonly userCommands: (channel: string) => ReadonlySet<string> | null;
}

/** Ends the session's turn; false if it goes on for longer than a command may wait. */
export async function endTurn(services: CommandServices, session: SessionRecord): Promise<boolean> {
  if (session.turn !== 'open') return true;
  const { drain, store } = services;
  await drain.stop(session.id);
  await atMost(services, drain.whenIdle(session.id));
  return (await store.read.session(session.id))?.turn !== 'open';
}

/** Begins to tear down what the session's tools hold, and waits for the end of it as long as a command may. */
export async function closeTools(services: CommandServices, sessionId: SessionId): Promise<void> {
  const closing = services
    .hardClose(sessionId)
    .catch((error: unknown) => services.log.error('a session could not be closed for good', { sessionId, error }));
  await atMost(services, closing);
}

/** Does something that only a session's owner may; `busy` if somebody else is that for longer than a command may wait. */
export async function withLease<T>(
  services: CommandServices,
  sessionId: SessionId,
  work: (lease: Lease) => Promise<T>,
): Promise<T | 'busy'> {
  const { store, drain, holder } = services;
  for (let tries = 0; tries < leaseTriesMax; tries += 1) {
    const lease = await store.acquireLease(sessionId, holder, leaseTtlMs);
    if (lease === null) {
      await atMost(services, drain.whenIdle(sessionId), settleMs / leaseTriesMax);
      continue;
    }
    try {
      return await work(lease);
    } finally {
      await store.releaseLease(lease);
      // A run that found the session held has gone away again. It also shows what was written.
      drain.wake(sessionId);
    }
  }
  return 'busy';
}

async function atMost({ clock }: CommandServices, event: Promise<void>, limitMs = settleMs): Promise<void> {
  const over = new AbortController();
  const timeout = sleep(clock, limitMs, over.signal).catch(() => {});
  await Promise.race([event, timeout]);
  over.abort();
}
