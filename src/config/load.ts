/**
 * What the operator asked for: config.yaml and .env of a home, checked. Never throws because of what is in them: every
 * mistake is a problem with its place. Missing files are a working configuration and cost next to nothing.
 */
import { join, resolve } from 'node:path';
import type { CheckedConfig } from './check-written-config.ts';
import { checkConfigText, configBytesMax } from './check.ts';
import { decodeText } from './decode-text.ts';
import { parseDotEnv } from './dot-env.ts';
import { mergeEnvironment, type Environment } from './environment.ts';
import { keysInEnvironment } from './key-variables.ts';
import {
  configFileName,
  environmentFileName,
  inFileOrder,
  wholeFile,
  type ConfigFile,
  type Problem,
  type Warning,
} from './problem.ts';
import { readConfigFile } from './read-config-file.ts';
import type { Config } from './schema.ts';

export interface ConfigPlace {
  /** The home, absolute. */
  readonly home: string;
  /** The process's own variables; they win over `.env`. */
  readonly env: Environment;
}

export interface LoadedConfig {
  /** Null exactly if there are problems. */
  readonly config: Config | null;
  readonly problems: readonly Problem[];
  readonly warnings: readonly Warning[];
  /** Every secret value of config.yaml, all of `.env`, and the keys of providers that are in the environment. */
  readonly secrets: readonly string[];
  /** Of config.yaml, whether it exists or not. */
  readonly path: string;
  /** The same for the same content of both files. */
  readonly hash: string;
  /** `.env` and the process's own variables together. */
  readonly environment: Environment;
}

export interface GoodConfig extends LoadedConfig {
  readonly config: Config;
}

export async function loadConfig({ home, env }: ConfigPlace): Promise<LoadedConfig> {
  const path = join(home, configFileName);
  const [file, dotEnv] = await Promise.all([readConfigFile(path, configBytesMax), loadDotEnv(home)]);
  const environment = mergeEnvironment(dotEnv.values, env);
  const bytes = file.kind === 'read' ? file.bytes : new Uint8Array();
  const checked: CheckedConfig =
    file.kind === 'failed'
      ? { config: null, problems: [wholeFileProblem(configFileName, file.message)], warnings: [], secrets: [] }
      : await checkConfigText(bytes, environment);
  const problems = inFileOrder([...checked.problems, ...dotEnv.problems]);
  return {
    config: problems.length === 0 ? checked.config : null,
    problems,
    warnings: [...checked.warnings, ...dotEnv.warnings],
    secrets: [...new Set([...checked.secrets, ...dotEnv.values.values(), ...keysInEnvironment(environment)])],
    path,
    hash: `${fingerprint(bytes)}-${fingerprint(dotEnv.bytes)}`,
    environment,
  };
}

export interface LoadedDotEnv {
  readonly text: string;
  readonly bytes: Uint8Array;
  readonly values: ReadonlyMap<string, string>;
  readonly problems: readonly Problem[];
  readonly warnings: readonly Warning[];
}

export async function loadDotEnv(home: string): Promise<LoadedDotEnv> {
  const path = join(home, environmentFileName);
  const file = await readConfigFile(path, configBytesMax);
  const nothing = { text: '', bytes: new Uint8Array(), values: new Map(), problems: [], warnings: [] };
  if (file.kind === 'missing') return nothing;
  if (file.kind === 'failed') return { ...nothing, problems: [wholeFileProblem(environmentFileName, file.message)] };
  const decoded = decodeText(file.bytes, configBytesMax);
  if (decoded.kind === 'unreadable') {
    const problem = { file: environmentFileName, ...decoded.position, path: '', message: decoded.message } as const;
    return { ...nothing, bytes: file.bytes, problems: [problem] };
  }
  const isOpenToOthers = process.platform !== 'win32' && (file.mode & 0o077) !== 0;
  const warning = `other users of this machine can read the secrets in it; run: chmod 600 ${path}`;
  return {
    text: decoded.text,
    bytes: file.bytes,
    ...parseDotEnv(decoded.text),
    warnings: isOpenToOthers ? [wholeFileProblem(environmentFileName, warning)] : [],
  };
}

/** FNV-1a and the length: enough to tell two versions apart, where loading node:crypto would cost 7 ms at every start. */
function fingerprint(bytes: Uint8Array): string {
  const mixed = bytes.reduce((sum, byte) => Math.imul(sum ^ byte, 0x01000193), 0x811c9dc5);
  return `${bytes.length}:${(mixed >>> 0).toString(16)}`;
}

function wholeFileProblem(file: ConfigFile, message: string): Problem {
  return { file, ...wholeFile, path: '', message };
}

/** Where commands start. Absolute. */
export function workspacePath(home: string, config: Config): string {
  return resolve(home, config.terminal.cwd);
}

/** The file of an SQLite store, absolute; null if the store is elsewhere. */
export function storeFilePath(home: string, config: Config): string | null {
  const { url } = config.store;
  return url.startsWith('sqlite:') ? resolve(home, url.slice('sqlite:'.length)) : null;
}
