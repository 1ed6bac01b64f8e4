/**
 * `.env`: `NAME=value` a line, optionally after `export`. Values may stand in quotes: in single ones everything is
 * literal, in double ones `\n`, `\"` and the like are understood. Without quotes ` #` begins a comment. Nothing is
 * expanded, and a value is one line. Rewriting keeps every line that is not about a changed name as it is.
 */
import { environmentFileName, type Problem } from './problem.ts';

export interface DotEnv {
  /** The last line of a name counts. */
  readonly values: ReadonlyMap<string, string>;
  readonly problems: readonly Problem[];
}

type Line =
  | { readonly kind: 'blank' }
  | { readonly kind: 'value'; readonly name: string; readonly value: string; readonly isExported: boolean }
  | { readonly kind: 'bad'; readonly column: number; readonly message: string };

const assignment = /^(\s*)(export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=[ \t]*(.*)$/;
const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', '"': '"', '\\': '\\', $: '$' };

export function parseDotEnv(text: string): DotEnv {
  const values = new Map<string, string>();
  const problems: Problem[] = [];
  for (const [index, lineText] of splitLines(text).entries()) {
    const line = parseLine(lineText);
    if (line.kind === 'value') values.set(line.name, line.value);
    if (line.kind === 'bad') {
      const { column, message } = line;
      problems.push({ file: environmentFileName, line: index + 1, column, path: '', message });
    }
  }
  return { values, problems };
}

function splitLines(text: string): string[] {
  return text.split(/\r?\n/);
}

function parseLine(line: string): Line {
  if (/^\s*(#|$)/.test(line)) return { kind: 'blank' };
  const match = assignment.exec(line);
  if (match === null) {
    const column = line.length - line.trimStart().length + 1;
    return { kind: 'bad', column, message: 'this line is neither NAME=value nor a comment that begins with #' };
  }
  const [, , exported, name = '', rest = ''] = match;
  const column = line.length - rest.length + 1;
  const value = parseValue(rest.trimEnd());
  if (value === null) {
    return { kind: 'bad', column, message: `the value of ${name} has a quotation mark that is not closed at its end` };
  }
  return { kind: 'value', name, value, isExported: exported !== undefined };
}

function parseValue(rest: string): string | null {
  const single = /^'([^']*)'\s*(?:#.*)?$/.exec(rest);
  if (single !== null) return single[1] ?? '';
  const double = /^"((?:[^"\\]|\\.)*)"\s*(?:#.*)?$/.exec(rest);
  if (double !== null) {
    return (double[1] ?? '').replace(/\\(.)/g, (whole, char: string) => escapes[char] ?? whole);
  }
  if (/^['"]/.test(rest)) return null;
  return rest.replace(/(^|\s)#.*$/, '').trimEnd();
}

export function setInDotEnv(text: string, changes: ReadonlyMap<string, string>): string {
  const left = new Map(changes);
  const newline = text.includes('\r\n') ? '\r\n' : '\n';
  const lines = splitLines(text).map((lineText) => {
    const line = parseLine(lineText);
    const value = line.kind === 'value' ? changes.get(line.name) : undefined;
    if (line.kind !== 'value' || value === undefined) return lineText;
    left.delete(line.name);
    return `${line.isExported ? 'export ' : ''}${line.name}=${quote(value)}`;
  });
  while (lines.at(-1) === '') lines.pop();
  for (const [name, value] of left) lines.push(`${name}=${quote(value)}`);
  return `${lines.join(newline)}${newline}`;
}

/** Every line of these names. */
export function removeFromDotEnv(text: string, names: ReadonlySet<string>): string {
  const newline = text.includes('\r\n') ? '\r\n' : '\n';
  const kept = splitLines(text).filter((lineText) => {
    const line = parseLine(lineText);
    return line.kind !== 'value' || !names.has(line.name);
  });
  return kept.join(newline);
}

function quote(value: string): string {
  if (/^[\w.:/+=@%,~-]+$/.test(value)) return value;
  if (!/['\r\n]/.test(value)) return `'${value}'`;
  const escaped = value.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n').replaceAll('\r', '\\r');
  return `"${escaped}"`;
}
