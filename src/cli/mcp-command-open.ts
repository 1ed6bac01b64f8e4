/** The MCP servers of this home's configuration, for the commands about them. */
import type { McpAdmin } from '../app/mcp-admin.ts';
import { resolveHome } from '../config/home.ts';
import { loadConfig } from '../config/load.ts';
import { formatProblem } from '../config/problem.ts';
import type { Config } from '../config/schema.ts';
import { CliError, type CommandContext } from './command.ts';

export interface OpenedMcp {
  readonly home: string;
  readonly config: Config;
  readonly admin: McpAdmin;
}

export async function openMcp({ env }: Pick<CommandContext, 'env'>): Promise<OpenedMcp> {
  const home = resolveHome(env);
  const { config, problems } = await loadConfig({ home, env });
  if (config === null) {
    const first = problems[0] === undefined ? '' : `: ${formatProblem(problems[0])}`;
    throw new CliError('failed', `the configuration has a mistake${first}; see talaria config check`);
  }
  const { openMcpAdmin } = await import('../app/mcp-admin.ts');
  return { home, config, admin: openMcpAdmin({ home, config, env }) };
}
