/** Says in words what is wrong with a call's arguments, so that the model can correct them at the first try. */
import type * as z from 'zod/mini';
import { nearest } from '../lib/nearest.ts';

type Issue = z.core.$ZodIssue;

export function argumentProblem(issues: readonly Issue[], knownKeys: readonly string[], input: unknown): string {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    return `they must be a JSON object with ${knownKeys.map(quoted).join(', ')}.`;
  }
  const given = new Set(Object.keys(input));
  const absent = knownKeys.filter((key) => !given.has(key));
  const problems = issues.flatMap((issue) => describeIssue(issue, absent, given));
  const text = problems.join('; ');
  return text.endsWith('?') ? text : `${text}.`;
}

function describeIssue(issue: Issue, absent: readonly string[], given: ReadonlySet<string>): string[] {
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => unknownKey(key, absent));
  const where = quoted(issue.path.map(String).join('.'));
  const isMissing = issue.path.length === 1 && !given.has(String(issue.path[0]));
  return [isMissing ? `${where} is missing` : `${where} ${demand(issue)}`];
}

function demand(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${kindNames[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return issue.values.length === 1
        ? `must be ${JSON.stringify(issue.values[0])}`
        : `must be one of ${issue.values.map((value) => JSON.stringify(value)).join(', ')}`;
    case 'too_small':
      return issue.origin === 'string' || issue.origin === 'array'
        ? `must have at least ${counted(issue.minimum, issue.origin)}`
        : `must be ${issue.inclusive === false ? 'more than' : 'at least'} ${issue.minimum}`;
    case 'too_big':
      return issue.origin === 'string' || issue.origin === 'array'
        ? `must have at most ${counted(issue.maximum, issue.origin)}`
        : `must be ${issue.inclusive === false ? 'less than' : 'at most'} ${issue.maximum}`;
    default:
      return 'does not have the right form';
  }
}

const kindNames: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
};

function unknownKey(key: string, absent: readonly string[]): string {
  const meant = nearest(key, absent)[0] ?? absent.find((known) => isShortFor(key, known));
  return `unknown key ${quoted(key)}${meant === undefined ? '' : `, did you mean ${quoted(meant)}?`}`;
}

/** `cmd` is short for `command`: the same first letter, and the others in order. */
function isShortFor(short: string, long: string): boolean {
  if (short[0] !== long[0]) return false;
  let position = 0;
  for (const letter of short) {
    position = long.indexOf(letter, position) + 1;
    if (position === 0) return false;
  }
  return true;
}

function quoted(key: string): string {
  return `\`${key}\``;
}

function counted(count: number | bigint, of: string): string {
  const [one, many] = of === 'string' ? ['character', 'characters'] : ['entry', 'entries'];
  return `${count} ${Number(count) === 1 ? one : many}`;
}
