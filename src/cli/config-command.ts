/** `talaria config …`: where the configuration is, what it says, and what is wrong with it. */
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { checkConfigText, configBytesMax } from '../config/check.ts';
import { getConfigValue, setConfigValue, showConfig } from '../config/edit.ts';
import { mergeEnvironment } from '../config/environment.ts';
import { resolveHome } from '../config/home.ts';
import { loadConfig, loadDotEnv } from '../config/load.ts';
import { configFileName, type Problem } from '../config/problem.ts';
import type { Config } from '../config/schema.ts';
import { printable } from '../tui/printable.ts';
import type { CommandInput } from './arguments.ts';
import { CliError, exitCodes, type CommandContext, type ExitCode } from './command.ts';

export async function configPathCommand({ streams, env }: CommandContext): Promise<ExitCode> {
  await streams.write(`${join(resolveHome(env), configFileName)}\n`);
  return exitCodes.ok;
}

export async function configShowCommand(context: CommandContext): Promise<ExitCode> {
  const config = await loadOrReport(context);
  if (config === null) return exitCodes.failed;
  await context.streams.write(showConfig(config));
  return exitCodes.ok;
}

export async function configGetCommand(context: CommandContext, input: CommandInput): Promise<ExitCode> {
  const config = await loadOrReport(context);
  if (config === null) return exitCodes.failed;
  const found = getConfigValue(config, input.operands[0] ?? '');
  if (found.kind === 'unknown') throw new CliError('failed', found.message);
  await context.streams.write(`${found.text}\n`);
  return exitCodes.ok;
}

export async function configSetCommand(context: CommandContext, input: CommandInput): Promise<ExitCode> {
  const { streams, env } = context;
  const home = resolveHome(env);
  const [key = '', value = ''] = input.operands;
  const outcome = await setConfigValue({ home, env }, key, value);
  if (outcome.kind === 'refused') throw new CliError('failed', `nothing was changed: ${outcome.message}`);
  const secrets =
    outcome.secretNames.length === 0 ? '' : `; its secret is in .env as ${outcome.secretNames.join(', ')}`;
  streams.note(`set ${key} in ${outcome.path}${secrets}`);
  if (atStart.test(key)) streams.note('a gateway that runs now takes it up when it is started again');
  report(context, (file) => join(home, file), outcome.warnings, 'warning: ');
  return exitCodes.ok;
}

/** Read once, when a gateway starts; everything else counts at once. */
const atStart =
  /^(gateway(\.host|\.port)?|store(\.url)?|log(\.level)?|channels(\.telegram(\.(token|api_root|webhook_\w+))?)?)$/;

export async function configCheckCommand(context: CommandContext, input: CommandInput): Promise<ExitCode> {
  const { streams, env } = context;
  const home = resolveHome(env);
  const [given] = input.operands;
  const checked = given === undefined ? await loadConfig({ home, env }) : await checkFile(home, env, given);
  const placeOf = (file: string) => (given !== undefined && file === configFileName ? given : join(home, file));
  report(context, placeOf, checked.problems, '');
  report(context, placeOf, checked.warnings, 'warning: ');
  if (checked.problems.length > 0) return exitCodes.failed;
  await streams.write(`${placeOf(configFileName)}: no mistakes\n`);
  return exitCodes.ok;
}

/** A file that is not in force yet, read as if it were the one in the home. */
async function checkFile(home: string, env: NodeJS.ProcessEnv, path: string) {
  const { size } = await statFile(path);
  if (size > configBytesMax) throw new CliError('failed', `${path} is larger than ${configBytesMax} bytes`);
  const dotEnv = await loadDotEnv(home);
  return checkConfigText(await readFile(path), mergeEnvironment(dotEnv.values, env));
}

async function statFile(path: string): Promise<{ size: number }> {
  const found = await stat(path);
  if (!found.isFile()) throw new CliError('failed', `${path} is not a regular file`);
  return found;
}

/** Null, with every mistake named, if the file in the home can't be in force. */
async function loadOrReport(context: CommandContext): Promise<Config | null> {
  const home = resolveHome(context.env);
  const loaded = await loadConfig({ home, env: context.env });
  report(context, (file) => join(home, file), loaded.problems, '');
  return loaded.config;
}

function report(
  { streams }: CommandContext,
  placeOf: (file: string) => string,
  findings: readonly Problem[],
  prefix: string,
): void {
  for (const { file, line, column, message } of findings) {
    const place = line === 0 ? placeOf(file) : `${placeOf(file)}:${line}:${column}`;
    streams.note(printable(`${place}: ${prefix}${message}`));
  }
}
