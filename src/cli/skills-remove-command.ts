/** `talaria skills remove` and `restore`: a skill goes into its history, and comes back from there. */
import { printable } from '../tui/printable.ts';
import type { CommandInput } from './arguments.ts';
import { CliError, exitCodes, type CommandContext, type ExitCode } from './command.ts';
import { confirm } from './confirm.ts';
import { withSkills } from './with-skills.ts';

export async function skillsRemoveCommand(context: CommandContext, input: CommandInput): Promise<ExitCode> {
  const { streams } = context;
  if (!input.has('yes') && !streams.stdinIsTty) {
    throw new CliError('wrongUsage', 'nobody is here to be asked; add --yes to remove without asking');
  }
  const names = [...new Set(input.operands)];
  return withSkills(context, async (skills) => {
    if (!input.has('yes') && !(await confirm(context, `Remove ${names.join(', ')}?`))) {
      streams.note('nothing was removed');
      return exitCodes.failed;
    }
    for (const name of names) {
      await skills.remove(name);
      streams.note(`removed ${name}; talaria skills restore ${name} brings it back`);
    }
    return exitCodes.ok;
  });
}

export async function skillsRestoreCommand(context: CommandContext, input: CommandInput): Promise<ExitCode> {
  const { streams } = context;
  const [name = '', typed] = input.operands;
  if (typed !== undefined && !/^[1-9]\d{0,8}$/.test(typed)) {
    throw new CliError('wrongUsage', `${JSON.stringify(typed)} is no number of a version`);
  }
  const version = typed === undefined ? null : Number(typed);
  return withSkills(context, async (skills) => {
    const made = await skills.restore(name, version);
    if (made !== null && made.diff !== '') await streams.write(`${printable(made.diff)}\n`);
    const kept = made?.kept ?? null;
    streams.note(`restored ${name}${kept === null ? '' : `; what was there before is version ${kept}`}`);
    return exitCodes.ok;
  });
}
