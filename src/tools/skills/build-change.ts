/**
 * What an agent wants to change in a skill, and the state that comes of it: built in a folder beside the shelf, from a copy
 * of what is there. Throws a `SkillError` whose message is for the model. Whether the result is a good skill is for the
 * caller to check.
 */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { firstInvisible } from '../invisible.ts';
import { SkillError } from './skill-error.ts';
import { copySkill, versionFolder, versionsOf } from './skill-history.ts';
import { fileBytesMax, skillFileBytesMax, skillFileName } from './skill-limits.ts';
import { pathProblem, readInside } from './skill-path.ts';
import type { Skill, SkillShelf } from './skill-shelf.ts';
import { treeChanges, unreadable } from './skill-tree.ts';

export type SkillChange =
  | { readonly action: 'create'; readonly name: string; readonly text: string }
  | { readonly action: 'edit'; readonly name: string; readonly path: string; readonly text: string }
  | {
      readonly action: 'patch';
      readonly name: string;
      readonly path: string;
      readonly old: string;
      readonly text: string;
    }
  /** Null: the whole skill. */
  | { readonly action: 'remove'; readonly name: string; readonly path: string | null }
  /** Null: what was there before the last change. */
  | { readonly action: 'restore'; readonly name: string; readonly version: number | null };

/** The difference of two texts, for people; empty if there is none. */
export type DiffTexts = (before: string, after: string) => string;

export interface ChangeDeps {
  readonly shelf: SkillShelf;
  readonly diff: DiffTexts;
}

/** Builds the new state in `staged` (nothing, if the skill goes) and returns the difference. */
export async function buildChange(
  deps: ChangeDeps,
  change: SkillChange,
  before: Skill | null,
  staged: string,
): Promise<string> {
  switch (change.action) {
    case 'create':
      await writeText(staged, skillFileName, change.text);
      return deps.diff('', change.text);
    case 'edit': {
      const old = await textIn(before, change.path);
      await copyOf(before, staged);
      await writeText(staged, change.path, change.text);
      return deps.diff(old ?? '', change.text);
    }
    case 'patch': {
      const old = await textIn(before, change.path);
      if (old === null) throw new SkillError(`${change.name} has no file ${change.path}.`);
      const text = replacedOnce(old, change.old, change.text, change.path);
      await copyOf(before, staged);
      await writeText(staged, change.path, text);
      return deps.diff(old, text);
    }
    case 'remove': {
      if (change.path === null) return before === null ? '' : `- all of ${before.folder}`;
      const old = await textIn(before, change.path);
      if (old === null) throw new SkillError(`${change.name} has no file ${change.path}.`);
      await copyOf(before, staged);
      await rm(join(staged, change.path));
      return deps.diff(old, '');
    }
    case 'restore':
      return restoreInto(deps, change, before, staged);
  }
}

async function restoreInto(
  { shelf, diff }: ChangeDeps,
  { name, version }: Extract<SkillChange, { action: 'restore' }>,
  before: Skill | null,
  staged: string,
): Promise<string> {
  const versions = await versionsOf(shelf.folder, name);
  const wanted = version ?? versions.at(-1);
  if (wanted === undefined) throw new SkillError(`Nothing is kept of a skill ${name}.`);
  if (!versions.includes(wanted)) {
    throw new SkillError(`There is no version ${wanted} of ${name}; kept are ${versions.join(', ') || 'none'}.`);
  }
  const folder = versionFolder(shelf.folder, name, wanted);
  await copySkill(folder, staged);
  const old = (await textIn(before, skillFileName)) ?? '';
  const file = await readInside(staged, skillFileName, skillFileBytesMax);
  const text = file.kind === 'read' ? Buffer.from(file.bytes).toString('utf8') : '';
  const others = before === null ? [] : await treeChanges(before.folder, staged);
  return [...others, diff(old, text)].filter((part) => part !== '').join('\n');
}

/** Null if there is no such file. */
async function textIn(skill: Skill | null, path: string): Promise<string | null> {
  const wrong = pathProblem(path);
  if (wrong !== null) throw new SkillError(`${JSON.stringify(path)} can't be a file of a skill: ${wrong}.`);
  if (skill === null) return null;
  const file = await readInside(skill.folder, path, fileBytesMax);
  if (file.kind === 'missing') return null;
  if (file.kind === 'refused') throw new SkillError(`${path} can't be changed: ${unreadable(file)}.`);
  return Buffer.from(file.bytes).toString('utf8');
}

async function copyOf(skill: Skill | null, staged: string): Promise<void> {
  if (skill !== null) await copySkill(skill.folder, staged);
}

async function writeText(staged: string, path: string, text: string): Promise<void> {
  const unseen = firstInvisible(text);
  if (unseen !== null) throw new SkillError(`The text has a character that nobody sees (${unseen}). Leave it out.`);
  const target = join(staged, path);
  await mkdir(dirname(target), { recursive: true, mode: 0o700 });
  // Whatever it was before: a new one gets its own permissions.
  await rm(target, { force: true });
  await writeFile(target, text.toWellFormed(), { flag: 'wx', mode: text.startsWith('#!') ? 0o700 : 0o600 });
}

function replacedOnce(text: string, old: string, replacement: string, path: string): string {
  if (old === '') throw new SkillError('`old` is empty. Give the text to be replaced.');
  const first = text.indexOf(old);
  if (first < 0) throw new SkillError(`${path} does not have that text. Read it with skill_view first.`);
  if (text.indexOf(old, first + 1) >= 0) throw new SkillError(`${path} has that text more than once. Give more of it.`);
  return text.slice(0, first) + replacement + text.slice(first + old.length);
}
