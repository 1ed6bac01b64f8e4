/**
 * The tool `terminal`: a shell command in the workspace, and what it printed. The command has the rights of the user
 * that runs Talaria; keeping it in bounds is a sandbox's work, not this tool's.
 */
import { stat } from 'node:fs/promises';
import * as z from 'zod/mini';
import type { Clock } from '../../lib/clock.ts';
import { defineTool } from '../define-tool.ts';
import { createEscapeStripper } from '../escape-stripper.ts';
import { createLineFolder } from '../line-folder.ts';
import { createLiveOutput } from '../live-output.ts';
import { createOutputBound } from '../output-bound.ts';
import type { Tool, ToolContext, ToolOutcome } from '../tool.ts';
import { placeInWorkspace } from '../workspace-path.ts';
import { commandEnvironment } from './command-environment.ts';
import { runCommand, type CommandRequest, type CommandResult } from './run-command.ts';

const timeoutMaxS = 3_600;

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

export function createTerminalTool(deps: TerminalDeps): Tool<z.output<typeof schema>> {
  const environment = commandEnvironment(deps.env);
  return defineTool({
    name: 'terminal',
    description:
      'Runs a bash command in the workspace and returns what it printed (stdout and stderr) and its exit code if not 0. ' +
      'Each call is a new shell. Long output is cut in the middle.',
    effect: 'write',
    replay: 'never',
    schema,
    async run(input, context) {
      const folder = await folderToRunIn(context.workspace, input.cwd ?? '.');
      if (folder.kind === 'refused') return failed(folder.problem);
      if (input.command.includes('\0')) return failed('The command contains a NUL character. Leave it out.');
      const timeoutMs = input.timeout_s === undefined ? deps.defaultTimeoutMs : input.timeout_s * 1000;
      const { command } = input;
      return runAndTell(deps.clock, { command, cwd: folder.path, environment, timeoutMs }, context);
    },
  });
}

async function runAndTell(
  clock: Clock,
  request: Omit<CommandRequest, 'signal' | 'onText'>,
  context: ToolContext,
): Promise<ToolOutcome> {
  if (context.signal.aborted) return failed('The command was not started: the turn was stopped before.');
  const stripper = createEscapeStripper();
  const folder = createLineFolder();
  const kept = createOutputBound();
  const live = createLiveOutput({ clock, onOutput: context.onOutput });
  const onText = (text: string) => {
    const clean = stripper.push(text);
    kept.push(folder.push(clean));
    // Who looks on sees a redrawn line as another line: what it replaced can't be taken back.
    live.push(clean.replaceAll('\r', '\n').replaceAll('\b', ''));
  };
  const result = await runCommand(clock, { ...request, signal: context.signal, onText });
  kept.push(folder.end());
  live.end();
  return outcomeOf(result, kept.text().trimEnd(), request.timeoutMs);
}

function outcomeOf(result: CommandResult, output: string, timeoutMs: number): ToolOutcome {
  if (result.kind === 'not-started') return failed(startProblem(result.error));
  const notes: string[] = [];
  if (result.cut === 'timeout') {
    notes.push(`[ended after ${timeoutMs / 1000} s, its time limit; timeout_s can be up to ${timeoutMaxS}]`);
  } else if (result.cut === 'abort') notes.push('[stopped before it finished]');
  else if (result.signal !== null) notes.push(`[ended by ${result.signal}]`);
  else if (result.exitCode !== 0) notes.push(`[exit code ${result.exitCode}]`);
  if (result.leftRunning) notes.push('[something it started still runs in the background; its output is not shown]');

  const lines = output === '' ? notes : [output, ...notes];
  const text = lines.length === 0 ? '[no output]' : lines.join('\n');
  return { kind: result.cut === null ? 'finished' : 'failed', text };
}

function startProblem(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  switch (code) {
    case 'E2BIG':
      return 'The command is too long for the system. Write it to a file with write_file and run that file.';
    case 'EAGAIN':
    case 'ENOMEM':
    case 'EMFILE':
    case 'ENFILE':
      return `The command could not be started: the system has no room for another process (${code}). Try again later.`;
    default:
      return `The command could not be started: ${error instanceof Error ? error.message : String(error)}.`;
  }
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
