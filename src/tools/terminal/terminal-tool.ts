/**
 * The tool `terminal`: a shell command in the workspace, and what it printed. The command has the rights of the user
 * that runs Talaria; keeping it in bounds is a sandbox's work, not this tool's. It runs under a supervisor that outlives
 * this process, and everything about it is in the call's folder of the spool, where `attach` finds it.
 */
import { stat } from 'node:fs/promises';
import * as z from 'zod/mini';
import type { Clock } from '../../lib/clock.ts';
import { defineTool } from '../define-tool.ts';
import type { Tool, ToolContext, ToolOutcome } from '../tool.ts';
import { placeInWorkspace } from '../workspace-path.ts';
import { callSpool, type CallSpool } from './call-spool.ts';
import { commandEnvironment } from './command-environment.ts';
import { lostText, outcomeOf, startProblem, timeoutMaxS, type LossReason } from './command-outcome.ts';
import { endCommand } from './end-command.ts';
import { findCall } from './find-call.ts';
import { followCommand } from './follow-command.ts';
import { collectOutput } from './output-collector.ts';
import { followOutput, readToEnd } from './output-follower.ts';
import { bootId } from './process-identity.ts';
import { startSupervisor, type StartedSupervisor } from './start-supervisor.ts';

/** After its deadline a command is ended from here; the supervisor does it this much later, if nobody did. */
const supervisorDelayS = 5;

export interface TerminalDeps {
  readonly clock: Clock;
  /** For a call that names no time of its own. */
  readonly defaultTimeoutMs: number;
  /** The environment to choose from; only harmless names are passed on. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

const schema = z.strictObject({
  command: z.string().check(z.minLength(1), z.describe('A bash command line. Standard input is empty.')),
  timeout_s: z.optional(
    z.number().check(z.gte(1), z.lte(timeoutMaxS), z.describe('Seconds until the command is ended.')),
  ),
  cwd: z.optional(z.string().check(z.describe('Folder to run in, relative to the workspace. Default: the workspace.'))),
});

type TerminalInput = z.output<typeof schema>;

export function createTerminalTool(deps: TerminalDeps): Tool<TerminalInput> {
  return defineTool({
    name: 'terminal',
    description:
      'Runs a bash command in the workspace and returns what it printed (stdout and stderr) and its exit code if not 0. ' +
      'Each call is a new shell. Long output is cut in the middle.',
    effect: 'write',
    replay: 'attach',
    schema,
    run: (input, context) => begin(deps, input, context, 'failed'),
    attach: (input, context) => takeUp(deps, input, context),
    sideBySide: () => 'alone',
  });
}

async function begin(
  deps: TerminalDeps,
  input: TerminalInput,
  context: ToolContext,
  ifLost: 'failed' | 'unknown',
): Promise<ToolOutcome> {
  const place = await folderToRunIn(context.workspace, input.cwd ?? '.');
  if (place.kind === 'refused') return failed(place.problem);
  const { command } = input;
  if (command.includes('\0')) return failed('The command contains a NUL character. Leave it out.');
  if (context.signal.aborted) return failed('The command was not started: the turn was stopped before.');

  const timeoutMs = input.timeout_s === undefined ? deps.defaultTimeoutMs : input.timeout_s * 1000;
  const spool = callSpool(context.spoolFolder, context.callId);
  const deadlineMs = deps.clock.now() + timeoutMs;
  try {
    await spool.writeRequest({ command, cwd: place.path, timeoutMs, deadlineMs, boot: await bootId() });
  } catch (error) {
    return failed(startProblem(error));
  }
  const environment = commandEnvironment(deps.env);
  const endAfterS = Math.ceil(timeoutMs / 1000) + supervisorDelayS;
  const started = await startSupervisor(spool, { command, cwd: place.path, environment, endAfterS });
  if (started.kind === 'not-started') return told(spool, failed(startProblem(started.error)));
  return follow(deps.clock, spool, started.supervisor, { timeoutMs, leftMs: timeoutMs, ifLost }, context);
}

async function takeUp(deps: TerminalDeps, input: TerminalInput, context: ToolContext): Promise<ToolOutcome> {
  const { clock } = deps;
  const spool = callSpool(context.spoolFolder, context.callId);
  const found = await findCall(clock, context.spoolFolder, spool);
  switch (found.kind) {
    case 'told':
      return found.outcome;
    case 'never-begun':
      return begin(deps, input, context, 'unknown');
    case 'begun': {
      const { timeoutMs, deadlineMs } = found.request;
      const leftMs = Math.min(timeoutMs, Math.max(0, deadlineMs - clock.now()));
      return follow(clock, spool, null, { timeoutMs, leftMs, ifLost: 'unknown' }, context);
    }
    case 'lost':
      return lost(clock, spool, found.reason, context);
  }
}

interface Following {
  /** As it was when the command began. */
  readonly timeoutMs: number;
  readonly leftMs: number;
  /** What it is called if the supervisor is lost: only who attaches may speak of an unknown outcome. */
  readonly ifLost: 'failed' | 'unknown';
}

async function follow(
  clock: Clock,
  spool: CallSpool,
  own: StartedSupervisor | null,
  { timeoutMs, leftMs, ifLost }: Following,
  context: ToolContext,
): Promise<ToolOutcome> {
  const output = collectOutput(clock, context.onOutput);
  const { signal } = context;
  const result = await followCommand(clock, spool, own, { timeoutMs: leftMs, signal, onText: output.push });
  const kept = output.end(spool.outputPath);
  if (result.kind === 'ended') return told(spool, outcomeOf(result, kept, timeoutMs));
  await endCommand(clock, spool);
  return told(spool, { kind: ifLost, text: lostText(kept, 'supervisor-gone') });
}

async function lost(clock: Clock, spool: CallSpool, reason: LossReason, context: ToolContext): Promise<ToolOutcome> {
  const output = collectOutput(clock, context.onOutput);
  const file = followOutput(spool.outputPath, output.push);
  await readToEnd(file);
  await file.close();
  const text = lostText(output.end(spool.outputPath), reason);
  if (reason === 'supervisor-gone') await endCommand(clock, spool);
  return told(spool, { kind: 'unknown', text });
}

/** Whoever asks again is told the same. */
async function told(spool: CallSpool, outcome: ToolOutcome): Promise<ToolOutcome> {
  // Without it the outcome is found anew from the same files; that a disk is full must not take it away.
  await spool.writeOutcome(outcome).catch(() => {});
  return outcome;
}

async function folderToRunIn(workspace: string, cwd: string): ReturnType<typeof placeInWorkspace> {
  const place = await placeInWorkspace(workspace, cwd);
  if (place.kind === 'refused') return place;
  // Without this look, a missing folder would be reported as a missing shell.
  const found = await stat(place.path).catch(() => null);
  if (found?.isDirectory() === true) return place;
  const problem = found === null ? 'does not exist' : 'is not a folder';
  return { kind: 'refused', problem: `The command was not started: the folder ${place.shown} ${problem}.` };
}

function failed(text: string): ToolOutcome {
  return { kind: 'failed', text };
}
