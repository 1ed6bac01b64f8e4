/** `talaria send`: a text through a configured channel, with no model. */
import type { CommandInput } from './arguments.ts';
import { CliError, exitCodes, type CommandContext, type ExitCode } from './command.ts';
import { withApi } from './open-connection.ts';

export async function sendCommand(context: CommandContext, input: CommandInput): Promise<ExitCode> {
  const [target = '', ...words] = input.operands;
  return withApi(context, 'send', async (api, { place }) => {
    if (place !== 'gateway') {
      throw new CliError('failed', 'no gateway runs, so nothing can be sent; start one with: talaria gateway');
    }
    await api.sendTo(target, words.join(' '));
    context.streams.note(`queued for ${target}`);
    return exitCodes.ok;
  });
}
