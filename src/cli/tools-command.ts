/** `talaria tools`: what the agent can do, and what it was allowed to do without asking again. */
import { formatTime } from '../tui/format-time.ts';
import { printableLine } from '../tui/printable.ts';
import type { CommandInput } from './arguments.ts';
import { CliError, exitCodes, type CommandContext, type ExitCode } from './command.ts';
import { withApi } from './open-connection.ts';
import { writeTable } from './table.ts';

const shownCharsMax = 100;

export async function toolsListCommand(context: CommandContext, input: CommandInput): Promise<ExitCode> {
  return withApi(context, 'tools list', async (api) => {
    const tools = await api.tools();
    if (input.has('json')) await context.streams.write(`${JSON.stringify(tools, null, 2)}\n`);
    else {
      const rows = tools.map(({ name, toolsets, effect, bytes }) => [name, toolsets.join(', '), effect, String(bytes)]);
      await writeTable(context, ['NAME', 'TOOLSETS', 'EFFECT', 'BYTES'], rows);
    }
    return exitCodes.ok;
  });
}

export async function toolsGrantsCommand(context: CommandContext, input: CommandInput): Promise<ExitCode> {
  return withApi(context, 'tools grants', async (api) => {
    const grants = await api.grants();
    if (input.has('json')) await context.streams.write(`${JSON.stringify(grants, null, 2)}\n`);
    else if (grants.length === 0) context.streams.note('none: nothing was allowed for longer than once');
    else {
      const rows = grants.map(({ id, kind, sessionId, shown, grantedAt }) => [
        String(id),
        kind,
        sessionId ?? 'all sessions',
        formatTime(grantedAt),
        printableLine(shown, shownCharsMax),
      ]);
      await writeTable(context, ['ID', 'KIND', 'FOR', 'SINCE', 'WHAT'], rows);
    }
    return exitCodes.ok;
  });
}

export async function toolsRevokeCommand(context: CommandContext, input: CommandInput): Promise<ExitCode> {
  const ids = input.operands.map((text) => {
    if (/^\d{1,15}$/.test(text)) return Number(text);
    throw new CliError('wrongUsage', `${JSON.stringify(text)} is no id of a grant; see talaria tools grants`);
  });
  return withApi(context, 'tools revoke', async (api) => {
    for (const id of ids) {
      if (!(await api.revokeGrant(id)))
        throw new CliError('failed', `there is no grant ${id}; see talaria tools grants`);
      context.streams.note(`${id} asks again from now on`);
    }
    return exitCodes.ok;
  });
}
