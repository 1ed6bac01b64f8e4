/** The doctor's look at what the operator asked for: mistakes, warnings, the workspace, the model. */
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { workspacePath, type LoadedConfig } from '../config/load.ts';
import type { Problem } from '../config/problem.ts';
import type { Config } from '../config/schema.ts';
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

export function checkModel(config: Config): Finding {
  const { provider, name } = config.model;
  if (provider !== null && provider !== 'offline') return good(`model ${provider}${name === null ? '' : ` ${name}`}`);
  return warn(
    'no model is connected: the built-in rehearsal answers',
    'talaria config set model.provider PROVIDER, then model.api_key KEY',
  );
}
