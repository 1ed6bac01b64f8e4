/** `${…}`: the value of a variable after whatever is done to it. What can't be worked out is a gap. */
import type { ParameterExpansionPart, ParameterOperation, Word } from 'unbash';
import { unescaped } from './known-output.ts';
import { isKnown, matchesPattern, unknown } from './shell-gaps.ts';
import { assign, lookUp, type ShellState, type Value } from './shell-state.ts';

/** Patterns are tried at every place of a value. */
const patternedCharsMax = 1_000;

type ToText = (word: Word) => string;

export function expandParameter(part: ParameterExpansionPart, state: ShellState, toText: ToText): Value {
  if (part.prefix === '#') return unknown;
  let value = element(lookUp(state, part.parameter), part.index, toText);
  if (part.prefix === '!') {
    value = typeof value === 'string' && isKnown(value) ? lookUp(state, value) : undefined;
  }
  const { operation } = part;
  if (operation === undefined) return value ?? unknown;
  if (operation.type === 'Default') {
    const result = defaulted(operation.operator, value, () => toText(operation.operand));
    if (operation.operator.endsWith('=') && typeof result === 'string') assign(state, part.parameter, result);
    return result;
  }
  if (Array.isArray(value)) {
    return operation.type === 'Slice'
      ? sliced(value, operation, toText)
      : value.map((item) => changed(item, operation, toText));
  }
  return typeof value === 'string' && isKnown(value) ? changed(value, operation, toText) : unknown;
}

function element(value: Value | undefined, index: Word | undefined, toText: ToText): Value | undefined {
  if (index === undefined) return typeof value === 'object' ? (value[0] ?? '') : value;
  if (index.value === '@' || index.value === '*') return typeof value === 'string' ? [value] : value;
  const position = toText(index);
  if (!/^-?\d+$/.test(position) || value === undefined) return undefined;
  return (typeof value === 'string' ? [value] : value).at(Number(position)) ?? '';
}

/** A variable that nobody knows is taken as one that is not set: that is when the other word counts. */
function defaulted(operator: string, value: Value | undefined, operand: () => string): Value {
  const isEmpty = value === undefined || (value === '' && operator.startsWith(':'));
  if (operator.endsWith('+')) return value === '' && operator.startsWith(':') ? '' : operand();
  if (operator.endsWith('?')) return value ?? unknown;
  return isEmpty ? operand() : value;
}

function changed(value: string, operation: ParameterOperation, toText: ToText): string {
  switch (operation.type) {
    case 'Remove':
      return removed(value, operation.operator, toText(operation.operand));
    case 'Replace':
      return replaced(value, operation.operator, toText(operation.pattern), toText(operation.replacement));
    case 'Slice':
      return sliced(value, operation, toText);
    case 'CaseModification':
      return recased(value, operation.operator, operation.operand);
    case 'Transform': {
      if (operation.operand.value === 'U') return value.toUpperCase();
      if (operation.operand.value === 'L') return value.toLowerCase();
      if (operation.operand.value === 'E') return unescaped(value);
      return unknown;
    }
    case 'Default':
    case 'Names':
    case 'Unknown':
      return unknown;
  }
}

function removed(value: string, operator: string, pattern: string): string {
  if (pattern.includes(unknown) || value.length > patternedCharsMax) return unknown;
  const lengths = Array.from({ length: value.length + 1 }, (_unused, index) => index);
  if (operator.length === 2) lengths.reverse();
  for (const length of lengths) {
    const isFront = operator.startsWith('#');
    const piece = isFront ? value.slice(0, length) : value.slice(value.length - length);
    if (matchesPattern(pattern, piece)) return isFront ? value.slice(length) : value.slice(0, value.length - length);
  }
  return value;
}

function replaced(value: string, operator: string, pattern: string, replacement: string): string {
  if (!isKnown(pattern) || /[[\]]/.test(pattern) || pattern === '') return isKnown(pattern) ? value : unknown;
  if (operator === '//') return value.replaceAll(pattern, () => replacement);
  if (operator === '/#') return value.startsWith(pattern) ? replacement + value.slice(pattern.length) : value;
  if (operator === '/%') return value.endsWith(pattern) ? value.slice(0, -pattern.length) + replacement : value;
  return value.replace(pattern, () => replacement);
}

function sliced<T extends string | readonly string[]>(
  value: T,
  operation: Extract<ParameterOperation, { type: 'Slice' }>,
  toText: ToText,
): T | string {
  const offset = toText(operation.offset).trim() || '0';
  const length = operation.length === undefined ? null : toText(operation.length).trim();
  if (!/^-?\d+$/.test(offset) || (length !== null && !/^-?\d+$/.test(length))) return unknown;
  const from = Number(offset) < 0 ? Math.max(0, value.length + Number(offset)) : Number(offset);
  if (length === null) return value.slice(from) as T;
  const to = Number(length) < 0 ? value.length + Number(length) : from + Number(length);
  return value.slice(from, Math.max(from, to)) as T;
}

function recased(value: string, operator: string, operand: Word | undefined): string {
  if (operand !== undefined && operand.value !== '') return unknown;
  const change = operator.startsWith('^') ? (text: string) => text.toUpperCase() : (text: string) => text.toLowerCase();
  return operator.length === 2 ? change(value) : change(value.slice(0, 1)) + value.slice(1);
}
