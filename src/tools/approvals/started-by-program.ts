/**
 * Programs that run other programs, and what they run: `env rm`, `sh -c 'rm'`, `find -exec rm`, `git -c alias.x='!rm'`. One
 * step; whoever asks goes on with what comes back.
 */
import { readOptions } from './program-options.ts';
import { resolvePath } from './path-kinds.ts';
import { isKnown, unknown } from './shell-gaps.ts';
import { languages, runners, shells, starters } from './starter-tables.ts';
import {
  containerPrograms,
  editorPrograms,
  foundPrograms,
  gitPrograms,
  makePrograms,
  sedPrograms,
  tarPrograms,
} from './started-by-tools.ts';
import { code, program, type StartContext, type Started } from './started.ts';

export function startedBy(name: string, given: readonly string[], context: StartContext): readonly Started[] {
  const starter = starters[name];
  if (starter !== undefined) {
    const [valued, before, longValued = []] = starter;
    const isLookup = name === 'command' && /^-[vV]/.test(given[0] ?? '');
    const { operands } = readOptions(given, { valued, longValued, endsAtOperand: true });
    return isLookup ? [] : program(withoutAssignments(operands).slice(before));
  }
  if (shells.has(name)) return shellCode(given);
  const language = name.replace(/[\d.]+$/, '');
  if (languages[language] !== undefined) return foreign(language, given, context);
  const runner = runners[name];
  if (runner !== undefined && given[0] === runner)
    return program(readOptions(given.slice(1), { endsAtOperand: true }).operands);
  return special[name]?.(given, context) ?? loader(name, given);
}

const special: Readonly<Record<string, (given: readonly string[], context: StartContext) => readonly Started[]>> = {
  env(given) {
    const options = readOptions(given, {
      valued: 'uCS',
      longValued: ['unset', 'chdir', 'split-string'],
      endsAtOperand: true,
    });
    // It splits much as a shell does.
    const split = options.values('S', 'split-string').flatMap(code);
    return [...split, ...program(withoutAssignments(options.operands))];
  },
  busybox: (given) => program(given),
  toybox: (given) => program(given),
  coreutils: (given) => {
    const [, chosen] = /^--coreutils-prog(?:-shebang)?=(.+)$/.exec(given[0] ?? '') ?? [];
    return chosen === undefined ? program(given) : program([chosen, ...given.slice(1)]);
  },
  eval: (given) => [{ kind: 'code', text: given.join(' '), isHere: true }],
  trap: (given) => [{ kind: 'code', text: given.find((word) => !word.startsWith('-')) ?? '' }],
  source: (given, context) => sourced(given, context),
  '.': (given, context) => sourced(given, context),
  alias: (given) => given.flatMap((word) => code(word.includes('=') ? word.slice(word.indexOf('=') + 1) : '')),
  su: (given) =>
    readOptions(given, { valued: 'csgGw', longValued: ['command', 'shell'] })
      .values('c', 'command')
      .flatMap(code),
  runuser: (given) => {
    const options = readOptions(given, { valued: 'cugG', longValued: ['command', 'user'] });
    return [...options.values('c', 'command').flatMap(code), ...program(options.operands)];
  },
  script: (given) =>
    readOptions(given, { valued: 'cOIBTE', longValued: ['command'] })
      .values('c', 'command')
      .flatMap(code),
  watch: (given) =>
    code(readOptions(given, { valued: 'n', longValued: ['interval'], endsAtOperand: true }).operands.join(' ')),
  flock(given) {
    const options = readOptions(given, { valued: 'wEc', longValued: ['command'], endsAtOperand: true });
    const [, ...rest] = options.operands;
    return rest[0] === '-c' ? code(rest[1] ?? '') : [...options.values('c', 'command').flatMap(code), ...program(rest)];
  },
  xargs(given, { stdin }) {
    const options = readOptions(given, {
      valued: 'IiLlnPsdEaR',
      longValued: ['replace', 'max-args', 'max-procs', 'delimiter'],
      endsAtOperand: true,
    });
    const words = stdin === null ? [unknown] : stdin.split(/[\s\0]+/).filter((word) => word !== '');
    const [mark] = options.values('Ii', 'replace');
    if (mark !== undefined) {
      return words.flatMap((word) =>
        program(options.operands.map((operand) => operand.replaceAll(mark === '' ? '{}' : mark, word))),
      );
    }
    return program(options.operands.length === 0 ? ['echo'] : [...options.operands, ...words]);
  },
  parallel(given, { stdin }) {
    const { operands } = readOptions(given, { valued: 'jNnIda', endsAtOperand: true });
    const at = operands.findIndex((word) => /^:{3,4}\+?$/.test(word));
    const command = at < 0 ? operands : operands.slice(0, at);
    const values = at < 0 ? (stdin ?? unknown).split('\n').filter((line) => line !== '') : operands.slice(at + 1);
    const text = command.join(' ');
    return values.flatMap((value) => code(text.includes('{}') ? text.replaceAll('{}', value) : `${text} ${value}`));
  },
  find: (given, context) => foundPrograms(given, context),
  gfind: (given, context) => foundPrograms(given, context),
  fd: (given) =>
    given.flatMap((word, index) =>
      /^(?:-x|-X|--exec|--exec-batch)$/.test(word) ? program(given.slice(index + 1)) : [],
    ),
  tar: (given) => tarPrograms(given),
  bsdtar: (given) => tarPrograms(given),
  gtar: (given) => tarPrograms(given),
  git: (given) => gitPrograms(given),
  rsync: (given) =>
    readOptions(given, { valued: 'e', longValued: ['rsh', 'rsync-path'] })
      .values('e', 'rsh')
      .flatMap(code),
  ssh(given) {
    const options = readOptions(given, { valued: 'BbcDEeFIiJLlmOopQRSWw', endsAtOperand: true });
    const commands = options
      .values('o')
      .flatMap((value) => /^(?:Proxy|Local|KnownHosts)Command[= ](.*)$/is.exec(value)?.[1] ?? []);
    return [...commands, options.operands.slice(1).join(' ')].flatMap(code);
  },
  vim: (given) => editorPrograms(given),
  vi: (given) => editorPrograms(given),
  nvim: (given) => editorPrograms(given),
  ex: (given) => editorPrograms(given),
  view: (given) => editorPrograms(given),
  sed: (given) => sedPrograms(given),
  gsed: (given) => sedPrograms(given),
  make: (given, context) => makePrograms(given, context),
  gmake: (given, context) => makePrograms(given, context),
  at: (_given, { stdin }) => code(stdin ?? unknown),
  crontab: (_given, { stdin }) =>
    (stdin ?? '').split('\n').flatMap((line) => code(/^\s*(?:@\w+|(?:\S+\s+){4}\S+)\s+(.*)$/.exec(line)?.[1] ?? '')),
  batch: (_given, { stdin }) => code(stdin ?? unknown),
  docker: (given) => containerPrograms(given),
  podman: (given) => containerPrograms(given),
  nerdctl: (given) => containerPrograms(given),
  kubectl: (given) => (given.includes('--') ? program(given.slice(given.indexOf('--') + 1)) : []),
  man: (given) =>
    readOptions(given, { valued: 'P', longValued: ['pager'] })
      .values('P', 'pager')
      .flatMap(code),
  zip: (given) =>
    readOptions(given, { longValued: ['unzip-command'] })
      .values('', 'unzip-command')
      .flatMap(code),
  'start-stop-daemon': (given) =>
    readOptions(given, { valued: 'xa', longValued: ['exec', 'startas'] })
      .values('xa', 'exec')
      .flatMap((one) => program([one])),
  coproc: (given) => program(given),
  hash: () => [],
};

function withoutAssignments(words: readonly string[]): readonly string[] {
  const first = words.findIndex((word) => !/^[A-Za-z_]\w*=/.test(word));
  return first < 0 ? [] : words.slice(first);
}

function sourced([path]: readonly string[], { cwd }: StartContext): Started[] {
  return path === undefined ? [] : [{ kind: 'code-file', path: resolvePath(cwd, path), isHere: true }];
}

function shellCode(given: readonly string[]): Started[] {
  let isCode = false;
  for (let index = 0; index < given.length; index++) {
    const word = given[index] ?? '';
    const isOption = /^[-+]/.test(word) && word !== '-' && word !== '--';
    if (!isOption) {
      const rest = word === '-' || word === '--' ? given.slice(index + 1) : given.slice(index);
      const [first] = rest;
      if (first === undefined) break;
      if (isCode) return [{ kind: 'code', text: first, positional: rest.slice(2) }];
      return [{ kind: 'code-file', path: first }];
    }
    if (/^-[a-z]*c/i.test(word) && !word.startsWith('--')) isCode = true;
    if (/^(?:[-+][a-z]*[oO]|--rcfile|--init-file)$/.test(word)) index += 1;
  }
  return [{ kind: 'code-from-stdin' }];
}

function foreign(language: string, given: readonly string[], { cwd, stdin }: StartContext): Started[] {
  const letters = languages[language] ?? '';
  const isAwk = language.endsWith('awk');
  const options = readOptions(given, {
    valued: isAwk ? 'Fvf' : `${letters}mWX`,
    longValued: ['eval', 'print', 'file'],
    endsAtOperand: true,
  });
  const [module] = language === 'python' ? options.values('m') : [];
  const hasCode = (letters !== '' && options.has(letters, 'eval')) || options.has('', 'print') || module !== undefined;
  const [first, second] = options.operands;
  const file = first === 'run' && /^(?:deno|bun)$/.test(language) ? second : first;
  if (hasCode) return [{ kind: 'foreign', language, path: null }];
  if (isAwk) return [{ kind: 'foreign', language, path: options.values('f', 'file')[0] ?? null }];
  if (file === undefined || file === '-') {
    const isAsking = options.has('vVh', 'version') || options.has('', 'help');
    return isAsking && stdin === null ? [] : [{ kind: 'foreign', language, path: null }];
  }
  return [{ kind: 'foreign', language, path: isKnown(file) ? resolvePath(cwd, file) : null }];
}

/** The dynamic loader runs the program that it is given. */
function loader(name: string, given: readonly string[]): Started[] {
  return /^ld(?:-linux|-musl|\.so|64\.so)/.test(name)
    ? program(
        readOptions(given, { longValued: ['library-path', 'preload', 'audit', 'argv0'], endsAtOperand: true }).operands,
      )
    : [];
}
