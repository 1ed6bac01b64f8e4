/**
 * What the words of one message ask for, as a list of steps. A pure function of the words and of the tools there are;
 * words that ask for a tool that is missing become a sentence that says so.
 */
import {
  bothPattern,
  politeEnding,
  politeOpening,
  politeQuestion,
  requestBorders,
  stepBorders,
  stepPhrases,
  takesSentence,
  togetherEnding,
  wholeMessagePhrases,
  type Phrase,
} from './phrases.ts';
import { countTo, didNotUnderstand, helpAnswer, manyStepsRefused, notHere, unclearAnswer } from './sayings.ts';
import { helpPattern, topics } from './topics.ts';

/** Longer messages are no requests for a script; patterns stay quick on shorter ones. */
const requestCharsMax = 8_000;
const stepsMax = 20;
const politeWordsMax = 4;

export interface OfflineCall {
  readonly name: string;
  readonly arguments: string;
}

export type Step =
  /** One round: these calls go out together. */
  | { readonly kind: 'calls'; readonly calls: readonly OfflineCall[] }
  /** `isExact`: nothing may be added to it. */
  | { readonly kind: 'say'; readonly text: string; readonly isExact: boolean }
  | { readonly kind: 'think'; readonly about: string };

export function planOf(message: string, toolNames: ReadonlySet<string>): Step[] {
  const text = message.trim();
  const whole = match(wholeMessagePhrases, text);
  if (whole !== null) return [stepOf(whole, toolNames)];
  if (text.length > requestCharsMax) return [say(unclearAnswer(text, toolNames))];

  const requests = piecesOf(text, stepBorders).flatMap(inRequests);
  if (requests.length > stepsMax) return [say(manyStepsRefused(requests.length, stepsMax))];
  const steps = requests.map((request) => requestStep(request, toolNames));
  if (steps.every((step) => step === null)) return [say(talk(text, toolNames) ?? unclearAnswer(text, toolNames))];
  return steps.map((step, index) => {
    if (step !== null) return step;
    const words = requests[index]?.join(' and ') ?? '';
    return say(talk(words, toolNames) ?? didNotUnderstand(words));
  });
}

/** A request is one piece, or several that go out together. */
type Request = readonly string[];

function inRequests(piece: string): Request[] {
  const both = bothPattern.exec(piece)?.groups;
  if (both !== undefined) {
    const { verb = '', first = '', second = '' } = both;
    return [[`${verb} ${first}`, `${verb} ${second.replace(togetherEnding, '')}`]];
  }
  if (takesSentence.test(piece)) return [[piece]];
  if (togetherEnding.test(piece)) return [piecesOf(piece.replace(togetherEnding, ''), requestBorders)];
  return piecesOf(piece, requestBorders).map((request) => [request]);
}

/** Cuts at the borders, but never inside what holds together. */
function piecesOf(text: string, borders: RegExp): string[] {
  const pieces: string[] = [];
  let start = 0;
  for (const border of text.matchAll(borders)) {
    if (border.groups?.['whole'] !== undefined) continue;
    pieces.push(text.slice(start, border.index));
    start = border.index + border[0].length;
  }
  pieces.push(text.slice(start));
  return pieces.map((piece) => piece.trim()).filter((piece) => piece !== '');
}

/** Null if any of its words are not understood. */
function requestStep(request: Request, toolNames: ReadonlySet<string>): Step | null {
  const steps = request.map((piece) => {
    const found = match(stepPhrases, withoutPoliteWords(piece));
    return found === null ? null : stepOf(found, toolNames);
  });
  const [only] = steps;
  if (only === undefined || steps.length === 1) return only ?? null;
  const calls = steps.flatMap((step) => (step?.kind === 'calls' ? step.calls : []));
  if (calls.length === steps.length) return { kind: 'calls', calls };
  return steps.find((step) => step?.kind === 'say') ?? null;
}

function withoutPoliteWords(piece: string): string {
  let rest = piece;
  let isQuestion = false;
  for (let word = 0; word < politeWordsMax; word++) {
    isQuestion ||= politeQuestion.test(rest);
    rest = rest.replace(politeQuestion, '').replace(politeOpening, '');
  }
  rest = rest.replace(politeEnding, '');
  return isQuestion ? rest.replace(/\?$/, '') : rest;
}

interface Match {
  readonly kind: Phrase['kind'];
  readonly groups: Readonly<Record<string, string | undefined>>;
}

function match(phrases: readonly Phrase[], text: string): Match | null {
  for (const { kind, pattern } of phrases) {
    const groups = pattern.exec(text)?.groups;
    if (groups !== undefined) return { kind, groups };
  }
  return null;
}

function stepOf({ kind, groups }: Match, toolNames: ReadonlySet<string>): Step {
  const call = (name: string, input: object): Step =>
    toolNames.has(name) ? { kind: 'calls', calls: [{ name, arguments: JSON.stringify(input) }] } : say(notHere(name));
  const { text = '', command = '', content = '' } = groups;
  switch (kind) {
    case 'say':
      return { kind: 'say', text, isExact: true };
    case 'raw-call':
      return { kind: 'calls', calls: [{ name: groups['name'] ?? '', arguments: groups['arguments'] ?? '{}' }] };
    case 'shell':
      return call('terminal', { command });
    case 'run':
      return call('terminal', { command: withoutFullStop(command) });
    case 'read':
      return call('read_file', { path: pathOf(groups), ...lineWindow(groups) });
    case 'write':
      return call('write_file', { path: pathOf(groups), content: withoutQuotes(content) });
    case 'remember':
      return call('memory', { action: 'add', text });
    case 'count':
      return say(countTo(Number(groups['number'])));
    case 'think':
      return { kind: 'think', about: groups['about'] ?? '' };
  }
}

function pathOf({ ticked, quoted, bare = '' }: Match['groups']): string {
  return ticked ?? quoted ?? bare;
}

function lineWindow({ from, to }: Match['groups']): { offset?: number; limit?: number } {
  if (from === undefined) return {};
  const offset = Math.max(1, Number(from));
  return { offset, limit: Math.max(1, Number(to ?? from) - offset + 1) };
}

/** "Run ls." ends a sentence; in "find ." and "cd .." the dot belongs to the command. */
function withoutFullStop(command: string): string {
  return command.replace(/(?<=[\p{L}\p{N}])[.!]$/u, '');
}

function withoutQuotes(content: string): string {
  return /^(["`'])([^]*)\1$/.exec(content)?.[2] ?? content;
}

/** Small talk and questions about Talaria; null if it is neither. */
function talk(text: string, toolNames: ReadonlySet<string>): string | null {
  if (helpPattern.test(text)) return helpAnswer(toolNames);
  return topics.find((topic) => topic.pattern.test(text))?.answer ?? null;
}

function say(text: string): Step {
  return { kind: 'say', text, isExact: false };
}
