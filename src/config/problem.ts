/** A mistake in one of the two files that the operator writes, with its place and a sentence that says what to do. */

export const configFileName = 'config.yaml';
export const environmentFileName = '.env';
export type ConfigFile = typeof configFileName | typeof environmentFileName;

export interface Position {
  /** From 1; 0 if the file as a whole is meant. */
  readonly line: number;
  readonly column: number;
}

export interface Problem extends Position {
  readonly file: ConfigFile;
  /** The key, like `gateway.agent_cache.max_size`; empty if none is meant. */
  readonly path: string;
  readonly message: string;
}

/** Something worth knowing that stops nothing. */
export type Warning = Problem;

export const wholeFile: Position = { line: 0, column: 0 };

/** How many mistakes are listed; one wrong character can break every line after it. */
export const problemsMax = 100;

export function inFileOrder(problems: readonly Problem[]): Problem[] {
  const sorted = [...problems].sort(
    (a, b) => (a.file === b.file ? 0 : a.file < b.file ? 1 : -1) || a.line - b.line || a.column - b.column,
  );
  if (sorted.length <= problemsMax) return sorted;
  const rest = `and ${sorted.length - problemsMax} more mistakes`;
  return [...sorted.slice(0, problemsMax), { file: configFileName, ...wholeFile, path: '', message: rest }];
}

/** `config.yaml:3:9: …`, which terminals and editors turn into a link. */
export function formatProblem(problem: Problem): string {
  const place = problem.line === 0 ? problem.file : `${problem.file}:${problem.line}:${problem.column}`;
  return `${place}: ${problem.message}`;
}

/** A failure to read or write the configuration; `message` is for the user. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly reason: 'mistakes' | 'not-writable';
  readonly problems: readonly Problem[];

  constructor(reason: ConfigError['reason'], message: string, problems: readonly Problem[] = []) {
    super(message);
    this.reason = reason;
    this.problems = problems;
  }
}
