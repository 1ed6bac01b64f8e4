/** `talaria mcp list`, `test` and `remove`: the MCP servers of the configuration, tried for real. */
import type { TriedServer } from '../app/mcp-admin.ts';
import { removeConfigValue } from '../config/edit.ts';
import { printable, printableLine } from '../tui/printable.ts';
import type { CommandInput } from './arguments.ts';
import { CliError, exitCodes, type CommandContext, type ExitCode } from './command.ts';
import { confirm } from './confirm.ts';
import { openMcp, type OpenedMcp } from './mcp-command-open.ts';
import { writeTable } from './table.ts';

const shownCharsMax = 100;

export async function mcpListCommand(context: CommandContext, input: CommandInput): Promise<ExitCode> {
  const { config, admin } = await openMcp(context);
  const servers = Object.entries(config.mcp_servers).map(([name, settings]) => ({
    name,
    how: settings.url ?? [settings.command ?? '', ...settings.args].join(' '),
    enabled: settings.enabled,
    sandbox: settings.url === null && settings.sandbox,
    tools: admin.knownTools(name),
  }));
  if (input.has('json')) await context.streams.write(`${JSON.stringify(servers, null, 2)}\n`);
  else if (servers.length === 0) context.streams.note('none; add one with: talaria mcp add NAME -- COMMAND, or a URL');
  else {
    const rows = servers.map(({ name, how, enabled, sandbox, tools }) => [
      name,
      enabled ? 'on' : 'off',
      String(tools),
      how.startsWith('http') ? 'elsewhere' : sandbox ? 'sandbox' : 'no sandbox',
      printableLine(how, shownCharsMax),
    ]);
    await writeTable(context, ['NAME', 'STATE', 'TOOLS', 'WHERE', 'WHAT'], rows);
  }
  return exitCodes.ok;
}

export async function mcpTestCommand(context: CommandContext, input: CommandInput): Promise<ExitCode> {
  const name = input.operands[0] ?? '';
  const opened = await openMcp(context);
  const tried = await tryWithPerson(context, opened, name);
  if (input.has('json')) {
    const { description, tools } = tried;
    await context.streams.write(`${JSON.stringify({ name, description, tools }, null, 2)}\n`);
  } else await showTried(context, name, tried);
  const changed = tried.tools.filter(({ standing }) => standing !== 'approved');
  if (changed.length === 0) return exitCodes.ok;
  for (const tool of changed) context.streams.note(printable(`${tool.name}: ${tool.change}`));
  const isAccepted = input.has('accept') || (await mayAsk(context, changed.length));
  if (!isAccepted) {
    throw new CliError(
      'failed',
      `nothing was approved; talaria mcp test ${name} --accept approves the tools as they are`,
    );
  }
  await tried.approve();
  context.streams.note('approved as they are now');
  return exitCodes.ok;
}

export async function mcpRemoveCommand(context: CommandContext, input: CommandInput): Promise<ExitCode> {
  const name = input.operands[0] ?? '';
  const { home, config, admin } = await openMcp(context);
  if (!Object.hasOwn(config.mcp_servers, name)) throw noServer(name);
  // What `talaria mcp add` names a secret by goes with the server; a name that a person chose may be read by others.
  const own = `MCP_${name.toUpperCase().replace(/[^A-Z0-9]+/g, '_')}`;
  const isOwn = (secret: string) => secret === own || secret.startsWith(`${own}_`);
  const outcome = await removeConfigValue({ home, env: context.env }, `mcp_servers.${name}`, isOwn);
  if (outcome.kind === 'refused') throw new CliError('failed', `nothing was changed: ${outcome.message}`);
  await admin.forget(name);
  const gone = outcome.secretNames.length === 0 ? '' : `, and ${outcome.secretNames.join(', ')} from .env`;
  const kept = outcome.keptNames.length === 0 ? '' : `; ${outcome.keptNames.join(', ')} stays in .env`;
  context.streams.note(`${name} is removed${gone}${kept}`);
  return exitCodes.ok;
}

export function noServer(name: string): CliError {
  return new CliError('failed', `there is no MCP server named ${JSON.stringify(name)}; see talaria mcp list`);
}

/** Connects, and hands out the address to open if the server wants a sign-in. */
export function tryWithPerson(
  { streams, interrupt }: CommandContext,
  { admin }: Pick<OpenedMcp, 'admin'>,
  name: string,
): Promise<TriedServer> {
  streams.status(`connecting to ${name} …`);
  return admin.try(name, {
    signal: interrupt,
    showAddress(address) {
      streams.note('open this in a browser to sign in:');
      streams.note(printable(address));
      streams.status('waiting for the browser …');
    },
  });
}

export async function showTried(context: CommandContext, name: string, tried: TriedServer): Promise<void> {
  const { tools, description } = tried;
  context.streams.note(printable(`${name} answers: ${description}; ${tools.length} tools`));
  if (tools.length === 0) return;
  const rows = tools.map(({ name: tool, effect, standing, description: words }) => [
    printableLine(tool, shownCharsMax),
    effect,
    standing,
    printableLine(words, shownCharsMax),
  ]);
  await writeTable(context, ['TOOL', 'EFFECT', 'APPROVED', 'IN ITS WORDS'], rows);
}

async function mayAsk(context: CommandContext, count: number): Promise<boolean> {
  if (!context.streams.stdinIsTty || !context.streams.stderrIsTty) return false;
  return confirm(context, `Approve ${count === 1 ? 'this tool' : `these ${count} tools`} as shown?`);
}
