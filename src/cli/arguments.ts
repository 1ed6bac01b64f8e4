/**
 * Reads a command line against a table of commands. Strict: what the table does not name is wrong usage, with the
 * nearest known word. Pure; what a command does, and how help looks, is told elsewhere.
 *
 * Command words come first (only options that every command takes may stand before them), then options and operands
 * in any order: `--name value`, `--name=value`, `-s value`; after `--` everything is an operand.
 */
import { nearest } from '../lib/nearest.ts';

export interface OptionSpec {
  readonly name: string;
  readonly short?: string;
  /** What stands for the value in help; an option without it is a switch. */
  readonly value?: string;
  /** It may be given more than once, with a value each time. */
  readonly isList?: true;
  readonly summary: string;
}

export interface OperandSpec {
  readonly name: string;
  readonly need: 'required' | 'optional' | 'one-or-more' | 'any-number';
}

export interface CommandSpec {
  /** `['sessions', 'list']`; empty for the program itself. */
  readonly path: readonly string[];
  readonly summary: string;
  /** Further paragraphs of its help. */
  readonly details?: readonly string[];
  readonly options: readonly OptionSpec[];
  readonly operands: readonly OperandSpec[];
}

/** The options and operands that were given, checked against the command's table. */
export interface CommandInput {
  has(option: string): boolean;
  value(option: string): string | null;
  /** All values of one that may be given more than once, in their order. */
  values(option: string): readonly string[];
  readonly operands: readonly string[];
}

export type ParsedArguments<Command extends CommandSpec> =
  | { readonly kind: 'command'; readonly command: Command; readonly verbose: boolean; readonly input: CommandInput }
  | { readonly kind: 'help'; readonly path: readonly string[] }
  | { readonly kind: 'version' }
  | { readonly kind: 'wrong'; readonly problem: string };

/** Every command takes these. */
export const globalOptions: readonly OptionSpec[] = [
  { name: 'verbose', summary: 'debug log and stack traces on stderr' },
  { name: 'help', short: 'h', summary: 'show this help' },
];

const versionOption: OptionSpec = { name: 'version', summary: 'show the version' };
export const programOptions: readonly OptionSpec[] = [versionOption];

export function parseArguments<Command extends CommandSpec>(
  commands: readonly Command[],
  argv: readonly string[],
): ParsedArguments<Command> {
  const early = argv.findIndex((word) => !isGlobalSwitch(word));
  const start = early === -1 ? argv.length : early;
  const found = findCommand(commands, argv.slice(start));
  if (found.kind === 'wrong') return found;
  const words = [...argv.slice(0, start), ...found.rest];
  if (found.kind === 'group') {
    // `talaria sessions` alone is a question; what it could have meant is the answer.
    if (words.some((word) => word === '--help' || word === '-h')) return { kind: 'help', path: found.path };
    return { kind: 'wrong', problem: groupProblem(commands, found.path) };
  }
  if (found.kind === 'help') return { kind: 'help', path: found.path };
  return parseWords(found.command, words);
}

function isGlobalSwitch(word: string): boolean {
  return word === '-h' || globalOptions.some((option) => word === `--${option.name}`);
}

type Found<Command> =
  | { readonly kind: 'command'; readonly command: Command; readonly rest: readonly string[] }
  | { readonly kind: 'group'; readonly path: readonly string[]; readonly rest: readonly string[] }
  | { readonly kind: 'help'; readonly path: readonly string[]; readonly rest: readonly string[] }
  | { readonly kind: 'wrong'; readonly problem: string };

function findCommand<Command extends CommandSpec>(
  commands: readonly Command[],
  argv: readonly string[],
): Found<Command> {
  if (argv[0] === 'help') {
    const path = argv.slice(1).filter((word) => !word.startsWith('-'));
    if (nextWords(commands, path).length > 0 || commands.some((command) => samePath(command.path, path))) {
      return { kind: 'help', path, rest: [] };
    }
    return { kind: 'wrong', problem: unknownCommand(commands, path.slice(0, -1), path.at(-1) ?? '') };
  }
  const path: string[] = [];
  for (const word of argv) {
    if (word.startsWith('-') || nextWords(commands, path).length === 0) break;
    if (!nextWords(commands, path).includes(word)) {
      return { kind: 'wrong', problem: unknownCommand(commands, path, word) };
    }
    path.push(word);
  }
  const command = commands.find((candidate) => samePath(candidate.path, path));
  const rest = argv.slice(path.length);
  return command === undefined ? { kind: 'group', path, rest } : { kind: 'command', command, rest };
}

function samePath(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((word, index) => word === b[index]);
}

/** The words that may follow these command words. */
export function nextWords(commands: readonly CommandSpec[], path: readonly string[]): string[] {
  const below = commands.filter(
    (command) => command.path.length > path.length && samePath(command.path.slice(0, path.length), path),
  );
  return [...new Set(below.map((command) => command.path[path.length] ?? ''))];
}

function unknownCommand(commands: readonly CommandSpec[], path: readonly string[], word: string): string {
  const known = nextWords(commands, path);
  const asked = ['talaria', ...path].join(' ');
  const [close] = nearest(word, known);
  const advice = close === undefined ? `see ${asked} --help` : `did you mean ${asked} ${close}?`;
  return `unknown command ${quote([...path, word].join(' '))}; ${advice}`;
}

function groupProblem(commands: readonly CommandSpec[], path: readonly string[]): string {
  return `talaria ${path.join(' ')} needs one of: ${nextWords(commands, path).join(', ')}`;
}

function parseWords<Command extends CommandSpec>(command: Command, words: readonly string[]): ParsedArguments<Command> {
  const isProgram = command.path.length === 0;
  const options = [...command.options, ...globalOptions, ...(isProgram ? programOptions : [])];
  const given = new Map<string, string | null>();
  const lists = new Map<string, string[]>();
  const operands: string[] = [];
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? '';
    if (word === '--') {
      operands.push(...words.slice(index + 1));
      break;
    }
    // A lone dash is an operand by custom (standard input or output), and so is a negative number.
    if (!word.startsWith('-') || word === '-' || /^-\d/.test(word)) {
      operands.push(word);
      continue;
    }
    const read = readOption(options, word, words[index + 1]);
    if (read.kind === 'wrong') return { kind: 'wrong', problem: `${read.problem}${seeHelp(command)}` };
    const { isList = false, name } = read.option;
    if (isList) lists.set(name, [...(lists.get(name) ?? []), read.value ?? '']);
    else if (given.has(name) && !isGlobalSwitch(word)) {
      return { kind: 'wrong', problem: `--${read.option.name} was given twice` };
    }
    given.set(read.option.name, read.value);
    index += read.taken;
  }
  if (given.has('help')) return { kind: 'help', path: command.path };
  if (given.has('version')) return { kind: 'version' };
  const problem = operandProblem(command, operands);
  if (problem !== null) return { kind: 'wrong', problem };
  const input = {
    has: (name: string) => given.has(name),
    value: (name: string) => given.get(name) ?? null,
    values: (name: string) => lists.get(name) ?? [],
    operands,
  };
  return { kind: 'command', command, verbose: given.has('verbose'), input };
}

type ReadOption =
  | { readonly kind: 'read'; readonly option: OptionSpec; readonly value: string | null; readonly taken: 0 | 1 }
  | { readonly kind: 'wrong'; readonly problem: string };

function readOption(options: readonly OptionSpec[], word: string, following: string | undefined): ReadOption {
  const equals = word.startsWith('--') ? word.indexOf('=') : -1;
  const spelt = equals === -1 ? word : word.slice(0, equals);
  const option = options.find((candidate) => isSpelt(candidate, spelt));
  if (option === undefined) {
    const [close] = nearest(
      spelt,
      options.map((candidate) => `--${candidate.name}`),
    );
    return wrong(`unknown option ${quote(spelt)}${close === undefined ? '' : `; did you mean ${close}?`}`);
  }
  if (option.value === undefined) {
    return equals === -1 ? { kind: 'read', option, value: null, taken: 0 } : wrong(`${spelt} takes no value`);
  }
  if (equals !== -1) return { kind: 'read', option, value: word.slice(equals + 1), taken: 0 };
  if (following === undefined) return wrong(`${spelt} needs a ${option.value} after it`);
  // A forgotten value must not swallow the next option; text that looks like one is still possible with `=`.
  if (options.some((candidate) => isSpelt(candidate, following))) {
    return wrong(`${spelt} needs a ${option.value} after it; write --${option.name}=${following} if that is it`);
  }
  return { kind: 'read', option, value: following, taken: 1 };
}

function isSpelt(option: OptionSpec, word: string): boolean {
  return word === `--${option.name}` || (option.short !== undefined && word === `-${option.short}`);
}

function wrong(problem: string): { kind: 'wrong'; problem: string } {
  return { kind: 'wrong', problem };
}

function operandProblem(command: CommandSpec, operands: readonly string[]): string | null {
  const asked = ['talaria', ...command.path].join(' ');
  const missing = command.operands[operands.length];
  if (missing !== undefined && (missing.need === 'required' || missing.need === 'one-or-more'))
    return `${asked} needs ${missing.name}${seeHelp(command)}`;
  const last = command.operands.at(-1)?.need;
  const takesMany = last === 'one-or-more' || last === 'any-number';
  const extra = operands[command.operands.length];
  if (extra === undefined || takesMany) return null;
  return `unexpected ${quote(extra)} after ${asked}${seeHelp(command)}`;
}

function seeHelp(command: CommandSpec): string {
  return ` (see ${['talaria', ...command.path].join(' ')} --help)`;
}

const quotedCharsMax = 60;

/** A user's own word inside a message, kept short and on one line. */
function quote(word: string): string {
  return JSON.stringify(word.length > quotedCharsMax ? `${word.slice(0, quotedCharsMax)}…` : word);
}
