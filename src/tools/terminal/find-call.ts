/**
 * What became of a call that an earlier process began, as its folder tells. A command is never started twice: what was
 * begun is on record before it begins, and whoever starts it must win the claim.
 */
import { sleep, type Clock } from '../../lib/clock.ts';
import type { ToolOutcome } from '../tool.ts';
import type { CallSpool, SpooledRequest } from './call-spool.ts';
import type { LossReason } from './command-outcome.ts';
import { isSupervised } from './end-command.ts';
import { openHost, type SessionHost } from './session-host.ts';
import { bootId } from '../process-identity.ts';
import { isPruned } from './prune-spools.ts';

/** A supervisor says who it is in the moment it claims; one that has not after this time was killed in that moment. */
const claimMs = 1_000;
const lookMs = 10;

export type FoundCall =
  | { readonly kind: 'told'; readonly outcome: ToolOutcome }
  | { readonly kind: 'never-begun' }
  /** Finished or still running: either way there is something to follow. */
  | { readonly kind: 'begun'; readonly request: SpooledRequest; readonly host: SessionHost | null }
  | { readonly kind: 'lost'; readonly reason: LossReason };

export async function findCall(clock: Clock, spoolFolder: string, spool: CallSpool): Promise<FoundCall> {
  const outcome = await spool.readOutcome();
  if (outcome !== null) return { kind: 'told', outcome };
  const request = await spool.readRequest();
  if (request === null) {
    if (await isPruned(spoolFolder, spool.callId)) return { kind: 'lost', reason: 'record-removed' };
    return { kind: 'never-begun' };
  }
  const host = request.host === undefined ? null : openHost(spoolFolder, request.host);
  const claim = await claimOnceComplete(clock, spool);
  const boot = await bootId();
  if (claim === null) {
    // The request was on the disk before anything began; a claim after it may have been lost with the power.
    return request.boot === boot ? { kind: 'never-begun' } : { kind: 'lost', reason: 'machine-restarted' };
  }
  if ((await spool.readExit()) !== null) return { kind: 'begun', request, host };
  if (request.boot !== boot || (claim !== 'incomplete' && claim.boot !== boot)) {
    return { kind: 'lost', reason: 'machine-restarted' };
  }
  if (claim !== 'incomplete' && (await isSupervised(spool))) return { kind: 'begun', request, host };
  // It may have ended, or been ended, between the two looks.
  if ((await spool.readExit()) !== null || (await spool.readCut()) !== null) return { kind: 'begun', request, host };
  return { kind: 'lost', reason: 'supervisor-gone' };
}

async function claimOnceComplete(clock: Clock, spool: CallSpool): ReturnType<CallSpool['readClaim']> {
  const deadline = clock.now() + claimMs;
  for (;;) {
    const claim = await spool.readClaim();
    if (claim !== 'incomplete' || clock.now() >= deadline) return claim;
    await sleep(clock, lookMs);
  }
}
