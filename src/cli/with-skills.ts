/** What all `talaria skills` commands begin with: the skills of the home, and their errors as words for the person. */
import type { SkillsAdmin } from '../app/skills-admin.ts';
import { prepareHome, resolveHome } from '../config/home.ts';
import { loadConfig } from '../config/load.ts';
import { CliError, type CommandContext } from './command.ts';

export async function withSkills<T>(context: CommandContext, work: (skills: SkillsAdmin) => Promise<T>): Promise<T> {
  const home = resolveHome(context.env);
  await prepareHome(home);
  // With a mistake in it, nothing is known to be turned off; `talaria config check` says what it is.
  const { config } = await loadConfig({ home, env: context.env });
  const { openSkillsAdmin } = await import('../app/skills-admin.ts');
  try {
    return await work(await openSkillsAdmin(home, config?.skills.disabled ?? []));
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'SkillError') throw error;
    throw new CliError('failed', error.message, { cause: error });
  }
}
