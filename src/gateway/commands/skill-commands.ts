/**
 * `/skills`, and every skill as a command of its own name: a message that has the model read the skill first. It waits for
 * the end of a turn under way, because it begins something new. It is admitted under the command's id: once.
 */
import { say, type Command, type CommandCall, type CommandOutcome } from './command.ts';
import type { CommandServices } from './services.ts';

const shownMax = 60;
const descriptionCharsMax = 100;

export const skillsCommand: Command = {
  name: 'skills',
  usage: '[NAME TEXT]',
  summary: 'show the skills, or use one; /NAME TEXT does the same',
  role: 'user',
  repetition: 'idempotent',
  async run(call, services) {
    const [name = '', ...words] = call.argument.split(/(?<=^\S+)\s+/);
    if (name === '') return say(await listText(services));
    const argument = words.join(' ');
    return (
      (await useSkill(name.toLowerCase(), { ...call, argument }, services)) ??
      say(`There is no skill ${name.slice(0, 64)}. /skills shows those there are.`)
    );
  },
};

/** Null if there is no such skill. */
export async function useSkill(
  name: string,
  { argument, message }: CommandCall,
  { skills }: CommandServices,
): Promise<CommandOutcome | null> {
  const known = (await skills?.list()) ?? [];
  if (skills === undefined || !known.some((skill) => skill.name === name)) return null;
  const rest = message.parts.filter((part) => part.kind !== 'text');
  const text = { kind: 'text', text: skills.message(name, argument) } as const;
  return { kind: 'send', message: { ...message, parts: [text, ...rest] }, mode: 'queue' };
}

export async function skillNames({ skills }: CommandServices): Promise<readonly string[]> {
  return ((await skills?.list()) ?? []).map(({ name }) => name);
}

async function listText({ skills }: CommandServices): Promise<string> {
  const known = (await skills?.list()) ?? [];
  if (known.length === 0) return 'There are no skills yet.';
  const lines = known.slice(0, shownMax).map(({ name, description }) => `/${name}: ${cut(description)}`);
  return [...lines, ...(known.length > shownMax ? [`… and ${known.length - shownMax} more`] : [])].join('\n');
}

function cut(text: string): string {
  const line = text.replace(/\s+/g, ' ');
  return line.length <= descriptionCharsMax ? line : `${line.slice(0, descriptionCharsMax - 1).toWellFormed()}…`;
}
