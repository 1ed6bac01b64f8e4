/** What a shell's own commands do to its state. */
import { resolvePath } from './path-kinds.ts';
import { readOptions } from './program-options.ts';
import { knownOutput } from './known-output.ts';
import { hasGap, unknown } from './shell-gaps.ts';
import { assign, forget, lookUp, type ShellState } from './shell-state.ts';

export function runBuiltin(name: string, given: readonly string[], state: ShellState, stdin: string | null): void {
  builtins[name]?.(given, state, stdin);
}

type Builtin = (given: readonly string[], state: ShellState, stdin: string | null) => void;

const changeFolder: Builtin = (given, state) => {
  const [target] = readOptions(given).operands;
  const home = lookUp(state, 'HOME');
  if (target === undefined) state.cwd = typeof home === 'string' ? home : unknown;
  else state.cwd = target === '-' ? unknown : resolvePath(state.cwd, target);
};

const declare: Builtin = (given, state) => {
  const isReference = given.some((word) => /^-[a-zA-Z]*n/.test(word));
  for (const word of given) {
    const [, name, value] = /^([A-Za-z_]\w*)\+?=(.*)$/s.exec(word) ?? [];
    if (name !== undefined && value !== undefined && isReference) state.references.set(name, value);
    else if (name !== undefined && value !== undefined && value !== unknown)
      assign(state, name, word.includes('+=') ? unknown : value);
  }
};

const read: Builtin = (given, state, stdin) => {
  const options = readOptions(given, { valued: 'adinNptu' });
  const names = [...options.values('a'), ...options.operands];
  const [line = ''] = (stdin ?? '').split('\n');
  const separators = lookUp(state, 'IFS');
  const isPlain = typeof separators !== 'string' || /^\s*$/.test(separators);
  const words = isPlain ? line.trim().split(/\s+/) : splitAt(line, separators);
  names.forEach((name, index) => {
    if (stdin === null || hasGap(stdin)) forget(state, name);
    else if (options.has('a')) assign(state, name, words);
    else assign(state, name, index + 1 === names.length ? words.slice(index).join(' ') : (words[index] ?? ''));
  });
  if (names.length === 0) forget(state, 'REPLY');
};

function splitAt(line: string, separators: string): string[] {
  const words = [''];
  for (const one of line) {
    if (separators.includes(one)) words.push('');
    else words.push(`${words.pop() ?? ''}${one}`);
  }
  return words;
}

const fillArray: Builtin = (given, state, stdin) => {
  const [name = 'MAPFILE'] = readOptions(given, { valued: 'dnOsuCc' }).operands;
  if (stdin === null || hasGap(stdin)) forget(state, name);
  else assign(state, name, stdin.replace(/\n$/, '').split('\n'));
};

const builtins: Readonly<Record<string, Builtin>> = {
  cd: changeFolder,
  chdir: changeFolder,
  pushd: changeFolder,
  popd(_given, state) {
    state.cwd = unknown;
  },
  export: declare,
  declare,
  typeset: declare,
  local: declare,
  readonly: declare,
  read,
  mapfile: fillArray,
  readarray: fillArray,
  alias(given, state) {
    for (const word of given) {
      const [, name, text] = /^([^=]+)=(.*)$/s.exec(word) ?? [];
      if (name !== undefined && text !== undefined) state.aliases.set(name, text);
    }
  },
  getopts: (given, state) => forget(state, given[1] ?? ''),
  unset: (given, state) => given.forEach((name) => forget(state, name)),
  set(given, state) {
    const end = given.indexOf('--');
    if (end >= 0) state.positional = given.slice(end + 1);
    else if (given.length > 0 && !/^[-+]/.test(given[0] ?? '')) state.positional = given;
  },
  shift(given, state) {
    if (state.positional !== null) state.positional = state.positional.slice(Number(given[0] ?? 1) || 1);
  },
  printf(given, state) {
    const [option, name = '', ...rest] = given;
    if (option === '-v') assign(state, name, knownOutput(['printf', ...rest], null, state.cwd) ?? unknown);
  },
};
