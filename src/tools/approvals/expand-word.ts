/**
 * What a word of shell code becomes: quotes removed, variables and substitutions put in where their values are known, gaps
 * where they are not, split into fields as a shell splits them. Runs nothing; scripts inside substitutions are judged by
 * whoever walks the tree.
 */
import { parse, type ParsedScript, type Word, type WordPart } from 'unbash';
import { braceAlternatives } from './brace-expansion.ts';
import { expandParameter } from './expand-parameter.ts';
import { anyChar, anyChars, isKnown, unknown, withPatterns } from './shell-gaps.ts';
import { lookUp, remember, type ShellState } from './shell-state.ts';

/** What only the walker knows. */
export interface ExpandHost {
  /** What it prints, if that can be said without running anything. */
  outputOf(script: ParsedScript, state: ShellState): string | null;
}

type Segment =
  | { readonly kind: 'text'; readonly text: string; readonly isQuoted: boolean }
  /** An expansion without quotes: it is split. */
  | { readonly kind: 'split'; readonly text: string }
  /** `"$@"`: a field for each. */
  | { readonly kind: 'list'; readonly items: readonly string[] };

const wordsMax = 512;

/** The fields that the words become. */
export function expandWords(words: readonly Word[], state: ShellState, host: ExpandHost): string[] {
  return words.flatMap((word) => expandWord(word, state, host)).slice(0, wordsMax);
}

export function expandWord(word: Word, state: ShellState, host: ExpandHost): string[] {
  return segmentsOf(word, state, host, true).flatMap((segments) => fieldsOf(segments, separatorsOf(state)));
}

/** As in an assignment or a redirection's target: one text, no splitting. */
export function expandToText(word: Word, state: ShellState, host: ExpandHost): string {
  return segmentsOf(word, state, host, false)
    .map((segments) => segments.map((part) => (part.kind === 'list' ? part.items.join(' ') : part.text)).join(''))
    .join(' ');
}

export function expandParts(parts: readonly WordPart[], state: ShellState, host: ExpandHost): string {
  return parts
    .flatMap((part) => segmentOf(part, state, host, true))
    .map((part) => (part.kind === 'list' ? part.items.join(' ') : part.text))
    .join('');
}

/** One list for each alternative of its braces. */
function segmentsOf(word: Word, state: ShellState, host: ExpandHost, canSplit: boolean): Segment[][] {
  const alternatives = canSplit ? braceWords(word, wordsMax) : [word];
  return alternatives.map((alternative) => {
    if (alternative === null) return [{ kind: 'text', text: unknown, isQuoted: false }];
    const { text, value, parts = [{ type: 'Literal' as const, pos: 0, end: 0, text, value }] } = alternative;
    return parts.flatMap((part, index): Segment[] => {
      const found = segmentOf(part, state, host, false);
      const [first] = found;
      if (index > 0 || part.type !== 'Literal' || !part.text.startsWith('~') || first?.kind !== 'text') return found;
      return [{ ...first, text: withHome(first.text, state, parts.length === 1) }];
    });
  });
}

/**
 * Braces come before everything else, as text: `$x{a,b}` is `$xa $xb`. So the words are put together as text and read again.
 * Null: a word that can't be told.
 */
function braceWords(word: Word, most: number): (Word | null)[] {
  const parts = word.parts ?? [];
  const at = parts.findIndex(({ type }) => type === 'BraceExpansion');
  if (at < 0) return [word];
  const textOf = (some: readonly WordPart[]) => some.map(({ text }) => text).join('');
  const alternatives = braceAlternatives(parts[at]?.text ?? '');
  if (alternatives === null) return [null];
  const words: (Word | null)[] = [];
  for (const alternative of alternatives) {
    if (words.length >= most) break;
    const text = `${textOf(parts.slice(0, at))}${alternative}${textOf(parts.slice(at + 1))}`;
    if (text === '') continue;
    const command = parse(`x ${text}`).commands[0]?.command;
    const [argument] = command?.type === 'Command' ? command.suffix : [];
    if (argument?.type !== 'Word') words.push(null);
    else words.push(...braceWords(argument, most - words.length));
  }
  return words;
}

/** `~`, `~/x` and `~name/x`; with quotes or expansions in the name it is none. */
function withHome(text: string, state: ShellState, isWhole: boolean): string {
  const [, name = '', rest = ''] = /^~([^/]*)(.*)$/s.exec(text) ?? [];
  if (rest === '' && !isWhole) return text;
  if (name === '') return `${asText(lookUp(state, 'HOME'))}${rest}`;
  if (name === '+') return `${state.cwd}${rest}`;
  if (name === '-') return `${unknown}${rest}`;
  if (name === 'root') return `/root${rest}`;
  return /^[a-z_][\w.-]*$/i.test(name) ? `/home/${name}${rest}` : text;
}

function segmentOf(part: WordPart, state: ShellState, host: ExpandHost, isQuoted: boolean): Segment[] {
  switch (part.type) {
    case 'Literal':
      return [{ kind: 'text', text: part.value, isQuoted }];
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      return [{ kind: 'text', text: part.value, isQuoted: true }];
    case 'DoubleQuoted':
    case 'LocaleString':
      return [
        { kind: 'text', text: '', isQuoted: true },
        ...part.parts.flatMap((inner) => segmentOf(inner, state, host, true)),
      ];
    case 'Glob':
      return [{ kind: 'text', text: part.kind === 'star' ? anyChars : anyChar, isQuoted: true }];
    case 'ExtendedGlob':
      return [{ kind: 'text', text: anyChars, isQuoted: true }];
    case 'BraceExpansion':
      return [{ kind: 'text', text: part.text, isQuoted }];
    case 'ProcessSubstitution':
      return [{ kind: 'text', text: pipePath(part.script, state, host), isQuoted: true }];
    case 'ArithmeticExpansion':
      return [expansion(unknown, isQuoted)];
    case 'CommandExpansion': {
      const output = part.script === undefined ? null : host.outputOf(part.script, state);
      return [expansion(output === null ? unknown : output.replace(/\n+$/, ''), isQuoted)];
    }
    case 'SimpleExpansion':
      return variable(lookUp(state, part.text.slice(1)), /^\$[@]$/.test(part.text), isQuoted);
    case 'ParameterExpansion': {
      const value = expandParameter(part, state, (word) => expandToText(word, state, host));
      const isList = part.parameter === '@' || part.index?.value === '@';
      return variable(value, isList, isQuoted);
    }
  }
}

function variable(value: string | readonly string[] | undefined, isList: boolean, isQuoted: boolean): Segment[] {
  if (typeof value !== 'object') return [expansion(value ?? unknown, isQuoted)];
  if (isList && isQuoted) return [{ kind: 'list', items: value }];
  return [expansion(value.join(' '), isQuoted)];
}

function expansion(text: string, isQuoted: boolean): Segment {
  return isQuoted ? { kind: 'text', text, isQuoted: true } : { kind: 'split', text: withPatterns(text) };
}

function pipePath(script: ParsedScript | undefined, state: ShellState, host: ExpandHost): string {
  const path = `/dev/fd/${63 + state.files.size}`;
  const output = script === undefined ? null : host.outputOf(script, state);
  if (output !== null) remember(state, path, output);
  return path;
}

function separatorsOf(state: ShellState): string {
  const separators = lookUp(state, 'IFS');
  return typeof separators === 'string' && isKnown(separators) ? separators : ' \t\n';
}

function fieldsOf(segments: readonly Segment[], separators: string): string[] {
  const fields: string[] = [];
  let field: string | null = null;
  const end = () => {
    if (field !== null) fields.push(field);
    field = null;
  };
  for (const segment of segments) {
    if (segment.kind === 'list') {
      segment.items.forEach((item, index) => {
        if (index > 0) end();
        field = (field ?? '') + item;
      });
    } else if (segment.kind === 'text') {
      if (segment.text !== '' || segment.isQuoted) field = (field ?? '') + segment.text;
    } else {
      for (const character of segment.text) {
        if (separators.includes(character)) end();
        else field = (field ?? '') + character;
      }
    }
  }
  end();
  return fields;
}

function asText(value: string | readonly string[] | undefined): string {
  if (value === undefined) return unknown;
  return typeof value === 'string' ? value : (value[0] ?? '');
}
