/**
 * `talaria config get`, `set` and `show`, and what takes a value out again. A change is checked before anything is written; a file that would have
 * mistakes afterwards is refused. Secrets go into `.env`, and config.yaml gets `${NAME}`. Both files are replaced
 * whole, `.env` first, so that config.yaml never reads a name that is not there. Two changes at once are not kept
 * apart: the last one wins.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as yaml from 'yaml';
import { writeFileAtomically } from '../lib/atomic-file.ts';
import { checkConfigText, configBytesMax } from './check.ts';
import { decodeText } from './decode-text.ts';
import { removeFromDotEnv, setInDotEnv } from './dot-env.ts';
import { removeInYaml, setInYaml } from './edit-yaml.ts';
import { mergeEnvironment } from './environment.ts';
import { unknownKey } from './explain-issue.ts';
import { prepareHome } from './home.ts';
import { jsonSchemaFileName, jsonSchemaText } from './json-schema.ts';
import { keyTree, nodeAt, valueAt, type KeyNode, type KeyPath } from './key-tree.ts';
import { loadDotEnv, type ConfigPlace, type LoadedDotEnv } from './load.ts';
import { moveSecrets } from './move-secrets.ts';
import { parseValue, parseYamlValue } from './parse-value.ts';
import {
  ConfigError,
  configFileName,
  environmentFileName,
  formatProblem,
  wholeFile,
  type Problem,
  type Warning,
} from './problem.ts';
import { readConfigFile } from './read-config-file.ts';
import type { Config } from './schema.ts';
import { referencesIn } from './secret-name.ts';
import { replaceSecrets } from './secrets.ts';

const secretMode = 0o600;
const shownSecret = '[set]';
const newFile = `# yaml-language-server: $schema=./${jsonSchemaFileName}
# Talaria's configuration. Every key is optional; \`talaria config check\` names mistakes.
`;

export type ConfigValue =
  /** Secrets are shown as `[set]`. `text` is for printing: texts as they are, everything else as JSON. */
  | { readonly kind: 'found'; readonly value: unknown; readonly text: string }
  | { readonly kind: 'unknown'; readonly message: string };

export type SetOutcome =
  | {
      readonly kind: 'written';
      /** Of config.yaml. */
      readonly path: string;
      /** The names in `.env` that hold the secrets of this change. */
      readonly secretNames: readonly string[];
      readonly warnings: readonly Warning[];
    }
  | {
      readonly kind: 'refused';
      readonly reason: 'unknown-key' | 'bad-value' | 'already-broken' | 'edit-by-hand';
      /** One line for the user. */
      readonly message: string;
      readonly problems: readonly Problem[];
    };

/** The value in force, defaults included. */
export function getConfigValue(config: Config, key: string): ConfigValue {
  const root = keyTree();
  const path = parseKey(key);
  if (nodeAt(root, path) === null) return { kind: 'unknown', message: unknownAt(root, path) };
  const value = valueAt(
    replaceSecrets(root, config, () => shownSecret),
    path,
  );
  if (value === undefined) return { kind: 'unknown', message: `\`${key}\` is not set` };
  return { kind: 'found', value, text: typeof value === 'string' ? value : JSON.stringify(value) };
}

/** YAML of the whole configuration in force, secrets hidden. */
export function showConfig(config: Config): string {
  return yaml.stringify(
    replaceSecrets(keyTree(), config, () => shownSecret),
    { lineWidth: 0 },
  );
}

/** Throws `ConfigError` or `HomeError` if the files can't be written. */
export async function setConfigValue(place: ConfigPlace, key: string, valueText: string): Promise<SetOutcome> {
  const root = keyTree();
  const path = parseKey(key);
  const node = nodeAt(root, path);
  if (node === null) return refused('unknown-key', unknownAt(root, path));
  const value = parseValue(yaml, node, valueText);
  if (value.kind === 'bad') return refused('bad-value', `\`${key}\`: ${value.message}`);

  const current = await readCurrent(place);
  if (current.kind === 'broken') return alreadyBroken(current.problems);
  const moved = moveSecrets({ root, written: current.written, env: place.env }, path, value.value);
  const edited = setInYaml(yaml, current.text, path, moved.value);
  if (edited.kind === 'stuck') {
    return refused(
      'edit-by-hand',
      `\`${key}\` is shared through an alias or lies below a plain value; change it in ${current.path}`,
    );
  }
  const variables = new Map([...current.dotEnv.values, ...moved.secrets]);
  const next = await checkConfigText(edited.text, mergeEnvironment(variables, place.env));
  if (next.problems.length > 0) {
    const before = await checkConfigText(current.text, mergeEnvironment(current.dotEnv.values, place.env));
    return before.problems.length > 0 ? alreadyBroken(next.problems) : wouldBreak(next.problems);
  }
  await writeAll(place.home, current, edited.text, moved.secrets);
  const { warnings } = next;
  return { kind: 'written', path: current.path, secretNames: [...moved.secrets.keys()], warnings };
}

export type RemoveOutcome =
  | {
      readonly kind: 'removed';
      /** The names that went out of `.env`, and those that were read there and stay. */
      readonly secretNames: readonly string[];
      readonly keptNames: readonly string[];
    }
  | Refused;

/**
 * Takes out a value that is written, and of `.env` those names that only it read, if they are its own. config.yaml is
 * written first: it never reads a name that is not there. Throws as `setConfigValue`.
 */
export async function removeConfigValue(
  place: ConfigPlace,
  key: string,
  isOwnName: (name: string) => boolean,
): Promise<RemoveOutcome> {
  const path = parseKey(key);
  const current = await readCurrent(place);
  if (current.kind === 'broken') return alreadyBroken(current.problems);
  const edited = removeInYaml(yaml, current.text, path);
  if (edited.kind === 'stuck') {
    return refused('edit-by-hand', `\`${key}\` is not written as a section of its own; remove it in ${current.path}`);
  }
  const next = await checkConfigText(edited.text, mergeEnvironment(current.dotEnv.values, place.env));
  if (next.problems.length > 0) return alreadyBroken(next.problems);
  const elsewhere = new Set(referencesIn(current.written, path));
  const read = new Set(referencesIn(valueAt(current.written, path), nowhere));
  const inFile = [...read].filter((name) => current.dotEnv.values.has(name) && !elsewhere.has(name));
  const secretNames = inFile.filter(isOwnName);
  await writeAll(place.home, current, edited.text, new Map());
  if (secretNames.length > 0) {
    const text = removeFromDotEnv(current.dotEnv.text, new Set(secretNames));
    await writing(() => writeFileAtomically(join(place.home, environmentFileName), text, { mode: secretMode }));
  }
  return { kind: 'removed', secretNames, keptNames: inFile.filter((name) => !isOwnName(name)) };
}

/** No key has this name. */
const nowhere: KeyPath = ['\0'];

function parseKey(key: string): KeyPath {
  return key.split('.').map((step) => (/^\d+$/.test(step) ? Number(step) : step));
}

/** Names the first step that does not exist, not the last. */
function unknownAt(root: KeyNode, path: KeyPath): string {
  const length = path.findIndex((_, index) => nodeAt(root, path.slice(0, index + 1)) === null) + 1;
  return unknownKey(root, path.slice(0, length));
}

type Refused = Extract<SetOutcome, { kind: 'refused' }>;

function refused(reason: 'unknown-key' | 'bad-value' | 'edit-by-hand', message: string): Refused {
  return { kind: 'refused', reason, message, problems: [] };
}

function alreadyBroken(problems: readonly Problem[]): Refused {
  const first = problems[0] === undefined ? '' : formatProblem(problems[0]);
  return { kind: 'refused', reason: 'already-broken', message: `fix this first: ${first}`, problems };
}

function wouldBreak(problems: readonly Problem[]): SetOutcome {
  const message = problems.map((problem) => problem.message).join('; ');
  return { kind: 'refused', reason: 'bad-value', message, problems };
}

interface Current {
  readonly kind: 'current';
  readonly path: string;
  readonly isNew: boolean;
  readonly text: string;
  /** The values as they are written, before `${NAME}` is replaced. */
  readonly written: unknown;
  readonly dotEnv: LoadedDotEnv;
}

async function readCurrent({
  home,
  env,
}: ConfigPlace): Promise<Current | { kind: 'broken'; problems: readonly Problem[] }> {
  const path = join(home, configFileName);
  const [file, dotEnv] = await Promise.all([readConfigFile(path, configBytesMax), loadDotEnv(home)]);
  if (dotEnv.problems.length > 0) return { kind: 'broken', problems: dotEnv.problems };
  if (file.kind === 'missing') return { kind: 'current', path, isNew: true, text: newFile, written: {}, dotEnv };
  if (file.kind === 'failed') {
    return { kind: 'broken', problems: [{ file: configFileName, ...wholeFile, path: '', message: file.message }] };
  }
  const decoded = decodeText(file.bytes, configBytesMax);
  const written = decoded.kind === 'text' ? parseYamlValue(yaml, decoded.text) : decoded;
  if (decoded.kind !== 'text' || written.kind !== 'value' || !isSection(written.value)) {
    return { kind: 'broken', problems: (await checkConfigText(file.bytes, env)).problems };
  }
  return { kind: 'current', path, isNew: false, text: decoded.text, written: written.value, dotEnv };
}

function isSection(value: unknown): boolean {
  return typeof value === 'object' && !Array.isArray(value);
}

async function writeAll(
  home: string,
  current: Current,
  text: string,
  secrets: ReadonlyMap<string, string>,
): Promise<void> {
  await prepareHome(home);
  await writing(async () => {
    if (secrets.size > 0) {
      const dotEnvText = setInDotEnv(current.dotEnv.text, secrets);
      await writeFileAtomically(join(home, environmentFileName), dotEnvText, { mode: secretMode });
    }
    await writeSchema(join(home, jsonSchemaFileName), current.isNew);
    await writeFileAtomically(current.path, text, current.isNew ? { mode: secretMode } : {});
  });
}

/** Throws a `ConfigError`. */
async function writing(write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    throw new ConfigError('not-writable', `The configuration can't be written: ${detail}`);
  }
}

/** Beside a new file, and again when a newer version of the program knows more keys. */
async function writeSchema(path: string, isWanted: boolean): Promise<void> {
  const text = jsonSchemaText();
  const before = await readFile(path, 'utf8').catch(() => null);
  if (before === text || (before === null && !isWanted)) return;
  await writeFileAtomically(path, text);
}
