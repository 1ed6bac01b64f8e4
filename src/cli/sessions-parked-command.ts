/** `talaria sessions retry` and `talaria sessions drop`: what becomes of a turn that was parked. */
import type { ParkedAction, SessionSummary, TalariaApi } from '../protocol/api.ts';
import type { CommandInput } from './arguments.ts';
import { CliError, exitCodes, type CommandContext, type ExitCode } from './command.ts';
import { findSession } from './find-session.ts';
import { withApi } from './open-connection.ts';
import { turnOutcome } from './turn-outcome.ts';

export async function sessionsRetryCommand(context: CommandContext, input: CommandInput): Promise<ExitCode> {
  const { streams, interrupt } = context;
  return withApi(context, 'sessions retry', async (api, { place }) => {
    const session = await settle(api, input, 'retry');
    const name = JSON.stringify(session.name);
    streams.note(`the parked turn of ${name} is tried again`);
    if (place === 'gateway') return exitCodes.ok;
    const outcome = await turnOutcome(api, session, interrupt);
    interrupt.throwIfAborted();
    streams.note(`it ended: ${outcome ?? 'not yet'}; read it with: talaria sessions show ${name}`);
    return outcome === 'answered' ? exitCodes.ok : exitCodes.failed;
  });
}

export async function sessionsDropCommand(context: CommandContext, input: CommandInput): Promise<ExitCode> {
  return withApi(context, 'sessions drop', async (api) => {
    const session = await settle(api, input, 'drop');
    context.streams.note(`the parked turn of ${JSON.stringify(session.name)} was given up`);
    return exitCodes.ok;
  });
}

/** The session as it was before. */
async function settle(api: TalariaApi, input: CommandInput, action: ParkedAction): Promise<SessionSummary> {
  const session = await findSession(api, input.operands[0] ?? '');
  if (await api.parked(session.id, action)) return session;
  throw new CliError('failed', `no turn is parked in ${JSON.stringify(session.name)}; see talaria sessions list`);
}
