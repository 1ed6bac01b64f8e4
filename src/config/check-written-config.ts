/** Checks a config.yaml that has something in it: YAML, then the schema, then what this version does not do yet. */
import * as z from 'zod/mini';
import { defaultConfig } from './default-config.ts';
import type { Environment } from './environment.ts';
import { explainIssue } from './explain-issue.ts';
import { formatPath, keyTree, nodeAt, valueAt, type KeyNode, type KeyPath } from './key-tree.ts';
import { notYetWarnings } from './not-yet.ts';
import { configFileName, inFileOrder, type Position, type Problem, type Warning } from './problem.ts';
import { readYaml, type YamlReading } from './read-yaml.ts';
import { configSchema, type Config } from './schema.ts';
import { secretsOf } from './secrets.ts';
import { webhookWarnings } from './webhook-warnings.ts';
import type { Yaml } from './yaml-syntax.ts';

export interface CheckedConfig {
  /** Null exactly if there are problems. */
  readonly config: Config | null;
  /** In the order of the file. */
  readonly problems: readonly Problem[];
  readonly warnings: readonly Warning[];
  /** Every secret value in the configuration, to be kept out of logs. */
  readonly secrets: readonly string[];
}

export function checkWrittenConfig(yaml: Yaml, text: string, environment: Environment): CheckedConfig {
  const reading = readYaml(yaml, text, environment);
  if (!reading.isValidYaml) return refused(reading.problems);
  // `null`, `~` or `---` alone: a file that sets nothing.
  const value = reading.value ?? {};
  if (typeof value !== 'object' || Array.isArray(value)) {
    const kind = Array.isArray(value) ? 'a list' : 'a single value';
    const message = `the file must hold keys such as \`gateway:\`, not ${kind}`;
    return refused([...reading.problems, problemAt(reading.placeOf([]).value, [], message)]);
  }
  const root = keyTree();
  const typed = typedFromEnvironment(root, reading, value, []);
  const parsed = z.safeParse(configSchema, typed);
  const problems = [...reading.problems, ...(parsed.success ? [] : explain(root, reading, typed, parsed.error.issues))];
  if (!parsed.success || problems.length > 0) return refused(problems);
  const found = [...notYetWarnings(parsed.data, defaultConfig), ...webhookWarnings(parsed.data)];
  const warnings = found.map((warning) => problemAt(reading.placeOf(warning.path).key, warning.path, warning.message));
  const secrets = secretsOf(root, parsed.data);
  return { config: parsed.data, problems: [], warnings: inFileOrder(warnings), secrets };
}

function refused(problems: readonly Problem[]): CheckedConfig {
  return { config: null, problems: inFileOrder(problems), warnings: [], secrets: [] };
}

function explain(root: KeyNode, reading: YamlReading, value: unknown, issues: readonly z.core.$ZodIssue[]): Problem[] {
  // A value that could not be read has been reported; that it now has the wrong form is no news.
  const reported = new Set(reading.problems.map((problem) => problem.path));
  const deps = {
    root,
    valueAt: (path: KeyPath) => valueAt(value, path),
    isFromEnvironment: (path: KeyPath) => reading.isFromEnvironment(path),
  };
  return issues
    .flatMap((issue) => explainIssue(deps, issue))
    .filter((explanation) => !reported.has(formatPath(explanation.path)))
    .map(({ path, at, message }) => problemAt(reading.placeOf(path)[at], path, message));
}

function problemAt(position: Position, path: KeyPath, message: string): Problem {
  return { file: configFileName, ...position, path: formatPath(path), message };
}

/** The environment knows only texts: `port: ${PORT}` becomes a number because the schema wants one there. */
function typedFromEnvironment(root: KeyNode, reading: YamlReading, value: unknown, path: KeyPath): unknown {
  if (typeof value === 'string') {
    const kind = reading.isFromEnvironment(path) ? nodeAt(root, path)?.shape.kind : undefined;
    if (kind === 'number' && /^-?\d+(\.\d+)?$/.test(value)) return Number(value);
    if (kind === 'boolean' && /^(true|false)$/.test(value)) return value === 'true';
    return value;
  }
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    return value.map((item: unknown, index) => typedFromEnvironment(root, reading, item, [...path, index]));
  }
  const copy = Object.create(null) as Record<string, unknown>;
  for (const [key, inner] of Object.entries(value)) {
    copy[key] = typedFromEnvironment(root, reading, inner, [...path, key]);
  }
  return copy;
}
