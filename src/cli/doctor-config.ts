/** The doctor's look at what the operator asked for: mistakes, warnings, the workspace, the model. */
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import type { Environment } from '../config/environment.ts';
import { workspacePath, type LoadedConfig } from '../config/load.ts';
import type { Problem } from '../config/problem.ts';
import type { Config } from '../config/schema.ts';
import { systemClock } from '../lib/clock.ts';
import { bad, good, warn, type Finding } from './doctor-finding.ts';

export function checkConfiguration(home: string, loaded: LoadedConfig): Finding[] {
  const problems = loaded.problems.map((problem) => bad(placed(home, problem), `edit ${join(home, problem.file)}`));
  const warnings = loaded.warnings.map((warning) => warn(placed(home, warning), `see ${join(home, warning.file)}`));
  const fine = problems.length === 0 ? [good(`configuration ${loaded.path}`)] : [];
  return [...problems, ...fine, ...warnings];
}

function placed(home: string, { file, line, column, message }: Problem): string {
  return `${join(home, file)}${line === 0 ? '' : `:${line}:${column}`}: ${message}`;
}

export async function checkWorkspace(home: string, config: Config): Promise<Finding[]> {
  const path = workspacePath(home, config);
  const refused = await access(path, constants.W_OK | constants.X_OK).then(
    () => '',
    (error: unknown) => (error instanceof Error && 'code' in error ? String(error.code) : 'unknown'),
  );
  if (refused === '') return [good(`workspace ${path}`)];
  const isDefault = path === join(home, 'workspace');
  if (refused === 'ENOENT') {
    if (isDefault) return [good(`workspace ${path} is not there yet; it is made at the first use`)];
    return [bad(`workspace ${path} is not there`, `mkdir -p ${path}, or change terminal.cwd`)];
  }
  return [bad(`workspace ${path} can't be written to (${refused})`, `give this user access, or change terminal.cwd`)];
}

/** Every model that is configured answers a small call, or says why it doesn't. */
export async function checkModels(
  config: Config,
  environment: Environment,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const { openModelAdmin } = await import('../app/model-admin.ts');
  const admin = await openModelAdmin({ config, environment, clock: systemClock });
  const models = admin.describe().filter(({ origin }) => origin !== 'main');
  const findings = models.map(async ({ provider, name, role, problem }): Promise<Finding> => {
    const what = `model ${provider}${name === '' ? '' : `/${name}`}${role === 'main' ? '' : ` (${role})`}`;
    if (provider === 'offline' && role === 'main') {
      return warn('no model is connected: the built-in rehearsal answers', 'talaria model set PROVIDER');
    }
    if (problem !== null) return bad(what, problem);
    const trials = await admin.choose({ provider, name }).try(signal);
    const failed = trials.find((trial) => trial.kind === 'failed');
    return failed === undefined ? good(`${what} answers`) : bad(what, failed.problem);
  });
  return Promise.all(findings);
}

/** Whether the platforms know us. */
export async function checkChannels({ channels }: Config): Promise<Finding[]> {
  const { token, api_root } = channels.telegram;
  if (token === null) return [];
  const { checkTelegram } = await import('../app/check-telegram.ts');
  const checked = await checkTelegram(token, api_root);
  if (checked.ok) return [good(`Telegram knows the bot @${checked.botName}`)];
  return [bad(`Telegram: ${checked.text}`, 'talaria setup telegram')];
}
