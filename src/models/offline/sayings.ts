/** The sentences of the rehearsal model that depend on something. */
import { suggestions } from './topics.ts';

const countMax = 1_000;
const gistCharsMax = 80;

export function helpAnswer(toolNames: ReadonlySet<string>): string {
  return `I follow a small script, with real tools. Some words to try:\n\n${suggestionList(toolNames)}`;
}

export function unclearAnswer(text: string, toolNames: ReadonlySet<string>): string {
  const asked = text === '' ? 'There were no words in that message.' : `You wrote: “${gist(text)}”.`;
  return (
    `${asked} That needs a real model; I am only the offline rehearsal and can't answer it. ` +
    `What I can do:\n\n${suggestionList(toolNames)}`
  );
}

function suggestionList(toolNames: ReadonlySet<string>): string {
  return suggestions
    .filter(({ tool }) => tool === null || toolNames.has(tool))
    .map(({ words, does }) => `- \`${words}\` ${does}`)
    .join('\n');
}

export function notHere(tool: string): string {
  return `That takes the tool \`${tool}\`, which is not switched on here.`;
}

export function didNotUnderstand(words: string): string {
  return `I did not understand “${gist(words)}”.`;
}

export function manyStepsRefused(count: number, countAllowed: number): string {
  return `That message has ${count} steps, and I take at most ${countAllowed} at a time. Nothing was done.`;
}

export function countTo(number: number): string {
  const numbers = Array.from({ length: Math.min(number, countMax) }, (_, index) => index + 1).join(', ');
  if (number > countMax) return `${numbers}. I stop here: ${countMax} is as far as I count.`;
  return number === 0 ? 'There is nothing to count.' : `${numbers}.`;
}

export function thoughtsAbout(subject: string): { readonly reasoning: string; readonly text: string } {
  const what = subject === '' ? 'nothing in particular' : gist(subject);
  return {
    reasoning:
      `The user wants me to think about ${what}. I follow a script, so there is little to weigh. ` +
      'I will say so plainly and keep it short.',
    text: `I thought about ${what}. A real model would have more to say.`,
  };
}

/** The beginning of a text, in one line. */
export function gist(text: string): string {
  const start = text
    .slice(0, 4 * gistCharsMax)
    .replace(/\s+/g, ' ')
    .trim()
    .toWellFormed();
  if (start.length <= gistCharsMax) return start;
  return `${start
    .slice(0, gistCharsMax)
    .replace(/[\ud800-\udbff]$/, '')
    .trimEnd()} …`;
}
