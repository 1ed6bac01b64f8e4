/**
 * What came of the tool calls, in a sentence each and with the essential output quoted. How a call ended is told as it
 * is: failed, not run, or not known.
 */
import type { ToolCallPart, ToolResultPart } from '../../protocol/messages.ts';
import { gist } from './sayings.ts';

const quotedLinesMax = 40;
const quotedCharsMax = 2_000;

export interface SettledCall {
  readonly call: ToolCallPart;
  /** Null if the log holds none. */
  readonly result: ToolResultPart | null;
}

export function tellResult({ call, result }: SettledCall): string {
  const what = describeCall(call);
  if (result === null) return `There is no result for ${what}.`;
  switch (result.outcome) {
    case 'finished':
      return tellFinished(call.name, what, result.text);
    case 'failed':
      return `${what} failed:\n\n${quote(result.text)}`;
    case 'unknown':
      return `It is **not known** whether ${what} finished. Check before you ask for it again.`;
    case 'skipped':
      return `${what} was **not run**.`;
  }
}

export function tellUndone(calls: readonly { readonly name: string; readonly arguments: string }[]): string {
  return `So I did not go on with ${calls.map(describeCall).join(' and ')}.`;
}

function tellFinished(tool: string, what: string, text: string): string {
  switch (tool) {
    case 'terminal':
      return tellCommand(what, text);
    case 'read_file':
      return `${what} says:\n\n${quote(text)}`;
    case 'write_file':
      return `Done: ${text}.`;
    case 'memory':
      return text;
    default:
      return `${what} answered:\n\n${quote(text)}`;
  }
}

function tellCommand(what: string, text: string): string {
  if (text === '[no output]') return `${what} ran and printed nothing.`;
  const exit = /(?:^|\n)\[exit code (\d+)\]$/.exec(text);
  if (exit === null) return `${what} printed:\n\n${quote(text)}`;
  const printed = text.slice(0, exit.index);
  const ended = `${what} ended with exit code ${exit[1]}`;
  return printed === '' ? `${ended} and printed nothing.` : `${ended} and printed:\n\n${quote(printed)}`;
}

/** The command or the file a call is about, or else the tool's name. */
function describeCall({ name, arguments: text }: { readonly name: string; readonly arguments: string }): string {
  const subject = subjectOf(text);
  return subject === null ? `the tool ${code(name)}` : code(subject);
}

function subjectOf(argumentText: string): string | null {
  try {
    const input: unknown = JSON.parse(argumentText);
    if (typeof input !== 'object' || input === null) return null;
    if ('command' in input && typeof input.command === 'string') return input.command;
    return 'path' in input && typeof input.path === 'string' ? input.path : null;
  } catch {
    return null;
  }
}

function code(text: string): string {
  const line = gist(text);
  return line.includes('`') ? `\`\` ${line} \`\`` : `\`${line}\``;
}

/** In a fence longer than any in the text. */
function quote(text: string): string {
  const shown = beginningOf(text);
  const longest = Math.max(2, ...(shown.match(/`{3,}/g) ?? []).map((fence) => fence.length));
  const fence = '`'.repeat(longest + 1);
  const rest = shown.length < text.length ? '\n\n(That is its beginning.)' : '';
  return `${fence}\n${shown.replace(/\n$/, '')}\n${fence}${rest}`;
}

function beginningOf(text: string): string {
  const lines = text.slice(0, quotedCharsMax).split('\n', quotedLinesMax).join('\n');
  return lines.length === text.length ? text : lines.replace(/[\ud800-\udbff]$/, '');
}
