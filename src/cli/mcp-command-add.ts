/**
 * `talaria mcp add`: writes a server into the configuration and tries it. Secrets go to `.env`. A server that does not
 * answer is written all the same, because what it lacks (a sign-in, a folder, a host) is often set afterwards.
 */
import { stat } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { setConfigValue } from '../config/edit.ts';
import { printable } from '../tui/printable.ts';
import type { CommandInput } from './arguments.ts';
import { CliError, exitCodes, type CommandContext, type ExitCode } from './command.ts';
import { showTried, tryWithPerson } from './mcp-command.ts';
import { openMcp } from './mcp-command-open.ts';

export async function mcpAddCommand(context: CommandContext, input: CommandInput): Promise<ExitCode> {
  const [name = '', ...target] = input.operands;
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(name)) {
    throw new CliError('wrongUsage', `${JSON.stringify(name)} can't be a name; use letters, digits, - and _`);
  }
  const { home, config } = await openMcp(context);
  if (Object.hasOwn(config.mcp_servers, name)) {
    throw new CliError(
      'failed',
      `there is an MCP server named ${name} already; remove it first: talaria mcp remove ${name}`,
    );
  }
  const settings = await settingsFor(input, target);
  const outcome = await setConfigValue({ home, env: context.env }, `mcp_servers.${name}`, JSON.stringify(settings));
  if (outcome.kind === 'refused') throw new CliError('failed', `nothing was changed: ${outcome.message}`);
  const secrets =
    outcome.secretNames.length === 0 ? '' : `; its secrets are in .env as ${outcome.secretNames.join(', ')}`;
  context.streams.note(`${name} is in ${outcome.path}${secrets}`);
  if (settings.folders !== undefined) context.streams.note(`it may change ${settings.folders.join(', ')}`);
  return tryNew(context, name);
}

async function tryNew(context: CommandContext, name: string): Promise<ExitCode> {
  try {
    const tried = await tryWithPerson(context, await openMcp(context), name);
    await showTried(context, name, tried);
    return exitCodes.ok;
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'AppError') throw error;
    context.streams.note(printable(`it does not work yet. ${error.message}`));
    context.streams.note(`look again with: talaria mcp test ${name}`);
    return exitCodes.failed;
  }
}

interface WrittenServer {
  readonly command?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly auth?: 'oauth';
  readonly sandbox?: false;
  readonly folders?: readonly string[];
  readonly network?: readonly string[];
}

async function settingsFor(input: CommandInput, target: readonly string[]): Promise<WrittenServer> {
  const [first = '', ...args] = target;
  const isAddress = /^https?:\/\//i.test(first);
  const env = pairs(input.values('env'), '=', '--env NAME=VALUE');
  const headers = pairs(input.values('header'), ':', "--header 'NAME: VALUE'");
  const misplaced = isAddress
    ? ['env', 'network', 'folder'].find((option) => input.values(option).length > 0)
    : ['header'].find((option) => input.values(option).length > 0);
  if (misplaced !== undefined) {
    throw new CliError('wrongUsage', `--${misplaced} is for ${isAddress ? 'a command to start' : 'an address'}`);
  }
  if (isAddress) {
    if (args.length > 0) throw new CliError('wrongUsage', `unexpected ${JSON.stringify(args[0])} after the address`);
    return { url: first, ...ifAny('headers', headers), ...(input.has('oauth') ? { auth: 'oauth' as const } : {}) };
  }
  if (input.has('oauth')) throw new CliError('wrongUsage', '--oauth is for an address');
  const folders = [...new Set([...input.values('folder'), ...(await foldersAmong(args))])];
  const network = input.values('network');
  return {
    command: first,
    ...(args.length === 0 ? {} : { args }),
    ...ifAny('env', env),
    ...(folders.length === 0 ? {} : { folders }),
    ...(network.length === 0 ? {} : { network }),
    ...(input.has('no-sandbox') ? { sandbox: false as const } : {}),
  };
}

function ifAny(key: string, pairsGiven: Readonly<Record<string, string>>): Pick<WrittenServer, 'env' | 'headers'> {
  return Object.keys(pairsGiven).length === 0 ? {} : { [key]: pairsGiven };
}

function pairs(given: readonly string[], mark: string, form: string): Record<string, string> {
  return Object.fromEntries(
    given.map((text) => {
      const at = text.indexOf(mark);
      if (at <= 0) throw new CliError('wrongUsage', `${JSON.stringify(text.slice(0, 40))} is not of the form ${form}`);
      return [text.slice(0, at).trim(), text.slice(at + 1).trim()];
    }),
  );
}

/** Whoever gives a server a folder as an argument means it to work there. */
async function foldersAmong(args: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const word of args) {
    if (!isAbsolute(word) || word === '/') continue;
    const isFolder = await stat(word).then(
      (stats) => stats.isDirectory(),
      () => false,
    );
    if (isFolder) found.push(word);
  }
  return found;
}
