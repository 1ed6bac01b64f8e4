/**
 * What a few harmless programs print, worked out without running them: those with which code is hidden from a reader
 * (`echo … | base64 -d | sh`). Null: can't be said.
 */
import { basename, dirname } from 'node:path/posix';
import { anyChars, isKnown, unknown } from './shell-gaps.ts';
import { resolvePath } from './path-kinds.ts';
import { readFind } from './started-by-tools.ts';

const outputCharsMax = 100_000;

/** `stdin` is null if it is not known. */
export function knownOutput(argv: readonly string[], stdin: string | null, cwd: string): string | null {
  const [program = '', ...given] = argv;
  const output = printers[basename(program)]?.(given, stdin, cwd) ?? null;
  return output === null || output.length > outputCharsMax ? null : output;
}

type Printer = (given: readonly string[], stdin: string | null, cwd: string) => string | null;

const printers: Readonly<Record<string, Printer>> = {
  echo(given) {
    const options = given.findIndex((word) => !/^-[neE]+$/.test(word));
    const words = options < 0 ? [] : given.slice(options);
    const flags = given.slice(0, options < 0 ? given.length : options).join('');
    const text = words.join(' ');
    // Some shells do this without being asked.
    return `${flags.includes('e') ? unescaped(text) : text}${flags.includes('n') ? '' : '\n'}`;
  },
  printf: (given) => formatted(given[0] === '--' ? given.slice(1) : given),
  cat: (given, stdin) => (given.every((word) => word === '-') ? stdin : null),
  tac: (given, stdin) =>
    given.length === 0 && stdin !== null ? `${stdin.trimEnd().split('\n').reverse().join('\n')}\n` : null,
  tee: (_given, stdin) => stdin,
  head: (given, stdin) => oneLine(given, stdin),
  tail: (given, stdin) => oneLine(given, stdin),
  pwd: (_given, _stdin, cwd) => `${cwd}\n`,
  realpath: (given, _stdin, cwd) => whereTo(given, cwd),
  readlink: (given, _stdin, cwd) => (/^-[a-z]*[fem]/.test(given[0] ?? '') ? whereTo(given, cwd) : null),
  // Names that it stands for, as far as what is done to them counts.
  find: (given) => (readFind(given).isNarrow ? null : `${readFind(given).roots.join('\n')}\n`),
  ls: (given) => (given.every((word) => word.startsWith('-')) ? `${anyChars}\n` : null),
  // A process that no command may end, in place of one whose number is not known.
  pgrep: (given) => (given.some((word) => /talaria/i.test(word)) ? '1\n' : null),
  pidof: (given) => (given.some((word) => /talaria/i.test(word)) ? '1\n' : null),
  which: (given) => (given.length === 1 ? `${given[0] ?? ''}\n` : null),
  command: (given) => (given[0] === '-v' && given.length === 2 ? `${given[1] ?? ''}\n` : null),
  basename: (given) => (given.length === 1 && isKnown(given[0] ?? unknown) ? `${basename(given[0] ?? '')}\n` : null),
  dirname: (given) => (given.length === 1 && isKnown(given[0] ?? unknown) ? `${dirname(given[0] ?? '')}\n` : null),
  base64: (given, stdin) => (isDecoding(given) ? decoded(stdin, 'base64') : null),
  openssl: (given, stdin) =>
    /^(?:base64|enc)$/.test(given[0] ?? '') && given.includes('-d') ? decoded(stdin, 'base64') : null,
  xxd: (given, stdin) => (/r/.test(given.join('')) && /p/.test(given.join('')) ? decoded(stdin, 'hex') : null),
  rev: (given, stdin) =>
    given.length === 0 && stdin !== null
      ? stdin
          .split('\n')
          .map((line) => Array.from(line).reverse().join(''))
          .join('\n')
      : null,
  tr: (given, stdin) => (stdin === null ? null : translated(given, stdin)),
};

/** Of a single line there is nothing to leave out. */
function oneLine(given: readonly string[], stdin: string | null): string | null {
  const isWhole = given.every((word) => /^-n?[1-9]?\d*$|^\d+$/.test(word));
  return isWhole && stdin !== null && stdin.trimEnd().split('\n').length === 1 ? stdin : null;
}

/** As if there were no links. */
function whereTo(given: readonly string[], cwd: string): string | null {
  const paths = given.filter((word) => !word.startsWith('-'));
  return paths.length === 1 ? `${resolvePath(cwd, paths[0] ?? '')}\n` : null;
}

function isDecoding(given: readonly string[]): boolean {
  const options = given.filter((word) => word !== '-');
  return (
    options.length > 0 &&
    options.every((word) => /^(?:-[dDi]+|--d(?:e(?:c(?:o(?:de?)?)?)?)?|--ignore-garbage)$/.test(word))
  );
}

function decoded(text: string | null, encoding: 'base64' | 'hex'): string | null {
  if (text === null || !isKnown(text)) return null;
  return Buffer.from(text.replace(/\s/g, ''), encoding).toString('utf8');
}

const escapes: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  e: '\x1b',
  E: '\x1b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  '"': '"',
  "'": "'",
};

/** `\n`, `\x41` and the like as what they stand for. */
export function unescaped(text: string): string {
  return text.replace(
    /\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|0?([0-7]{1,3})|(.))/gs,
    (whole, x?: string, u?: string, wide?: string, octal?: string, letter?: string) => {
      const hex = x ?? u ?? wide;
      if (hex !== undefined) return codePoint(parseInt(hex, 16));
      if (octal !== undefined) return codePoint(parseInt(octal, 8) & 0xff);
      return escapes[letter ?? ''] ?? whole;
    },
  );
}

function codePoint(code: number): string {
  return code > 0x10ffff ? unknown : String.fromCodePoint(code);
}

/** `printf`: the format is used again until no argument is left. */
function formatted([format = '', ...values]: readonly string[]): string | null {
  if (format === '-v' || !isKnown(format)) return null;
  let text = '';
  let left = [...values];
  do {
    const before = left.length;
    text += unescaped(
      format.replace(/%(%|[-+ #0]*\d*(?:\.\d+)?([a-zA-Z]))/g, (_whole, what: string, letter?: string) => {
        if (what === '%') return '%';
        const value = left.shift() ?? '';
        if (letter === 'b') return unescaped(value).replaceAll('\\', '\\\\');
        if (letter === 's' || letter === 'q') return value.replaceAll('\\', '\\\\');
        if (letter === 'c') return value.slice(0, 1);
        return /^\d+$/.test(value) && (letter === 'd' || letter === 'i') ? value : unknown;
      }),
    );
    if (left.length === before) left = [];
  } while (left.length > 0 && text.length < outputCharsMax);
  return text;
}

function translated(given: readonly string[], stdin: string): string | null {
  const [first = '', second = ''] = given.filter((word) => !/^-[ds]+$/.test(word)).map(spread);
  if (first === '' || !isKnown(first + second) || /\[:/.test(given.join(''))) return null;
  if (given.includes('-d'))
    return Array.from(stdin)
      .filter((character) => !first.includes(character))
      .join('');
  if (second === '') return null;
  return Array.from(stdin)
    .map((character) => {
      const index = first.lastIndexOf(character);
      return index < 0 ? character : second.charAt(Math.min(index, second.length - 1));
    })
    .join('');
}

/** `a-z` written out. */
function spread(set: string): string {
  return unescaped(set).replace(/(.)-(.)/gs, (whole, from: string, to: string) => {
    const [start, end] = [from.charCodeAt(0), to.charCodeAt(0)];
    if (end < start || end - start > 255) return whole;
    return Array.from({ length: end - start + 1 }, (_unused, index) => String.fromCharCode(start + index)).join('');
  });
}
