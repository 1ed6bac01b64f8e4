/** `talaria backup`: everything in the home in one file that is complete or not there at all. */
import type { CommandInput } from './arguments.ts';
import { CliError, exitCodes, type CommandContext, type ExitCode } from './command.ts';
import { withApi } from './open-connection.ts';
import { wholeGzip } from './whole-gzip.ts';
import { writeNewFile } from './write-new-file.ts';

export async function backupCommand(context: CommandContext, input: CommandInput): Promise<ExitCode> {
  const { streams, interrupt } = context;
  const [path = ''] = input.operands;
  if (path === '-' && streams.stdoutIsTty) {
    throw new CliError('wrongUsage', 'a backup is not for the screen; give a FILE, or send it through a pipe');
  }
  await withApi(context, 'backup', async (api) => {
    if (path !== '-') {
      const bytes = await writeNewFile({ path, force: input.has('force'), signal: interrupt }, wholeGzip(api.backup()));
      streams.note(
        `backed up to ${path} (${bytes.toLocaleString('en-US')} bytes); keep it safe, it holds your secrets`,
      );
      return;
    }
    for await (const chunk of wholeGzip(api.backup())) {
      interrupt.throwIfAborted();
      await streams.write(chunk);
    }
  });
  return exitCodes.ok;
}
