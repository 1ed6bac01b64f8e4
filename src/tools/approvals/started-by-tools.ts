/** What developers' tools start when they are told to: `find -exec`, `git -c alias`, `tar --to-command` and the like. */
import { resolvePath } from './path-kinds.ts';
import { readOptions } from './program-options.ts';
import { anyChars, unknown } from './shell-gaps.ts';
import { code, program, type StartContext, type Started } from './started.ts';

/** `find`: `{}` stands for what it starts with, and for something below it if there are conditions. */
export function foundPrograms(given: readonly string[], { cwd }: StartContext): Started[] {
  const { roots, isNarrow } = readFind(given);
  const found: Started[] = [];
  given.forEach((word, index) => {
    if (!/^-(?:exec|execdir|ok|okdir)$/.test(word)) return;
    const end = given.findIndex((other, at) => at > index && (other === ';' || other === '+'));
    const argv = given.slice(index + 1, end < 0 ? undefined : end);
    for (const root of roots) {
      const start = resolvePath(cwd, root);
      // Without a condition: the folder, and all that is in it one by one.
      for (const path of isNarrow ? [`${start}/${unknown}`] : [start, `${start}/${anyChars}`])
        found.push(...program(argv.map((part) => part.replaceAll('{}', path))));
    }
  });
  return found;
}

/** Where `find` starts, and whether it says more than "everything". */
export function readFind(given: readonly string[]): { readonly roots: readonly string[]; readonly isNarrow: boolean } {
  const words = given.filter((word) => !/^-(?:[HLPEXxsd]+|O\d|D)$/.test(word));
  const at = words.findIndex((word) => /^[-(!,]/.test(word));
  const roots = at < 0 ? words : words.slice(0, at);
  const isNarrow = words.some((word, index) => {
    if (
      !/^-(?:i?name|i?path|i?wholename|i?regex|size|[acm](?:time|min)|newer.*|empty|user|group|perm|uid|gid|inum|links)$/.test(
        word,
      )
    )
      return false;
    if (/^(?:!|-not)$/.test(words[index - 1] ?? '')) return false;
    const pattern = words[index + 1] ?? '';
    return word === '-empty' || !/^[*.?/]*$/.test(pattern);
  });
  return { roots: roots.length === 0 ? ['.'] : roots, isNarrow };
}

export function tarPrograms(given: readonly string[]): Started[] {
  const options = readOptions(given, {
    valued: 'IFfCbgTXHKLNV',
    longValued: [
      'to-command',
      'use-compress-program',
      'checkpoint-action',
      'info-script',
      'new-volume-script',
      'rsh-command',
      'rmt-command',
    ],
  });
  const actions = options.values('', 'checkpoint-action').map((action) => action.replace(/^exec=/, ''));
  const names = [
    'to-command',
    'use-compress-program',
    'info-script',
    'new-volume-script',
    'rsh-command',
    'rmt-command',
  ];
  return [...actions, ...options.values('IF'), ...names.flatMap((name) => options.values('', name))].flatMap(code);
}

const gitCommandKeys =
  /^(?:alias\..+|core\.(?:pager|editor|sshcommand|askpass|fsmonitor|hookspath|gitproxy)|pager\..+|sequence\.editor|.*\.(?:textconv|cmd|command|program|clean|smudge|process|driver|helper)|diff\.external|gpg\.program|credential\..*)$/i;

export function gitPrograms(given: readonly string[]): Started[] {
  const globals = readOptions(given, {
    valued: 'cC',
    longValued: ['git-dir', 'work-tree', 'namespace', 'config-env', 'exec-path'],
    endsAtOperand: true,
  });
  const found = globals.values('c').flatMap((setting) => {
    const equals = setting.indexOf('=');
    const value = setting.slice(equals + 1);
    return equals > 0 && gitCommandKeys.test(setting.slice(0, equals)) ? gitValue(value) : [];
  });
  const [verb, ...rest] = globals.operands;
  const options = readOptions(rest, {
    valued: 'xu',
    longValued: [
      'exec',
      'extcmd',
      'upload-pack',
      'receive-pack',
      'tree-filter',
      'index-filter',
      'env-filter',
      'msg-filter',
      'commit-filter',
      'parent-filter',
      'tag-name-filter',
      'setup',
    ],
  });
  if (verb === 'config') {
    const [key = '', value = ''] = options.operands.filter((word) => word !== 'set');
    if (gitCommandKeys.test(key)) found.push(...gitValue(value));
  }
  if (verb === 'bisect' && rest[0] === 'run') found.push(...program(rest.slice(1)));
  if (verb === 'submodule' && rest.includes('foreach')) {
    found.push(...code(readOptions(rest.slice(rest.indexOf('foreach') + 1)).operands.join(' ')));
  }
  if (verb === 'rebase' || verb === 'archive') found.push(...options.values('x', 'exec').flatMap(code));
  if (verb === 'difftool') found.push(...options.values('x', 'extcmd').flatMap(code));
  if (verb === 'clone') found.push(...options.values('u').flatMap(code));
  // A transport that is a command: a blank in it stands as `% `.
  found.push(...rest.flatMap((word) => code(/^ext::(.*)$/s.exec(word)?.[1]?.replaceAll('% ', ' ') ?? '')));
  for (const name of [
    'upload-pack',
    'receive-pack',
    'tree-filter',
    'index-filter',
    'env-filter',
    'msg-filter',
    'commit-filter',
    'parent-filter',
    'tag-name-filter',
    'setup',
  ]) {
    found.push(...options.values('', name).flatMap(code));
  }
  if (verb === 'grep')
    found.push(...given.flatMap((word) => code(/^(?:-O|--open-files-in-pager=)(.+)$/.exec(word)?.[1] ?? '')));
  return found;
}

/** An alias is shell code only behind a `!`; the other keys always are. */
function gitValue(value: string): Started[] {
  if (value.startsWith('!')) return code(value.slice(1));
  return /[\s/]/.test(value) ? code(value) : [];
}

export function editorPrograms(given: readonly string[]): Started[] {
  const options = readOptions(given, { valued: 'cSuTiwWs', longValued: ['cmd'] });
  const typed = [
    ...options.values('c', 'cmd'),
    ...given.filter((word) => word.startsWith('+')).map((word) => word.slice(1)),
  ];
  return typed.flatMap((typedLine) => {
    const line = typedLine.replace(/^[\s:]*(?:silent!?[\s:]*)?(?:exe(?:cute)?\s+["'](?=.*["']$))?/s, '');
    const found =
      /^[\s:]*(?:%|\d+,\d+)?!([^]*)$/.exec(line) ??
      /^te(?:rminal)?\s+([^]*)$/.exec(line) ??
      /system\(["']([^]*)["']\)/.exec(line);
    const isQuoted = /^[\s:]*(?:silent!?[\s:]*)?exe/.test(typedLine);
    return code(found?.[1]?.slice(0, isQuoted ? -1 : undefined) ?? '');
  });
}

/** A longer one is a program of its own. */
const sedCharsMax = 2_000;

/** The `e` command and the `e` flag run what they are given. */
export function sedPrograms(given: readonly string[], { stdin }: StartContext): Started[] {
  const options = readOptions(given, { valued: 'efl', longValued: ['expression', 'file', 'line-length'] });
  const expressions = options.values('e', 'expression');
  const scripts = expressions.length > 0 ? expressions : options.operands.slice(0, 1);
  const read = scripts.filter((script) => script.length <= sedCharsMax);
  return read.flatMap((script) => [
    ...code(/^(?:\d+|\$|\/[^/]*\/)?!?\s*e\s+(.+)$/s.exec(script)?.[1] ?? ''),
    ...(/^(?:\d+|\$)?\s*e\s*$/.test(script) ? code(stdin ?? unknown) : []),
    ...code(/^s(.).*?\1(.*?)\1[gpiI0-9]*e/s.exec(script)?.[2]?.replaceAll('&', stdin ?? unknown) ?? ''),
  ]);
}

export function makePrograms(given: readonly string[], { cwd, stdin }: StartContext): Started[] {
  const options = readOptions(given, {
    valued: 'fCjIloW',
    longValued: ['file', 'makefile', 'directory', 'eval', 'jobs'],
  });
  const shell = options.operands.flatMap((word) => code(/^SHELL=(.*)$/s.exec(word)?.[1] ?? ''));
  const inline = options.values('', 'eval').flatMap((text) => code(text.replace(/^[^:]*:[^;\n]*[;\n]\s*/, '')));
  const [file] = options.values('f', 'file');
  if (file === '-') return [...shell, ...inline, ...code((stdin ?? unknown).replace(/^[^:\n]*:[^;\n]*[;\n]\s*/, ''))];
  const folder = resolvePath(cwd, options.values('C', 'directory')[0] ?? '.');
  return [...shell, ...inline, { kind: 'foreign', language: 'make', path: resolvePath(folder, file ?? 'Makefile') }];
}

export function containerPrograms(given: readonly string[]): Started[] {
  const at = given.findIndex((word) => word === 'run' || word === 'exec');
  if (at < 0) return [];
  const { operands } = readOptions(given.slice(at + 1), {
    valued: 'vepuwlmhc',
    longValued: [
      'volume',
      'env',
      'name',
      'network',
      'user',
      'workdir',
      'entrypoint',
      'mount',
      'publish',
      'label',
      'platform',
      'env-file',
      'memory',
      'cpus',
      'hostname',
      'pid',
      'ipc',
      'device',
      'cap-add',
      'security-opt',
    ],
    endsAtOperand: true,
  });
  return program(operands.slice(1));
}
