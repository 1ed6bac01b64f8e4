/**
 * What every command is given and gives back. A command returns its exit code or throws; it writes to the streams it
 * is given and to nothing else, and never ends the process.
 */
import type { CommandInput, CommandSpec } from './arguments.ts';
import type { Streams } from './streams.ts';

export interface CommandContext {
  readonly streams: Streams;
  readonly env: NodeJS.ProcessEnv;
  readonly verbose: boolean;
  /** Aborts with an `Interrupted` at the first Ctrl-C; the second one ends the process without asking. */
  readonly interrupt: AbortSignal;
  /** Says how the process ends if that second one comes; as interrupted, unless told otherwise. */
  readonly setAbruptExitCode: (code: ExitCode) => void;
}

export type RunCommand = (context: CommandContext, input: CommandInput) => Promise<ExitCode>;

export interface Command extends CommandSpec {
  /** Commands are loaded when they are asked for: `--version` must not pay for the gateway. */
  load(): Promise<RunCommand>;
}

export const exitCodes = { ok: 0, failed: 1, wrongUsage: 2, interrupted: 130 } as const;
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** A failure that the user can do something about; the message is one line that says what. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly exitCode: ExitCode;

  constructor(reason: 'failed' | 'wrongUsage', message: string, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCodes[reason];
  }
}

/** The user pressed Ctrl-C, or the process was asked to end. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';

  constructor() {
    super('interrupted');
  }
}
