/** `talaria skills audit`: what is in the skills, what to look at in them, and which are not what was confirmed. */
import type { BrokenSkill, InspectedSkill, Skill, SkillsAdmin } from '../app/skills-admin.ts';
import { formatTime } from '../tui/format-time.ts';
import { printableLine } from '../tui/printable.ts';
import type { CommandInput } from './arguments.ts';
import { CliError, exitCodes, type CommandContext, type ExitCode } from './command.ts';
import { confirm } from './confirm.ts';
import { showSkill } from './show-skill.ts';
import { withSkills } from './with-skills.ts';

/** Fails if a skill is broken, or is not what was confirmed and stays so. */
export async function skillsAuditCommand(context: CommandContext, input: CommandInput): Promise<ExitCode> {
  const { streams } = context;
  const [wanted] = input.operands;
  const isAccepting = input.has('accept');
  if (isAccepting && wanted === undefined) throw new CliError('wrongUsage', '--accept needs the NAME of a skill');
  if (isAccepting && !input.has('yes') && !streams.stdinIsTty) {
    throw new CliError('wrongUsage', 'nobody is here to be asked; add --yes to confirm it as it is');
  }
  return withSkills(context, async (skills) => {
    const found = await findSkills(skills, wanted);
    let isGood = true;
    for (const [index, skill] of found.entries()) {
      if (index > 0) await streams.write('\n');
      isGood = (await auditOne(context, input, skills, skill)) && isGood;
    }
    return isGood ? exitCodes.ok : exitCodes.failed;
  });
}

/** Without a name: all but those that come with the program. */
async function findSkills(
  { shelf }: SkillsAdmin,
  wanted: string | undefined,
): Promise<readonly (Skill | BrokenSkill)[]> {
  if (wanted === undefined) {
    const { skills, broken } = await shelf.list();
    return [...skills.filter(({ origin }) => origin !== 'built-in'), ...broken];
  }
  const found = await shelf.find(wanted);
  if (found === null)
    throw new CliError('failed', `there is no skill ${JSON.stringify(wanted)}; see talaria skills list`);
  return [found];
}

async function auditOne(
  context: CommandContext,
  input: CommandInput,
  skills: SkillsAdmin,
  skill: Skill | BrokenSkill,
): Promise<boolean> {
  const { streams } = context;
  if ('problem' in skill) {
    streams.note(`${printableLine(skill.name, 80)} is broken: ${printableLine(skill.problem, 400)}`);
    return false;
  }
  const inspected = await inspectOrNull(context, skills, skill);
  if (inspected === null) return false;
  await showSkill(context, inspected);
  if (skill.installed !== null) {
    const { source, revision, hash, installedAt, isEdited } = skill.installed;
    const at = revision === null ? '' : ` at ${printableLine(revision, 64)}`;
    const edited = isEdited ? ', changed here since' : '';
    const lines = [
      `From ${printableLine(source.location, 300)}${at}, ${formatTime(installedAt)}${edited}`,
      `Confirmed: ${hash}`,
    ];
    await streams.write(`${lines.join('\n')}\n`);
  }
  if (skill.state !== 'changed') return true;
  const { name } = skill;
  streams.note(`${name} is not what was confirmed, and is not offered to the agent`);
  if (!input.has('accept')) {
    streams.note(
      `if it is right as it is: talaria skills audit ${name} --accept; to fetch it anew: talaria skills update ${name}`,
    );
    return false;
  }
  if (!input.has('yes') && !(await confirm(context, `Confirm ${name} as it is now?`))) return false;
  if (!(await skills.accept(name, inspected.hash))) {
    throw new CliError('failed', `${name} changed while you were looking at it; run the command again`);
  }
  streams.note(`${name} is confirmed; sessions that start from now on know it`);
  return true;
}

/** A skill that can't be looked through must not hide the ones behind it. */
async function inspectOrNull(
  { streams }: CommandContext,
  skills: SkillsAdmin,
  skill: Skill,
): Promise<InspectedSkill | null> {
  try {
    return await skills.inspect(skill);
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'SkillError') throw error;
    streams.note(`${skill.name} is not offered to the agent: ${printableLine(error.message, 400)}`);
    return null;
  }
}
