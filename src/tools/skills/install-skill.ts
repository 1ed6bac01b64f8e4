/**
 * Installing, updating, removing and confirming skills, for the person at the command line. What comes from a source is
 * staged and checked first and shown; only then, and only exactly that, is it put on the shelf. The record of what was
 * confirmed is written before the files are in their place: after a crash in between, a skill is `changed` and not trusted
 * too early. Nothing of a skill is ever run here.
 */
import { auditSkill, type AuditFinding } from './audit-skill.ts';
import type { DiffTexts } from './build-change.ts';
import { readInstalled, recordInstalled, type InstalledSkill } from './installed-record.ts';
import { SkillError } from './skill-error.ts';
import { readSkill, type SkillHeader } from './skill-format.ts';
import { keepAside, removeStaleStaging, replaceSkill, withStaging } from './skill-history.ts';
import { skillFileBytesMax, skillFileName } from './skill-limits.ts';
import { readInside } from './skill-path.ts';
import type { Skill, SkillShelf } from './skill-shelf.ts';
import type { OpenedSource } from './skill-source.ts';
import { shownTexts, type ShownText } from './shown-texts.ts';
import { hashTree, readTree, treeChanges, unreadable, type TreeFile } from './skill-tree.ts';
import { stageSkill } from './stage-skill.ts';

export interface InstallDeps {
  readonly shelf: SkillShelf;
  readonly diff: DiffTexts;
  readonly now: () => number;
}

/** A skill as it lies somewhere, looked through. */
export interface InspectedSkill {
  readonly header: SkillHeader;
  readonly hash: string;
  readonly files: readonly TreeFile[];
  readonly bytes: number;
  readonly findings: readonly AuditFinding[];
}

export interface OfferedSkill extends InspectedSkill {
  /** What has this name now; null: nothing. */
  readonly before: Skill | null;
  /** Files that differ from it, each with `+`, `-` or `~` in front. */
  readonly changes: readonly string[];
  /** What is new in its files, or how they differ. */
  readonly texts: readonly ShownText[];
}

export type InstallOutcome = { readonly kind: 'placed' | 'same' | 'declined'; readonly name: string };

/** Stages one skill of a source and puts it on the shelf if `mayPlace` says yes. Throws a `SkillError`. */
export async function installSkill(
  deps: InstallDeps,
  source: OpenedSource,
  path: string,
  mayPlace: (offered: OfferedSkill) => Promise<boolean>,
): Promise<InstallOutcome> {
  const { shelf, now } = deps;
  await removeStaleStaging(shelf.folder, now());
  return withStaging(shelf.folder, async (staged): Promise<InstallOutcome> => {
    await stageSkill(source.entries(path), staged);
    const inspected = await inspectSkill(staged);
    const { name } = inspected.header;
    const found = await shelf.find(name);
    const before = found === null || 'problem' in found ? null : found;
    const { kind, location, revision } = source;
    const { hash } = inspected;
    const from = { source: { kind, location, path }, revision };
    const isSame = before?.installed?.hash === hash && before.state !== 'changed';
    if (isSame) {
      // The next update looks where it was fetched from last.
      await record(shelf.folder, name, { ...before.installed, ...from });
      return { kind: 'same', name };
    }
    const changes = before === null ? [] : await treeChanges(before.folder, staged);
    const texts = await shownTexts(deps.diff, before?.folder ?? null, staged);
    if (!(await mayPlace({ ...inspected, before, changes, texts }))) return { kind: 'declined', name };
    await record(shelf.folder, name, { ...from, hash, installedAt: now(), isEdited: false });
    await replaceSkill(shelf.folder, name, staged, before !== null && before.state !== 'changed');
    return { kind: 'placed', name };
  });
}

/** Throws a `SkillError` if it is no skill. */
export async function inspectSkill(folder: string): Promise<InspectedSkill> {
  const tree = await readTree(folder);
  if (tree.kind === 'broken') throw new SkillError(tree.problem);
  const read = await readSkill(await skillText(folder));
  if (read.kind === 'broken') throw new SkillError(`This is no skill. ${read.problem}`);
  const findings = await auditSkill(folder, tree.files, read.header);
  return {
    header: read.header,
    hash: await hashTree(folder, tree.files),
    files: tree.files,
    bytes: tree.bytes,
    findings,
  };
}

/** Takes a skill of the home off the shelf; its files stay in the history. */
export async function removeSkill({ shelf }: Pick<InstallDeps, 'shelf'>, name: string): Promise<void> {
  const found = await shelf.find(name);
  if (found === null) throw noSuchSkill(name);
  const isBroken = 'problem' in found;
  if (!isBroken && found.origin === 'built-in') {
    throw new SkillError(`${name} comes with the program; to leave it out add it to skills.disabled.`);
  }
  await keepAside(shelf.folder, name, !isBroken && found.state !== 'changed');
  await record(shelf.folder, name, null);
}

/** From now on `hash`, which the person has seen, is what was confirmed. False if the files are others by now. */
export async function acceptSkill({ shelf }: Pick<InstallDeps, 'shelf'>, name: string, hash: string): Promise<boolean> {
  const found = await shelf.find(name);
  if (found === null) throw noSuchSkill(name);
  if ('problem' in found) throw new SkillError(`${name} is broken: ${found.problem}`);
  if (found.installed === null)
    throw new SkillError(`${name} was not installed from anywhere; it needs no confirmation.`);
  if ((await inspectSkill(found.folder)).hash !== hash) return false;
  await record(shelf.folder, name, { ...found.installed, hash, isEdited: true });
  return true;
}

export function noSuchSkill(name: string): SkillError {
  return new SkillError(`There is no skill ${JSON.stringify(name)}; see talaria skills list.`);
}

async function record(shelfFolder: string, name: string, entry: InstalledSkill | null): Promise<void> {
  const known = await readInstalled(shelfFolder);
  if (known.kind === 'damaged') throw new SkillError(known.problem);
  await recordInstalled(shelfFolder, known, name, entry ?? 'removed');
}

async function skillText(folder: string): Promise<string> {
  const file = await readInside(folder, skillFileName, skillFileBytesMax);
  if (file.kind !== 'read') throw new SkillError(`Its ${skillFileName} can't be read: ${unreadable(file)}.`);
  return Buffer.from(file.bytes).toString('utf8');
}
