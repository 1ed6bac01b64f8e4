/**
 * A change that an agent makes to a skill of its home: planned whole, with a diff and nothing written, then made exactly
 * so. Planning builds the new state beside the shelf and checks it as any skill is checked; what was there before stays in
 * the history. A skill that comes with the program is never changed: the home gets its own copy of it. An installed one
 * counts as confirmed afterwards, because this is the way to change it that a person can see.
 */
import { createHash } from 'node:crypto';
import { buildChange, type ChangeDeps, type SkillChange } from './build-change.ts';
import { readInstalled, recordInstalled } from './installed-record.ts';
import { SkillError } from './skill-error.ts';
import { nameProblem, readSkill } from './skill-format.ts';
import { keepAside, replaceSkill, withStaging } from './skill-history.ts';
import { skillFileBytesMax, skillFileName } from './skill-limits.ts';
import { readInside } from './skill-path.ts';
import type { Skill } from './skill-shelf.ts';
import { hashTree, readTree, unreadable } from './skill-tree.ts';

export interface MadeChange {
  readonly diff: string;
  /** Of the state before and the state after: another one is another change. */
  readonly mark: string;
  /** Where the state before is kept; null if there was none. */
  readonly kept: number | null;
}

/**
 * Shows the change to `mayMake`, and makes it if that says yes. Throws a `SkillError` whose message is for the model, and
 * the file system's errors; then nothing has changed.
 */
export async function changeSkill(
  deps: ChangeDeps,
  change: SkillChange,
  mayMake: (planned: Omit<MadeChange, 'kept'>) => Promise<boolean>,
): Promise<MadeChange | null> {
  const { shelf } = deps;
  const wrong = nameProblem(change.name);
  if (wrong !== null) throw new SkillError(wrong);
  const now = await shelf.find(change.name);
  const before = now !== null && !('problem' in now) ? now : null;
  mustBeChangeable(change, now === null ? null : 'problem' in now ? now.problem : now);
  return withStaging(shelf.folder, async (staged) => {
    const diff = await buildChange(deps, change, before, staged);
    const isGone = change.action === 'remove' && change.path === null;
    const after = isGone ? null : await checkedHash(staged, change.name);
    const mark = createHash('sha256')
      .update(JSON.stringify([change, before === null ? null : await hashOf(before.folder), after]))
      .digest('hex');
    if (!(await mayMake({ diff, mark }))) return null;
    const wasConfirmed = before !== null && before.state !== 'changed';
    const kept = isGone
      ? await keepAside(shelf.folder, change.name, wasConfirmed)
      : await replaceSkill(shelf.folder, change.name, staged, wasConfirmed);
    await recordChange(shelf.folder, change, after);
    return { diff, mark, kept };
  });
}

function mustBeChangeable({ action, name, ...rest }: SkillChange, now: Skill | string | null): void {
  if (action === 'restore') return;
  if (action === 'create') {
    if (now !== null) throw new SkillError(`There is a skill ${name} already. Use patch or edit to change it.`);
    return;
  }
  if (now === null) throw new SkillError(`There is no skill ${name}. skills_list shows those there are.`);
  const isWhole = action === 'remove' && 'path' in rest && rest.path === null;
  if (typeof now === 'string') {
    if (!isWhole) throw new SkillError(`${name} is broken: ${now} Restore or remove it first.`);
    return;
  }
  if (now.state === 'changed') {
    throw new SkillError(`${name} is not what its owner confirmed. They can look at it: talaria skills audit ${name}.`);
  }
  if (isWhole && now.origin === 'built-in') {
    throw new SkillError(`${name} comes with the program. Its owner can leave it out with skills.disabled.`);
  }
}

/** Holds the staged state against all rules for skills. */
async function checkedHash(staged: string, name: string): Promise<string> {
  const file = await readInside(staged, skillFileName, skillFileBytesMax);
  if (file.kind !== 'read')
    throw new SkillError(`The skill would have no readable ${skillFileName}: ${unreadable(file)}.`);
  const read = await readSkill(Buffer.from(file.bytes).toString('utf8'));
  if (read.kind === 'broken') throw new SkillError(`The skill would be broken. ${read.problem}`);
  if (read.header.name !== name) throw new SkillError(`The front matter must have \`name: ${name}\`.`);
  const hash = await hashOf(staged);
  if (hash === null) throw new SkillError('The skill would be too large, or have files that a skill may not have.');
  return hash;
}

async function hashOf(folder: string): Promise<string | null> {
  const tree = await readTree(folder);
  return tree.kind === 'tree' ? hashTree(folder, tree.files) : null;
}

/** An installed one stays so, also when it comes back; one that somebody makes anew is theirs. */
async function recordChange(
  shelfFolder: string,
  { action, name }: Pick<SkillChange, 'action' | 'name'>,
  hash: string | null,
): Promise<void> {
  const record = await readInstalled(shelfFolder);
  const known = record.kind === 'read' ? (record.skills.get(name) ?? record.removed.get(name)) : undefined;
  if (record.kind !== 'read' || known === undefined) return;
  const isOwn = action === 'create' || (action !== 'restore' && !record.skills.has(name));
  const now = hash === null ? 'removed' : { ...known, hash, isEdited: true };
  await recordInstalled(shelfFolder, record, name, isOwn ? 'forgotten' : now);
}
