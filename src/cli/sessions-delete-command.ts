/** `talaria sessions delete`: removes conversations for good, after asking a person or being told not to ask. */
import type { CommandInput } from './arguments.ts';
import { CliError, exitCodes, type CommandContext, type ExitCode } from './command.ts';
import { confirm } from './confirm.ts';
import { findSession } from './find-session.ts';
import { withApi } from './open-connection.ts';
import type { SessionSummary } from '../protocol/api.ts';

export async function sessionsDeleteCommand(context: CommandContext, input: CommandInput): Promise<ExitCode> {
  const { streams, interrupt } = context;
  if (!input.has('yes') && !streams.stdinIsTty) {
    throw new CliError('wrongUsage', 'nobody is here to be asked; add --yes to delete without asking');
  }
  return withApi(context, 'sessions delete', async (api) => {
    // All names must be right before the first session goes.
    const sessions: SessionSummary[] = [];
    for (const ref of new Set(input.operands)) sessions.push(await findSession(api, ref));
    if (!input.has('yes') && !(await confirm(context, question(sessions)))) {
      streams.note('nothing was deleted');
      return exitCodes.failed;
    }
    for (const session of sessions) {
      interrupt.throwIfAborted();
      await api.delete(session.id);
      streams.note(`deleted ${JSON.stringify(session.name)}`);
    }
    return exitCodes.ok;
  });
}

function question(sessions: readonly SessionSummary[]): string {
  const names = sessions.map((session) => JSON.stringify(session.name)).join(', ');
  const messages = sessions.reduce((sum, session) => sum + session.messages, 0);
  return `Delete ${names} with ${messages} messages for good?`;
}
