/**
 * The tool `skill_view`: the body of a skill with a list of its files, or one of the files. Only what a person would find
 * offered: a skill that is not what they confirmed is not read to a model. Nothing is left out here: what is too long for a
 * result is kept by the agent in a file that the model can read on in.
 */
import * as z from 'zod/mini';
import { nearest } from '../../lib/nearest.ts';
import { defineTool } from '../define-tool.ts';
import { grouped } from '../output-bound.ts';
import type { Tool, ToolOutcome } from '../tool.ts';
import { readSkill } from './skill-format.ts';
import { fileBytesMax, skillFileBytesMax, skillFileName } from './skill-limits.ts';
import { readInside } from './skill-path.ts';
import type { Skill, SkillShelf } from './skill-shelf.ts';
import { readTree, unreadable } from './skill-tree.ts';

const listedMax = 100;

const schema = z.strictObject({ name: z.string(), path: z.optional(z.string()) });

export function createSkillViewTool({ shelf }: { readonly shelf: SkillShelf }): Tool<z.output<typeof schema>> {
  return defineTool({
    name: 'skill_view',
    description: 'Reads a skill or one of its files.',
    effect: 'read',
    replay: 'safe',
    schema,
    async run({ name, path }) {
      const skill = await shelf.find(name);
      if (skill === null) return failed(await noSuchSkill(shelf, name));
      if ('problem' in skill) return failed(`The skill ${name} is broken: ${skill.problem}`);
      if (skill.state === 'changed') {
        return failed(`${name} is not what its owner confirmed. They can look at it: talaria skills audit ${name}.`);
      }
      if (skill.state === 'disabled') return failed(`The skill ${name} is turned off in the configuration.`);
      return path === undefined || path === skillFileName ? viewSkill(skill) : viewFile(skill, path);
    },
  });
}

async function viewSkill(skill: Skill): Promise<ToolOutcome> {
  const { name, folder, compatibility } = skill;
  const file = await readInside(folder, skillFileName, skillFileBytesMax);
  if (file.kind !== 'read') return failed(`The skill ${name} can't be read: ${unreadable(file)}.`);
  const read = await readSkill(Buffer.from(file.bytes).toString('utf8'));
  if (read.kind === 'broken') return failed(`The skill ${name} is broken: ${read.problem}`);
  const parts = [
    `Skill ${name}, in ${folder}`,
    ...(compatibility === null ? [] : [`Needs: ${compatibility}`]),
    '',
    read.body,
    ...(await filesOf(folder)),
  ];
  return { kind: 'finished', text: parts.join('\n') };
}

async function filesOf(folder: string): Promise<readonly string[]> {
  const tree = await readTree(folder);
  if (tree.kind === 'broken') return ['', `Its files can't be used: ${tree.problem}`];
  const others = tree.files.filter(({ path }) => path !== skillFileName);
  if (others.length === 0) return [];
  const lines = others.slice(0, listedMax).map(({ path, size }) => `- ${path} (${grouped(size)} bytes)`);
  const more = others.length - lines.length;
  return [
    '',
    'Files, to be read by their path; scripts run in the terminal:',
    ...lines,
    ...(more > 0 ? [`- ${more} more`] : []),
  ];
}

async function viewFile({ name, folder }: Skill, path: string): Promise<ToolOutcome> {
  const file = await readInside(folder, path, fileBytesMax);
  if (file.kind === 'missing')
    return failed(`The skill ${name} has no file ${path}. skill_view without a path lists them.`);
  if (file.kind === 'refused') return failed(`${path} can't be read: ${file.problem}.`);
  try {
    return { kind: 'finished', text: new TextDecoder('utf-8', { fatal: true }).decode(file.bytes) };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return failed(
      `${path} is no text (${grouped(file.bytes.length)} bytes). Use it in the terminal: ${folder}/${path}`,
    );
  }
}

async function noSuchSkill(shelf: SkillShelf, name: string): Promise<string> {
  const { skills } = await shelf.list();
  const offered = skills.filter(({ state }) => state === 'offered');
  const [close] = nearest(
    name,
    offered.map((skill) => skill.name),
  );
  const advice = close === undefined ? 'skills_list shows those there are.' : `Did you mean ${close}?`;
  return `There is no skill ${JSON.stringify(name.slice(0, 80))}. ${advice}`;
}

function failed(text: string): ToolOutcome {
  return { kind: 'failed', text };
}
