/** `talaria skills list`: the skills there are, where they are from, and which of them are not offered. */
import type { Skill } from '../app/skills-admin.ts';
import { printableLine } from '../tui/printable.ts';
import type { CommandInput } from './arguments.ts';
import { exitCodes, type CommandContext, type ExitCode } from './command.ts';
import { writeTable } from './table.ts';
import { withSkills } from './with-skills.ts';

const descriptionCharsMax = 300;

export async function skillsListCommand(context: CommandContext, input: CommandInput): Promise<ExitCode> {
  const { streams } = context;
  return withSkills(context, async ({ shelf }) => {
    const { skills, broken } = await shelf.list();
    if (input.has('json')) {
      await streams.write(`${JSON.stringify({ skills, broken }, null, 2)}\n`);
      return exitCodes.ok;
    }
    const rows = skills.map((skill) => [
      skill.name,
      skill.origin,
      stateWords[skill.state],
      printableLine(skill.description, descriptionCharsMax),
    ]);
    if (rows.length > 0) await writeTable(context, ['NAME', 'FROM', 'STATE', 'DESCRIPTION'], rows);
    else streams.note('none yet; install one with: talaria skills install SOURCE');
    for (const { name, problem } of broken)
      streams.note(`broken: ${printableLine(name, 80)}: ${printableLine(problem, 400)}`);
    const changed = skills.filter(({ state }) => state === 'changed').map(({ name }) => name);
    if (changed.length > 0) {
      streams.note(
        `changed since they were confirmed, and not offered: ${changed.join(', ')}; see talaria skills audit NAME`,
      );
    }
    return exitCodes.ok;
  });
}

const stateWords: Readonly<Record<Skill['state'], string>> = { offered: 'ok', changed: 'changed', disabled: 'off' };
