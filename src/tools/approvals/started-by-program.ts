/**
 * Programs that run other programs, and what they run: `env rm`, `sh -c 'rm'`, `find -exec rm`, `git -c alias.x='!rm'`. One
 * step; whoever asks goes on with what comes back.
 */
import { readOptions } from './program-options.ts';
import { unescaped } from './known-output.ts';
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
    const options = readOptions(given, { valued, longValued, endsAtOperand: true });
    const [cwd] = name === 'sudo' ? options.values('D', 'chdir') : [];
    return isLookup ? [] : program(withoutAssignments(options.operands).slice(before), cwd);
  }
  if (shells.has(name)) return shellCode(given);
  const language = name.replace(/[\d.]+$/, '');
  if (languages[language] !== undefined) return foreign(language, given, context);
  if (runners[name]?.test(given[0] ?? '') === true) return ranPackage(given.slice(1));
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
    const operands = options.operands[0] === '-' ? options.operands.slice(1) : options.operands;
    return [...split, ...program(withoutAssignments(operands), options.values('C', 'chdir')[0])];
  },
  busybox: (given) => program(given),
  toybox: (given) => program(given),
  coreutils: (given) => {
    const [, chosen] = /^--coreutils-prog(?:-shebang)?=(.+)$/.exec(given[0] ?? '') ?? [];
    return chosen === undefined ? program(given) : program([chosen, ...given.slice(1)]);
  },
  eval: (given) => [{ kind: 'code', text: (given[0] === '--' ? given.slice(1) : given).join(' '), isHere: true }],
  npx: (given) => ranPackage(given),
  bunx: (given) => ranPackage(given),
  // A shell's own commands that run code later, or for each of something.
  mapfile: (given) => readOptions(given, { valued: 'dnOsuCc' }).values('C').flatMap(code),
  readarray: (given) => readOptions(given, { valued: 'dnOsuCc' }).values('C').flatMap(code),
  compgen: (given) => readOptions(given, { valued: 'AGWFCXPS' }).values('C').flatMap(code),
  complete: (given) => readOptions(given, { valued: 'AGWFCXPSo' }).values('C').flatMap(code),
  bind: (given) =>
    readOptions(given, { valued: 'xfmqur' })
      .values('x')
      .flatMap((one) => code(one.replace(/^[^:]*:/, ''))),
  fc: (given) => readOptions(given, { valued: 'e' }).values('e').flatMap(code),
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
      valued: 'ILlnPsdEaR',
      longValued: ['replace', 'max-args', 'max-procs', 'delimiter'],
      endsAtOperand: true,
    });
    // What comes from a file is not known here.
    const [separator] = options.values('d', 'delimiter');
    const between = options.has('0', 'null') ? /[\0\n]+/ : separator === undefined ? /[\s\0]+/ : unescaped(separator);
    const isKnownInput = stdin !== null && !options.has('a', 'arg-file');
    const words = isKnownInput ? stdin.split(between).filter((word) => word.trim() !== '') : [unknown];
    const [mark = options.has('i') ? '{}' : undefined] = options.values('I', 'replace');
    if (mark !== undefined) {
      return words.flatMap((word) =>
        program(options.operands.map((operand) => operand.replaceAll(mark === '' ? '{}' : mark, word))),
      );
    }
    return program(options.operands.length === 0 ? ['echo'] : [...options.operands, ...words]);
  },
  parallel(given, { stdin }) {
    const { operands } = readOptions(given, {
      valued: 'jNnIdaSC',
      longValued: ['jobs', 'colsep', 'delay', 'timeout', 'retries', 'joblog', 'results', 'delimiter', 'arg-file'],
      endsAtOperand: true,
    });
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
  rsync(given) {
    const options = readOptions(given, { valued: 'e', longValued: ['rsh', 'rsync-path'] });
    return [...options.values('e', 'rsh'), ...options.values('', 'rsync-path')].flatMap(code);
  },
  ssh(given) {
    const options = readOptions(given, { valued: 'BbcDEeFIiJLlmOopQRSWw', endsAtOperand: true });
    return [...sshCommands(options.values('o')), options.operands.slice(1).join(' ')].flatMap(code);
  },
  scp: (given) => copiedOver(given),
  sftp: (given) => copiedOver(given),
  vim: (given) => editorPrograms(given),
  vi: (given) => editorPrograms(given),
  nvim: (given) => editorPrograms(given),
  ex: (given) => editorPrograms(given),
  view: (given) => editorPrograms(given),
  sed: (given, context) => sedPrograms(given, context),
  gsed: (given, context) => sedPrograms(given, context),
  make: (given, context) => makePrograms(given, context),
  gmake: (given, context) => makePrograms(given, context),
  at(given, { cwd, stdin }) {
    const [file] = readOptions(given, { valued: 'fqt' }).values('f');
    return file === undefined ? code(stdin ?? unknown) : [{ kind: 'code-file', path: resolvePath(cwd, file) }];
  },
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

/** `npx`, `npm exec` and their like: a program of a package, or shell code. */
function ranPackage(given: readonly string[]): Started[] {
  const options = readOptions(given, {
    valued: 'cpw',
    longValued: ['call', 'package', 'workspace'],
    endsAtOperand: true,
  });
  return [...options.values('c', 'call').flatMap(code), ...program(options.operands)];
}

function sshCommands(settings: readonly string[]): string[] {
  return settings.flatMap((value) => /^(?:Proxy|Local|KnownHosts)Command[= ](.*)$/is.exec(value)?.[1] ?? []);
}

function copiedOver(given: readonly string[]): Started[] {
  const options = readOptions(given, { valued: 'cDFiJloPSXbBR' });
  return [...sshCommands(options.values('o')), ...options.values('S')].flatMap(code);
}

function withoutAssignments(words: readonly string[]): readonly string[] {
  const first = words.findIndex((word) => !/^[A-Za-z_]\w*=/.test(word));
  return first < 0 ? [] : words.slice(first);
}

function sourced([path]: readonly string[], { cwd }: StartContext): Started[] {
  return path === undefined ? [] : [{ kind: 'code-file', path: resolvePath(cwd, path), isHere: true }];
}

function shellCode(given: readonly string[]): Started[] {
  let isCode = false;
  let isInput = false;
  const begin: Started[] = [];
  for (let index = 0; index < given.length; index++) {
    const word = given[index] ?? '';
    const isOption = /^[-+]/.test(word) && word !== '-' && word !== '--';
    if (!isOption) {
      const rest = word === '-' || word === '--' ? given.slice(index + 1) : given.slice(index);
      const [first] = rest;
      if (first === undefined || (isInput && !isCode)) break;
      const [, name = 'bash', ...positional] = rest;
      if (isCode) return [...begin, { kind: 'code', text: first, positional, name }];
      return [...begin, { kind: 'code-file', path: first }];
    }
    if (/^-[a-z]*c/i.test(word) && !word.startsWith('--')) isCode = true;
    if (/^-[a-z]*s/.test(word)) isInput = true;
    const [, file = given[index + 1] ?? ''] = /^--(?:rcfile|init-file)(?:=(.*))?$/s.exec(word) ?? [null, ''];
    if (file !== '') begin.push({ kind: 'code-file', path: file });
    if (/^(?:[-+][a-z]*[oO]|--rcfile|--init-file)$/.test(word)) index += 1;
  }
  return [...begin, { kind: 'code-from-stdin' }];
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
