/** Tool calls in a few words, for people: `terminal ls -la`, not the JSON that the model wrote. */
import type { CallOutcome } from '../protocol/messages.ts';
import { printableLine } from './printable.ts';

/** What was called, on one line: the name, and the argument that matters if there is one that stands out. */
export function callSummary(name: string, argumentsText: string, charsMax: number): string {
  return printableLine(`${name} ${mainArgument(argumentsText)}`, charsMax);
}

function mainArgument(argumentsText: string): string {
  const decoded = decode(argumentsText);
  if (decoded === null) return argumentsText;
  const values = Object.entries(decoded);
  const telling = values.find(([key, value]) => tellingKeys.has(key) && typeof value === 'string') ?? values[0];
  if (telling === undefined) return '';
  const isWhole = tellingKeys.has(telling[0]) || values.length === 1;
  return isWhole && typeof telling[1] === 'string' ? telling[1] : argumentsText;
}

const tellingKeys: ReadonlySet<string> = new Set(['command', 'path', 'url', 'query', 'name']);

function decode(text: string): Record<string, unknown> | null {
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null;
  } catch {
    return null;
  }
}

export const outcomeWords: Readonly<Record<CallOutcome, string>> = {
  finished: 'done',
  failed: 'failed',
  unknown: 'may or may not have happened',
  skipped: 'not run',
};
