/** The models of this home's configuration, for the commands about them. */
import type { ModelAdmin } from '../app/model-admin.ts';
import type { Environment } from '../config/environment.ts';
import { resolveHome } from '../config/home.ts';
import { loadConfig } from '../config/load.ts';
import { formatProblem } from '../config/problem.ts';
import type { Config } from '../config/schema.ts';
import { systemClock } from '../lib/clock.ts';
import { CliError, type CommandContext } from './command.ts';

export interface OpenedModels {
  readonly home: string;
  readonly config: Config;
  readonly environment: Environment;
  readonly admin: ModelAdmin;
}

export async function openModels({ env }: Pick<CommandContext, 'env'>): Promise<OpenedModels> {
  const home = resolveHome(env);
  const { config, environment, problems } = await loadConfig({ home, env });
  if (config === null) {
    const first = problems[0] === undefined ? '' : `: ${formatProblem(problems[0])}`;
    throw new CliError('failed', `the configuration has a mistake${first}; see talaria config check`);
  }
  const { openModelAdmin } = await import('../app/model-admin.ts');
  return { home, config, environment, admin: await openModelAdmin({ config, environment, clock: systemClock }) };
}
