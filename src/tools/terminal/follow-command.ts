/**
 * Stays with a command until it ends, whoever started its supervisor: hands on what it prints, ends it at its deadline
 * and on a stop. When it returns, the command has ended; only what the command itself put into the background may go on.
 * It never throws for anything a command can do, and knows nothing of how a result is worded.
 */
import { sleep, type Clock } from '../../lib/clock.ts';
import type { CallSpool, CommandExit, Cut } from './call-spool.ts';
import { endAll, endCommand, isSupervised, liveGroup } from './end-command.ts';
import { followOutput, readToEnd, type OutputFollower } from './output-follower.ts';
import { hostState, type HostState, type SessionHost } from './session-host.ts';
import type { StartedSupervisor } from './start-supervisor.ts';

/** How long output may follow after the command's own end before what still holds it open counts as background. */
const drainMs = 200;
/** A process that even SIGKILL does not end at once hangs in the kernel; nobody waits for that. */
const killedWaitMs = 2_000;
/** On a busy machine the supervisor may need a while for its own end. */
const supervisorEndMs = 2_000;
const firstLookMs = 10;
const lookMaxMs = 80;

export interface FollowRequest {
  /** From now. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Whole characters only. Not called after the result is there. */
  readonly onText: (text: string) => void;
}

export type CommandResult =
  | {
      readonly kind: 'ended';
      /** Null if it was ended so hard that it left none. */
      readonly exit: CommandExit | null;
      /** Why it was ended from outside, or null if it ended by itself. */
      readonly cut: Cut | null;
      /** Something still holds its output open and goes on. */
      readonly leftRunning: boolean;
    }
  /** Nobody is left who could tell how it ended. */
  | { readonly kind: 'lost' }
  /** Its host was gone before it took the call. */
  | { readonly kind: 'not-begun'; readonly host: Exclude<HostState, { kind: 'alive' }> };

/** `host`: who runs it, if not the supervisor itself. */
export async function followCommand(
  clock: Clock,
  spool: CallSpool,
  own: StartedSupervisor | null,
  host: SessionHost | null,
  request: FollowRequest,
): Promise<CommandResult> {
  const output = followOutput(spool.outputPath, request.onText);
  const watch = watchFor(clock, request, own);
  const isGone = () => isSupervisorGone(spool, own);
  const isMissed = missedBy(clock, spool, host);
  try {
    const cut = await untilOver(
      clock,
      spool,
      output,
      watch,
      async () => (await isGone()) || (await isMissed()) !== null,
    );
    const missing = await isMissed();
    if (missing !== null) {
      await endAll(clock, spool);
      return { kind: 'not-begun', host: missing };
    }
    if (cut !== null) {
      await spool.writeCut(cut);
      await endCommand(clock, spool, host);
    }
    return await concluded(clock, spool, { isGone, output, wasCut: cut !== null });
  } finally {
    watch.stop();
    own?.letGo();
    await output.close();
  }
}

/** Returns why the command has to be ended, or null if it is over. */
async function untilOver(
  clock: Clock,
  spool: CallSpool,
  output: OutputFollower,
  watch: Watch,
  isGone: () => Promise<boolean>,
): Promise<Cut | null> {
  for (let waitMs = firstLookMs; ;) {
    // What has ended can't be ended: a limit that passed after it, or a stop, changes nothing about it.
    if ((await spool.readExit()) !== null || (await isGone())) return null;
    const cut = watch.cut();
    if (cut !== null) return cut;
    const read = await output.readOn();
    if (read === 'part') continue;
    waitMs = read === 'all' ? firstLookMs : Math.min(2 * waitMs, lookMaxMs);
    await watch.pause(clock, waitMs);
  }
}

interface Ending {
  readonly isGone: () => Promise<boolean>;
  readonly output: OutputFollower;
  readonly wasCut: boolean;
}

async function concluded(clock: Clock, spool: CallSpool, { isGone, output, wasCut }: Ending): Promise<CommandResult> {
  if (wasCut) await isWithin(clock, killedWaitMs, async () => (await spool.readExit()) !== null || (await isGone()));
  const isDrained =
    (await isWithin(clock, drainMs, isGone)) ||
    (!(await goesOn(spool)) && (await isWithin(clock, supervisorEndMs, isGone)));
  await readToEnd(output);
  const [exit, cut] = [await spool.readExit(), await spool.readCut()];
  if (exit === null && cut === null) return { kind: 'lost' };
  return { kind: 'ended', exit, cut, leftRunning: !isDrained };
}

/** Something of the command itself may still be there. */
async function goesOn(spool: CallSpool): Promise<boolean> {
  const leftRunning = (await spool.readExit())?.leftRunning ?? null;
  return leftRunning ?? (await liveGroup(spool)) !== null;
}

/** What became of the host, once it is certain that it will never begin the command; null until then. */
export function missedBy(clock: Clock, spool: CallSpool, host: SessionHost | null) {
  let hasBegun = host === null;
  return async (): Promise<Exclude<HostState, { kind: 'alive' }> | null> => {
    if (hasBegun || host === null) return null;
    // In this order: what it began before it went is not missed.
    const state = await hostState(clock, host);
    hasBegun = (await spool.readBegun()) !== null;
    return hasBegun || state.kind === 'alive' ? null : state;
  };
}

async function isSupervisorGone(spool: CallSpool, own: StartedSupervisor | null): Promise<boolean> {
  if (own !== null) {
    if (!own.hasExited()) return false;
    const claim = await spool.readClaim();
    // Its own supervisor may have come second: then the first one is looked at.
    if (claim === null || claim === 'incomplete' || claim.pid === own.pid) return true;
  }
  return !(await isSupervised(spool));
}

interface Watch {
  cut(): Cut | null;
  /** Waits, but no longer than until something happens. */
  pause(clock: Clock, waitMs: number): Promise<void>;
  stop(): void;
}

function watchFor(clock: Clock, { timeoutMs, signal }: FollowRequest, own: StartedSupervisor | null): Watch {
  let cut: Cut | null = null;
  let wake: (() => void) | null = null;
  /** Something happened while nobody waited. */
  let isDue = false;
  const ring = () => {
    if (wake === null) isDue = true;
    else wake();
  };
  const happen = (why: Cut) => {
    cut ??= why;
    ring();
  };
  const onAbort = () => happen('abort');
  const cancelTimer = clock.setTimer(timeoutMs, () => happen('timeout'));
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort);
  void own?.exited.then(ring);
  return {
    cut: () => cut,
    pause: (pauseClock, waitMs) =>
      new Promise((resolve) => {
        const end = () => {
          cancel();
          wake = null;
          isDue = false;
          resolve();
        };
        const cancel = pauseClock.setTimer(waitMs, end);
        if (isDue) end();
        else wake = end;
      }),
    stop() {
      cancelTimer();
      signal.removeEventListener('abort', onAbort);
    },
  };
}

export async function isWithin(clock: Clock, limitMs: number, holds: () => Promise<boolean>): Promise<boolean> {
  const deadline = clock.now() + limitMs;
  for (let waitMs = 1; !(await holds()); waitMs = Math.min(2 * waitMs, firstLookMs)) {
    if (clock.now() >= deadline) return false;
    await sleep(clock, waitMs);
  }
  return true;
}
