/** The tool `skills_list`: the skills there are, with more of their descriptions than the prompt has room for. */
import * as z from 'zod/mini';
import { defineTool } from '../define-tool.ts';
import { boundText } from '../output-bound.ts';
import type { Tool } from '../tool.ts';
import type { ShelfReport, SkillShelf } from './skill-shelf.ts';
import { indexLine } from './skills-section.ts';

const listedMax = 100;
const descriptionCharsMax = 400;
const brokenMax = 20;

const schema = z.strictObject({ filter: z.optional(z.string()) });

export function createSkillsListTool({ shelf }: { readonly shelf: SkillShelf }): Tool<z.output<typeof schema>> {
  return defineTool({
    name: 'skills_list',
    description: 'Lists skills.',
    effect: 'read',
    replay: 'safe',
    schema,
    run: async ({ filter = '' }) => ({ kind: 'finished', text: boundText(listText(await shelf.list(), filter)) }),
  });
}

function listText({ skills, broken }: ShelfReport, filter: string): string {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const offered = skills.filter(({ state }) => state === 'offered');
  const found = offered.filter(({ name, description }) => {
    const text = `${name} ${description}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  const lines = found.slice(0, listedMax).map((skill) => indexLine(skill, descriptionCharsMax));
  if (found.length > lines.length) lines.push(`${found.length - lines.length} more: use a filter.`);
  if (found.length === 0)
    lines.push(words.length === 0 ? 'There are no skills yet.' : 'No skill has all of these words.');
  const withheld = skills.filter(({ state }) => state === 'changed').map(({ name }) => name);
  if (withheld.length > 0) lines.push(`Not offered, changed since its owner confirmed it: ${withheld.join(', ')}`);
  const problems = broken.slice(0, brokenMax).map(({ name, problem }) => `Broken: ${name}: ${problem}`);
  return [...lines, ...problems].join('\n');
}
