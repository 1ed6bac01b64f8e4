/** `talaria keys`: named keys of the HTTP API. A key is said once; only its hash is kept. */
import { resolveHome } from '../config/home.ts';
import { formatTime } from '../tui/format-time.ts';
import type { CommandInput } from './arguments.ts';
import { CliError, exitCodes, type CommandContext, type ExitCode } from './command.ts';
import { withApi } from './open-connection.ts';
import { readApiKey } from './read-api-key.ts';
import { writeTable } from './table.ts';

export async function keysListCommand(context: CommandContext, input: CommandInput): Promise<ExitCode> {
  return withApi(context, 'keys list', async (api) => {
    const keys = await api.apiKeys();
    if (input.has('json')) await context.streams.write(`${JSON.stringify(keys, null, 2)}\n`);
    else if (keys.length === 0) context.streams.note('none; make one with: talaria keys add NAME');
    else {
      const rows = keys.map(({ name, createdAt }) => [name, formatTime(createdAt)]);
      await writeTable(context, ['NAME', 'MADE'], rows);
    }
    return exitCodes.ok;
  });
}

export async function keysAddCommand(context: CommandContext, input: CommandInput): Promise<ExitCode> {
  // With any key in place every request needs one, and a named one opens nothing of the owner's.
  if ((await readApiKey(resolveHome(context.env), context.env)) === null) {
    const fix = 'First make your own: talaria config set channels.api.key KEY';
    throw new CliError('failed', `this key would lock you out, because you have none yet. ${fix}`);
  }
  return withApi(context, 'keys add', async (api) => {
    const key = await api.addApiKey(input.operands[0] ?? '');
    await context.streams.write(`${key}\n`);
    context.streams.note('keep it: it can not be shown again');
    return exitCodes.ok;
  });
}

export async function keysRevokeCommand(context: CommandContext, input: CommandInput): Promise<ExitCode> {
  const name = input.operands[0] ?? '';
  return withApi(context, 'keys revoke', async (api) => {
    if (!(await api.removeApiKey(name))) {
      throw new CliError('failed', `there is no key named ${JSON.stringify(name)}; see talaria keys list`);
    }
    context.streams.note(`${name} does not open anything any more`);
    return exitCodes.ok;
  });
}
