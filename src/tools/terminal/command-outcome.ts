/** What the model is told about a command: what it printed, and in brackets what the output does not say. */
import { constants } from 'node:os';
import type { ToolOutcome } from '../tool.ts';
import type { CommandExit } from './call-spool.ts';
import type { CommandResult } from './follow-command.ts';
import { timeoutMaxS } from './terminal-schema.ts';

/** A command that took longer is told how long. */
const longMs = 10_000;

export interface Told {
  /** Within its limit. */
  readonly output: string;
  /** Where all of it is, if something was left out. */
  readonly wholeOutputPath: string | null;
}

export function outcomeOf(
  result: Extract<CommandResult, { kind: 'ended' }>,
  told: Told,
  more: {
    readonly timeoutMs: number;
    readonly tookMs: number;
    readonly notes: readonly string[];
    /** What helps to understand a failure. */
    readonly hint: string | null;
  },
): Extract<ToolOutcome, { kind: 'finished' | 'failed' }> {
  const { timeoutMs, tookMs } = more;
  const notes: string[] = [];
  if (result.cut === 'timeout') {
    notes.push(`[ended after ${timeoutMs / 1000} s, its time limit; timeout_s can be up to ${timeoutMaxS}]`);
  } else if (result.cut === 'abort') notes.push('[stopped before it finished]');
  else if (result.exit !== null) notes.push(...exitNotes(result.exit));
  if (more.hint !== null) notes.push(more.hint);
  if (result.cut === null && tookMs >= longMs) notes.push(`[took ${Math.round(tookMs / 1000)} s]`);
  if (result.leftRunning) notes.push('[something it started still runs in the background; its output is not shown]');
  return {
    kind: result.cut === null ? 'finished' : 'failed',
    text: [...more.notes, withNotes(told, notes)].join('\n'),
  };
}

export type LossReason = keyof typeof lossReasons;

const lossReasons = {
  'machine-restarted': 'the machine went down meanwhile',
  'supervisor-gone':
    'the process that watched over it was killed, or the disk was full when it ended; what was left of it was ended',
  'sandbox-gone': "the session's sandbox ended while it ran",
  'record-removed': 'it is so long ago that its record was removed',
};

/** Nobody can say whether it finished. */
export function lostText(told: Told, reason: LossReason): string {
  const advice = 'look at what it did before you run it again';
  return withNotes(told, [`[it is not known whether it finished: ${lossReasons[reason]}; ${advice}]`]);
}

export function withNotes({ output, wholeOutputPath }: Told, notes: readonly string[]): string {
  const lines = output === '' ? [...notes] : [output, ...notes];
  if (wholeOutputPath !== null) lines.push(`[the whole output is in ${wholeOutputPath}; read_file reads it]`);
  return lines.length === 0 ? '[no output]' : lines.join('\n');
}

export function exitNotes({ code, bySignal }: CommandExit): string[] {
  if (code === 0) return [];
  const signal = bySignal ? signalName(code - 128) : undefined;
  return [signal === undefined ? `[exit code ${code}]` : `[ended by ${signal}]`];
}

function signalName(number: number): string | undefined {
  return Object.entries(constants.signals).find(([, value]) => value === number)?.[0];
}

export function startProblem(error: unknown): string {
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
