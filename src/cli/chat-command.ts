/** `talaria` at a terminal: gives the interactive chat its connection and its terminal. */
import { systemClock } from '../lib/clock.ts';
import { createIdSource } from '../lib/ids.ts';
import { systemRandom } from '../lib/random.ts';
import { runChat } from '../tui/chat.ts';
import type { Question } from './ask-once.ts';
import { CliError, exitCodes, type CommandContext, type ExitCode } from './command.ts';
import { openConnection } from './open-connection.ts';

export async function chatCommand(context: CommandContext, session: Question['session']): Promise<ExitCode> {
  const { streams, interrupt } = context;
  await runChat({
    clock: systemClock,
    random: systemRandom,
    ids: createIdSource({ clock: systemClock, random: systemRandom }),
    input: streams.stdin,
    output: process.stdout,
    style: streams.outStyle,
    isDumb: context.env['TERM'] === 'dumb',
    interrupt,
    session,
    async connect() {
      const connected = await openConnection(context, 'chat');
      if (connected.kind === 'held') throw new CliError('failed', connected.problem);
      return connected.connection;
    },
  });
  interrupt.throwIfAborted();
  return exitCodes.ok;
}
