/**
 * Runs what a call wishes for and stays with it until its end, or takes up again what an earlier process began. Nothing
 * begins without a trace, nothing is begun twice: the request is on the disk before a supervisor is started, and only
 * the supervisor that wins the claim starts anything. Whether it may run has been decided before.
 */
import { mkdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { ToolContext, ToolOutcome } from '../tool.ts';
import { beginning } from './background-outcome.ts';
import { beginCommand, type Begun, type RunDeps } from './begin-command.ts';
import { callSpool, type CallSpool } from './call-spool.ts';
import { lostText, outcomeOf, type LossReason } from './command-outcome.ts';
import type { CommandWish } from './command-wish.ts';
import { endCommand } from './end-command.ts';
import { findCall } from './find-call.ts';
import { followCommand, type CommandResult } from './follow-command.ts';
import { collectOutput } from './output-collector.ts';
import { followOutput, readToEnd } from './output-follower.ts';
import { protectedNote } from './protected-note.ts';
import { hostState, openHost, readSpec, type SessionHost } from './session-host.ts';
import type { StartedSupervisor } from './start-supervisor.ts';

/** A host that leaves in the moment it is needed is replaced; more than that is no accident. */
const attemptsMax = 3;

/** Only who attaches may speak of an unknown outcome. */
export type IfLost = 'failed' | 'unknown';

export async function runCommand(
  deps: RunDeps,
  wish: CommandWish,
  context: ToolContext,
  ifLost: IfLost,
): Promise<ToolOutcome> {
  if (context.signal.aborted) return failed('The command was not started: the turn was stopped before.');
  const spool = callSpool(context.spoolFolder, context.callId);
  for (let attempt = 1; ; attempt++) {
    const begun = await beginCommand(deps, wish, context, spool);
    if (begun.kind === 'not-started') return told(spool, failed(begun.problem));
    const outcome = await follow(deps, spool, begun.supervisor, { ...begun, ifLost }, context);
    if (outcome.kind !== 'again') return outcome;
    if (attempt === attemptsMax)
      return told(spool, failed('The sandbox ended again and again before the command began.'));
    // Nothing of it began, and the supervisor is gone: the claim is free again.
    await rm(join(spool.folder, 'claim'), { force: true });
  }
}

/** What an earlier process began, or what `begin` makes of a call that never did. */
export async function takeUp(
  deps: RunDeps,
  context: ToolContext,
  anew: () => Promise<ToolOutcome>,
): Promise<ToolOutcome> {
  const { clock } = deps;
  const spool = callSpool(context.spoolFolder, context.callId);
  const found = await findCall(clock, context.spoolFolder, spool);
  switch (found.kind) {
    case 'told':
      return found.outcome;
    case 'never-begun':
      return anew();
    case 'begun': {
      const { request, host } = found;
      const outcome = await follow(deps, spool, null, { request, host, notes: [], ifLost: 'unknown' }, context);
      if (outcome.kind !== 'again') return outcome;
      await rm(join(spool.folder, 'claim'), { force: true });
      return anew();
    }
    case 'lost':
      return lost(deps, spool, found.reason, context);
  }
}

async function follow(
  deps: RunDeps,
  spool: CallSpool,
  own: StartedSupervisor | null,
  { request, host, notes, ifLost }: Begun & { readonly ifLost: IfLost },
  context: ToolContext,
): Promise<ToolOutcome | { readonly kind: 'again' }> {
  const { clock } = deps;
  const { timeoutMs, deadlineMs } = request;
  if (request.process !== undefined) {
    own?.letGo();
    const started = await beginning(clock, spool, host, { id: request.process, notes });
    if (started.kind === 'not-begun') return missed(spool, started, ifLost);
    deps.onBackground(context.spoolFolder, request.process);
    return told(spool, started);
  }
  const output = collectOutput(clock, context.onOutput);
  const leftMs = own !== null ? timeoutMs : Math.min(timeoutMs, Math.max(0, deadlineMs - clock.now()));
  const following = { timeoutMs: leftMs, signal: context.signal, onText: output.push };
  const result = await followCommand(clock, spool, own, host, following);
  const kept = output.end(spool.outputPath);
  switch (result.kind) {
    case 'not-begun':
      return missed(spool, result, ifLost);
    case 'ended': {
      const tookMs = await durationMs(spool, deadlineMs - timeoutMs);
      const hint = await hintFor(host, result, kept.output);
      const outcome = outcomeOf(result, kept, { timeoutMs, tookMs, notes, hint });
      return told(spool, request.isOnline === true ? { ...outcome, ...online(outcome.kind) } : outcome);
    }
    case 'lost': {
      const isHostGone = host !== null && (await hostState(clock, host)).kind !== 'alive';
      await endCommand(clock, spool, host);
      return told(spool, { kind: ifLost, text: lostText(kept, isHostGone ? 'sandbox-gone' : 'supervisor-gone') });
    }
  }
}

/** Only who runs in a sandbox meets what that protects. */
async function hintFor(
  host: SessionHost | null,
  { exit, cut }: Extract<CommandResult, { kind: 'ended' }>,
  output: string,
): Promise<string | null> {
  if (host === null || cut !== null || exit === null || exit.code === 0) return null;
  const note = protectedNote(output);
  return note === null || (await readSpec(host))?.level === 'none' ? null : note;
}

function online(kind: 'finished' | 'failed') {
  return kind === 'finished' ? { untrusted: 'web' as const } : {};
}

async function missed(
  spool: CallSpool,
  { host }: Extract<CommandResult, { kind: 'not-begun' }>,
  ifLost: IfLost,
): Promise<ToolOutcome | { readonly kind: 'again' }> {
  switch (host.kind) {
    case 'left':
      return { kind: 'again' };
    case 'not-started': {
      const reason = host.log === '' ? '' : ` (${host.log})`;
      return told(spool, failed(`The command was not run: the session's sandbox could not be started${reason}.`));
    }
    case 'gone':
      // It may have begun in the very moment in which it went.
      return told(spool, { kind: ifLost, text: lostText({ output: '', wholeOutputPath: null }, 'sandbox-gone') });
  }
}

async function lost(deps: RunDeps, spool: CallSpool, reason: LossReason, context: ToolContext): Promise<ToolOutcome> {
  const output = collectOutput(deps.clock, context.onOutput);
  const file = followOutput(spool.outputPath, output.push);
  await readToEnd(file);
  await file.close();
  const text = lostText(output.end(spool.outputPath), reason);
  if (reason === 'supervisor-gone') await endCommand(deps.clock, spool, await hostOf(spool, context.spoolFolder));
  return told(spool, { kind: 'unknown', text });
}

async function hostOf(spool: CallSpool, spoolFolder: string): Promise<SessionHost | null> {
  const name = (await spool.readRequest())?.host;
  return name === undefined ? null : openHost(spoolFolder, name);
}

/** From its request to its exit code. */
async function durationMs(spool: CallSpool, startedAt: number): Promise<number> {
  const exit = await stat(join(spool.folder, 'exit')).catch(() => null);
  return exit === null ? 0 : exit.mtimeMs - startedAt;
}

/** Whoever asks again is told the same. */
async function told(spool: CallSpool, outcome: ToolOutcome): Promise<ToolOutcome> {
  // Without it the outcome is found anew from the same files; that a disk is full must not take it away.
  await mkdir(spool.folder, { recursive: true, mode: 0o700 }).catch(() => {});
  await spool.writeOutcome(outcome).catch(() => {});
  return outcome;
}

function failed(text: string): ToolOutcome {
  return { kind: 'failed', text };
}
