/** What commands work with, supplied by whoever composes the gateway. */
import type { Clock } from '../../lib/clock.ts';
import { sleep } from '../../lib/clock.ts';
import type { IdSource } from '../../lib/ids.ts';
import type { Log } from '../../lib/log.ts';
import type { SessionSettings, SettingsQuote, StatusReport } from '../../protocol/api.ts';
import type { NodeId, SessionId } from '../../protocol/ids.ts';
import { StoreError, type Lease, type SessionRecord, type SessionWrite, type Store } from '../../store/store.ts';
import type { Identity } from '../identity.ts';
import type { MayApprove } from '../may-approve.ts';
import type { SessionDrain } from '../session-drain.ts';

/** Commands answer within a second: what takes longer is said to be under way. */
const settleMs = 800;
/** For the end of all turns: between looks, as long as the command waits, and how often after that. */
const endLookMs = 25;
const endWaitMs = 150;
const endLooksMax = 2_400;
const leaseTtlMs = 10_000;
const leaseTriesMax = 5;

/** What one call of a tool changed. */
export interface CheckpointNote {
  readonly number: number;
  readonly tool: string;
  readonly at: number;
  /** `before` is null for a file that was not there. */
  readonly files: readonly { readonly path: string; readonly before: object | null }[];
}

/** What came of connecting to all MCP servers anew. */
export interface McpReloadNote {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly states: readonly {
    readonly name: string;
    readonly state: string;
    readonly tools: number;
    readonly problem: string | null;
  }[];
}

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
  readonly drain: Pick<SessionDrain, 'wake' | 'stop' | 'whenIdle' | 'writeBeside'>;
  readonly status: () => Promise<StatusReport>;
  /** What these settings would mean for the session. Throws an `ApiError` if there is no such model. */
  readonly quote: (session: SessionRecord, settings: SessionSettings) => Promise<SettingsQuote>;
  /** Tears down what the session's tools hold: processes, sandbox. Idempotent; waits for a turn under way to end. */
  readonly hardClose: (sessionId: SessionId) => Promise<void>;
  /** What the agent remembers and this person may read; empty if nothing. */
  readonly memory: (identity: Identity) => Promise<string>;
  /** Who may answer where the agent asks for permission; by default the owner alone. */
  readonly mayApprove?: MayApprove;
  /** What files were before tools changed them; undefined if that is not kept. */
  readonly checkpoints?: {
    /** Newest first. */
    list(sessionId: SessionId): Promise<readonly CheckpointNote[]>;
    /** Puts files back as they were before one. Idempotent. Throws the file system's errors. */
    rollBack(
      sessionId: SessionId,
      to: number,
      isForced: boolean,
    ): Promise<
      | { readonly kind: 'no-such-checkpoint' }
      | { readonly kind: 'changed-since'; readonly files: readonly string[] }
      | { readonly kind: 'done'; readonly number: number | null; readonly files: readonly string[] }
    >;
  };
  /** Connects to the MCP servers anew, within this time as far as they answer; undefined if there are none at all. */
  readonly reloadMcp?: (waitMs: number) => Promise<McpReloadNote>;
  /** The skills that are offered, and what using one says to the model; undefined if there are none. */
  readonly skills?: {
    list(): Promise<readonly { readonly name: string; readonly description: string }[]>;
    message(name: string, argument: string): string;
  };
  /** What role `user` may command on this channel; null: as the commands themselves say. */
  readonly userCommands: (channel: string) => ReadonlySet<string> | null;
}

export type LeaseServices = Pick<CommandServices, 'store' | 'clock' | 'holder' | 'drain'>;

/** Ends the session's turn; false if it goes on for longer than a command may wait. */
export async function endTurn(services: CommandServices, session: SessionRecord): Promise<boolean> {
  if (session.turn !== 'open') return true;
  const { drain, store } = services;
  await drain.stop(session.id);
  await atMost(services, drain.whenIdle(session.id));
  return (await store.read.session(session.id))?.turn !== 'open';
}

/**
 * Ends the session's turn and those that begin with what waits behind it: nobody wants them answered any more. Goes on with
 * that when the command has been answered.
 */
export async function endAllTurns(services: CommandServices, session: SessionRecord): Promise<void> {
  const { drain, store } = services;
  const end = async () => {
    for (let looks = 0; looks < endLooksMax; looks += 1) {
      await drain.stop(session.id);
      const journal = await store.read.journal(session.id, Number.MAX_SAFE_INTEGER);
      if (journal === null || (journal.openTurn === null && journal.waiting.length === 0)) return;
      await atMost(services, drain.whenIdle(session.id), endLookMs);
    }
  };
  const ending = end().catch((error: unknown) =>
    services.log.error('the turns of a session could not be ended', { sessionId: session.id, error }),
  );
  await atMost(services, ending, endWaitMs);
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
  services: LeaseServices,
  sessionId: SessionId,
  work: (lease: Lease) => Promise<T>,
  triesMax = leaseTriesMax,
): Promise<T | 'busy'> {
  const { store, drain, holder } = services;
  for (let tries = 0; tries < triesMax; tries += 1) {
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

/**
 * Writes what fits in the middle of a turn, too: beside a run under way, or as the owner of a session that rests. False if
 * another process is at work in it for longer than a command may wait.
 */
export async function writeAnytime(
  services: LeaseServices,
  sessionId: SessionId,
  writes: readonly SessionWrite[],
): Promise<boolean> {
  const { store, drain } = services;
  for (let tries = 0; tries < leaseTriesMax; tries += 1) {
    try {
      if (await drain.writeBeside(sessionId, writes)) return true;
    } catch (error) {
      // The run has ended since.
      if (!(error instanceof StoreError) || error.reason !== 'lease-lost') throw error;
    }
    const done = await withLease(services, sessionId, (lease) => store.commit(lease, writes), 1);
    if (done !== 'busy') return true;
  }
  return false;
}

async function atMost(
  { clock }: Pick<CommandServices, 'clock'>,
  event: Promise<void>,
  limitMs = settleMs,
): Promise<void> {
  const over = new AbortController();
  const timeout = sleep(clock, limitMs, over.signal).catch(() => {});
  await Promise.race([event, timeout]);
  over.abort();
}
