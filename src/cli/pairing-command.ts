/** `talaria pairing`: who may write to the agent on the channels of platforms. */
import type { PersonRole } from '../protocol/api.ts';
import { formatTime } from '../tui/format-time.ts';
import { printableLine } from '../tui/printable.ts';
import type { CommandInput } from './arguments.ts';
import { CliError, exitCodes, type CommandContext, type ExitCode } from './command.ts';
import { withApi } from './open-connection.ts';
import { writeTable } from './table.ts';

const nameCharsMax = 40;

export async function pairingListCommand(context: CommandContext, input: CommandInput): Promise<ExitCode> {
  const { streams } = context;
  return withApi(context, 'pairing list', async (api) => {
    const report = await api.people();
    if (input.has('json')) {
      await streams.write(`${JSON.stringify(report, null, 2)}\n`);
      return exitCodes.ok;
    }
    const rows = [
      ...report.people.map((one) => row(one, one.role, `since ${formatTime(one.addedAt)}`)),
      ...report.pending.map((one) => row(one, 'asks', `their code is good until ${formatTime(one.expiresAt)}`)),
      ...report.refused.map((one) =>
        row(one, 'refused', `${one.count === 1 ? 'once' : `${one.count} times`}, last ${formatTime(one.lastAt)}`),
      ),
    ];
    if (rows.length === 0) streams.note('nobody yet: who writes to a channel of yours is given a code to approve');
    else await writeTable(context, ['CHANNEL', 'ID', 'NAME', 'STATE', 'WHEN'], rows);
    return exitCodes.ok;
  });
}

function row(one: { channel: string; userId: string; name: string }, state: string, when: string): string[] {
  return [one.channel, one.userId, printableLine(one.name, nameCharsMax), state, when];
}

export async function pairingApproveCommand(context: CommandContext, input: CommandInput): Promise<ExitCode> {
  const role: PersonRole = input.has('owner') ? 'owner' : 'user';
  return withApi(context, 'pairing approve', async (api) => {
    const person = await api.approve(input.operands.join(''), role);
    const name = printableLine(person.name, nameCharsMax);
    context.streams.note(`${name} (${person.channel}:${person.userId}) may write now, as ${person.role}`);
    return exitCodes.ok;
  });
}

export async function pairingRevokeCommand(context: CommandContext, input: CommandInput): Promise<ExitCode> {
  const target = input.operands[0] ?? '';
  const colon = target.indexOf(':');
  if (colon < 1 || colon === target.length - 1) {
    throw new CliError('wrongUsage', `${JSON.stringify(target)} is no CHANNEL:ID; see talaria pairing list`);
  }
  return withApi(context, 'pairing revoke', async (api) => {
    if (!(await api.revoke(target.slice(0, colon), target.slice(colon + 1)))) {
      throw new CliError(
        'failed',
        `${target} was not approved here; allowed_users in the configuration may let them in`,
      );
    }
    context.streams.note(`${target} may not write any more`);
    return exitCodes.ok;
  });
}
