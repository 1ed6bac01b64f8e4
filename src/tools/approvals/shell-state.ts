/**
 * What is known of a shell while its code is read: folder, variables, functions, what it wrote into files. A variable that
 * is not there has a value that nobody knows, because the shell lived before this command.
 */
import type { Function as FunctionNode } from 'unbash';
import { unknown } from './shell-gaps.ts';

/** A text with gaps, or an array of them. */
export type Value = string | readonly string[];

export interface ShellState {
  cwd: string;
  /** Each with all the values that it could have. */
  readonly variables: Map<string, readonly Value[]>;
  readonly functions: Map<string, FunctionNode['body']>;
  readonly aliases: Map<string, string>;
  /** Names that stand for other names. */
  readonly references: Map<string, string>;
  /** What is in files and pipes that this command itself filled, by absolute path. */
  readonly files: Map<string, string>;
  /** `$1` and so on; null: not known. */
  positional: readonly string[] | null;
  /** `$0`. */
  name: string;
  /** Inside a branch or a loop: an assignment may not happen. */
  isConditional: boolean;
}

const valuesMax = 16;
/** A longer value is not kept: doubling one a few times would fill the memory. */
const valueCharsMax = 20_000;

export function initialState(cwd: string, home: string, talariaHome: string): ShellState {
  return {
    cwd,
    variables: new Map<string, readonly Value[]>([
      ['HOME', [home]],
      ['TALARIA_HOME', [talariaHome]],
      ['IFS', [' \t\n']],
    ]),
    functions: new Map(),
    aliases: new Map(),
    references: new Map(),
    files: new Map(),
    // A shell that is typed into has none.
    positional: [],
    name: 'bash',
    isConditional: false,
  };
}

/** A child's own copy: what it changes stays with it. */
export function copyState(state: ShellState): ShellState {
  return {
    ...state,
    variables: new Map(state.variables),
    functions: new Map(state.functions),
    aliases: new Map(state.aliases),
    references: new Map(state.references),
    // Files are shared by everybody.
    files: state.files,
  };
}

export function assign(state: ShellState, variable: string, given: Value): void {
  const name = state.references.get(variable) ?? variable;
  const value = sizeOf(given) > valueCharsMax ? unknown : given;
  const before = state.isConditional ? (state.variables.get(name) ?? []) : [];
  const values = [...before.filter((other) => !isSame(other, value)), value];
  if (values.length > valuesMax) state.variables.delete(name);
  else state.variables.set(name, values);
}

export function forget(state: ShellState, name: string): void {
  if (name === 'IFS') state.variables.set('IFS', [' \t\n']);
  else state.variables.delete(name);
}

/** Code that nobody has read ran in this shell. */
export function forgetAll(state: ShellState): void {
  const home = state.variables.get('HOME');
  state.variables.clear();
  state.variables.set('IFS', [' \t\n']);
  // Home and folder rarely change, and a guess that is nearly always right finds more than none.
  if (home !== undefined) state.variables.set('HOME', home);
  state.functions.clear();
  state.aliases.clear();
  state.references.clear();
  state.positional = null;
}

/** Undefined: not known. */
export function lookUp(state: ShellState, name: string): Value | undefined {
  if (name === 'PWD') return state.cwd;
  if (name === '0') return state.name;
  if (name === '@' || name === '*') return state.positional ?? undefined;
  if (/^\d+$/.test(name)) return state.positional === null ? undefined : (state.positional[Number(name) - 1] ?? '');
  return state.variables.get(state.references.get(name) ?? name)?.[0];
}

/** One state for each combination of values of these variables; too many of them count as not known. */
export function* eachValuation(state: ShellState, names: readonly string[]): Generator<ShellState> {
  const several = names.filter((name) => (state.variables.get(name)?.length ?? 0) > 1);
  const count = several.reduce((product, name) => product * (state.variables.get(name)?.length ?? 1), 1);
  if (count > valuesMax) {
    const vague = copyState(state);
    for (const name of several) vague.variables.delete(name);
    yield vague;
    return;
  }
  for (let index = 0; index < count; index++) {
    const chosen = copyState(state);
    let rest = index;
    for (const name of several) {
      const values = state.variables.get(name) ?? [];
      const value = values[rest % values.length];
      rest = Math.floor(rest / values.length);
      if (value !== undefined) chosen.variables.set(name, [value]);
    }
    yield chosen;
  }
}

function sizeOf(value: Value): number {
  return typeof value === 'string' ? value.length : value.reduce((sum, item) => sum + item.length + 1, 0);
}

/** What is written there may be run later. */
export function remember(state: ShellState, path: string, text: string): void {
  if (text.length > valueCharsMax) state.files.delete(path);
  else state.files.set(path, text);
}

function isSame(one: Value, other: Value): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
