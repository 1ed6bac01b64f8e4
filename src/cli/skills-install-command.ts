/**
 * `talaria skills install` and `update`: what a source has is fetched, checked and shown; it is taken only after a yes to
 * exactly that. Nothing of it runs.
 */
import type { InstallOutcome, OfferedSkill, OpenedSource } from '../app/skills-admin.ts';
import { present } from '../lib/assert.ts';
import { printableLine } from '../tui/printable.ts';
import type { CommandInput } from './arguments.ts';
import { CliError, exitCodes, type CommandContext, type ExitCode } from './command.ts';
import { confirm } from './confirm.ts';
import { counted, showSkill, showTexts } from './show-skill.ts';
import { withSkills } from './with-skills.ts';

export async function skillsInstallCommand(context: CommandContext, input: CommandInput): Promise<ExitCode> {
  mustBeAskable(context, input);
  const [typed = '', wanted] = input.operands;
  return withSkills(context, async (skills) => {
    const source = await skills.openSource(typed, sourceOptions(context));
    try {
      const mayPlace = (offered: OfferedSkill) => askToInstall(context, input, offered);
      const paths = chosenPaths(source, wanted, input.has('all'));
      return await oneByOne(context, paths, (path) => skills.install(source, path, mayPlace));
    } finally {
      await source.close();
    }
  });
}

export async function skillsUpdateCommand(context: CommandContext, input: CommandInput): Promise<ExitCode> {
  mustBeAskable(context, input);
  const [wanted] = input.operands;
  return withSkills(context, async (skills) => {
    const installed = await skills.installed();
    const report = await skills.shelf.list();
    // What is broken here may be whole where it came from.
    const there = [...report.skills, ...report.broken].filter(({ name }) => installed.has(name));
    const chosen = wanted === undefined ? there : there.filter(({ name }) => name === wanted);
    if (wanted !== undefined && chosen.length === 0) {
      throw new CliError(
        'failed',
        `${JSON.stringify(wanted)} was not installed from anywhere; see talaria skills list`,
      );
    }
    if (chosen.length === 0) context.streams.note('nothing was installed from anywhere yet');
    const names = chosen.map(({ name }) => name).sort();
    return oneByOne(context, names, async (name) => {
      const { source: from, isEdited } = present(installed.get(name), 'an installed skill');
      const skill = chosen.find((one) => one.name === name);
      const isOurs = isEdited || skill === undefined || 'problem' in skill || skill.state === 'changed';
      const source = await skills.openSource(from.location, sourceOptions(context));
      try {
        if (!source.paths.includes(from.path)) {
          const place = [from.location, ...(from.path === '' ? [] : [from.path])].join(', ');
          throw new CliError('failed', `there is no skill any more in ${place}`);
        }
        return await skills.install(source, from.path, (offered) => askToUpdate(context, input, offered, name, isOurs));
      } finally {
        await source.close();
      }
    });
  });
}

/** What is wrong with one of several keeps no other from being taken. */
async function oneByOne(
  context: CommandContext,
  all: readonly string[],
  take: (one: string) => Promise<InstallOutcome>,
): Promise<ExitCode> {
  const outcomes: InstallOutcome[] = [];
  let failures = 0;
  for (const one of all) {
    try {
      outcomes.push(await take(one));
    } catch (error) {
      const isKnown = error instanceof CliError || (error instanceof Error && error.name === 'SkillError');
      if (!isKnown || all.length === 1) throw error;
      context.streams.note(`${printableLine(one, 200)} was not taken: ${printableLine(error.message, 400)}`);
      failures += 1;
    }
  }
  const code = report(context, outcomes);
  return failures > 0 ? exitCodes.failed : code;
}

function mustBeAskable({ streams }: CommandContext, input: CommandInput): void {
  if (input.has('yes') || streams.stdinIsTty) return;
  throw new CliError('wrongUsage', 'nobody is here to be asked; look at the source and add --yes to take it as it is');
}

function sourceOptions({ env, interrupt }: CommandContext) {
  return { cwd: process.cwd(), env, signal: interrupt };
}

/** Of several skills in a source one is named by its folder, or all are wanted. */
function chosenPaths({ paths, location }: OpenedSource, wanted: string | undefined, isAll: boolean): readonly string[] {
  if (isAll || (paths.length === 1 && wanted === undefined)) return paths;
  const names = paths.map((path) => path.split('/').at(-1) ?? '').filter((name) => name !== '');
  if (wanted === undefined) {
    const advice = `name one, or add --all: ${names.join(', ')}`;
    throw new CliError('wrongUsage', `there are ${paths.length} skills in ${location}; ${advice}`);
  }
  const found = paths.filter((path) => path === wanted || path.endsWith(`/${wanted}`));
  if (found.length > 0) return found;
  throw new CliError(
    'failed',
    `there is no skill ${JSON.stringify(wanted)} in ${location}; it has ${names.join(', ')}`,
  );
}

async function askToInstall(context: CommandContext, input: CommandInput, offered: OfferedSkill): Promise<boolean> {
  const { name } = offered.header;
  const { before } = offered;
  if (before?.origin === 'own' && !input.has('force')) {
    throw new CliError(
      'failed',
      `you have a skill ${name} of your own; with --force it makes room and stays in the history`,
    );
  }
  await showSkill(context, offered);
  await showTexts(context, offered);
  const instead =
    before === null
      ? ''
      : before.origin === 'built-in'
        ? ' in place of the one that comes with Talaria'
        : ' in place of the one there is';
  return input.has('yes') || confirm(context, `Install ${name}${instead}?`);
}

async function askToUpdate(
  context: CommandContext,
  input: CommandInput,
  offered: OfferedSkill,
  name: string,
  isOurs: boolean,
): Promise<boolean> {
  if (offered.header.name !== name) {
    throw new CliError(
      'failed',
      `what is there now is the skill ${offered.header.name}, not ${name}; install it by itself`,
    );
  }
  await showSkill(context, offered);
  await showTexts(context, offered);
  const lost = isOurs ? ' It was changed here since; that would be replaced and stay in the history.' : '';
  return input.has('yes') || confirm(context, `Update ${name}?${lost}`);
}

function report({ streams }: CommandContext, outcomes: readonly InstallOutcome[]): ExitCode {
  for (const { kind, name } of outcomes) {
    if (kind === 'placed') streams.note(`${name} is there now; sessions that start from now on know it`);
    else streams.note(kind === 'same' ? `${name} is up to date` : `${name} was not taken`);
  }
  const declined = outcomes.filter(({ kind }) => kind === 'declined').length;
  if (declined > 0 && outcomes.length > 1) streams.note(`${counted(declined, 'skill')} left out`);
  return declined > 0 ? exitCodes.failed : exitCodes.ok;
}
