/** From the words of the command line to an exit code: finds the command, loads it, runs it, reports what went wrong. */
import { parseArguments } from './arguments.ts';
import { exitCodes, type CommandContext, type ExitCode } from './command.ts';
import { commands } from './command-table.ts';
import { reportError } from './report-error.ts';
import { createStreams } from './streams.ts';

export interface RunOptions {
  readonly argv: readonly string[];
  readonly process: NodeJS.Process;
  readonly interrupt: AbortSignal;
  readonly setAbruptExitCode: (code: ExitCode) => void;
}

/** Never throws. */
export async function run(options: RunOptions): Promise<ExitCode> {
  const { argv, process, interrupt, setAbruptExitCode } = options;
  const streams = createStreams(process);
  const parsed = parseArguments(commands, argv);
  const verbose = parsed.kind === 'command' && parsed.verbose;
  // A bug in something that nobody awaits: the process can't be trusted any more, but it still ends with a sentence.
  process.on('uncaughtException', (error) => process.exit(reportError(error, { streams, verbose })));
  try {
    switch (parsed.kind) {
      case 'wrong':
        streams.note(`talaria: ${parsed.problem}`);
        return exitCodes.wrongUsage;
      case 'version': {
        const { version } = await import('../lib/version.ts');
        await streams.write(`${version}\n`);
        return exitCodes.ok;
      }
      case 'help': {
        const { helpText } = await import('./help.ts');
        await streams.write(helpText(commands, parsed.path));
        return exitCodes.ok;
      }
      case 'command': {
        const context: CommandContext = { streams, env: process.env, verbose, interrupt, setAbruptExitCode };
        const runCommand = await parsed.command.load();
        return await runCommand(context, parsed.input);
      }
    }
  } catch (error) {
    return reportError(error, { streams, verbose });
  }
}
