/**
 * What was installed, from where, and what it was when a person confirmed it: `.installed.json` on the shelf. What was
 * removed is still known there, so that it is not taken for somebody's own when it is restored. A record that is there and
 * can't be read is never taken for an empty one: then nobody knows what was confirmed.
 */
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { writeFileAtomically } from '../../lib/atomic-file.ts';
import { fileProblem, hasCode } from '../workspace-path.ts';

const recordFileName = '.installed.json';
const recordBytesMax = 2 * 1024 * 1024;

const sourceSchema = z.object({
  kind: z.enum(['folder', 'git', 'archive']),
  /** A path or a URL, as the person gave it; paths are absolute. */
  location: z.string(),
  /** Where in it the skill is; empty: at its top. */
  path: z.string(),
});

const skillSchema = z.object({
  source: sourceSchema,
  /** The commit, where there is one. */
  revision: z.nullable(z.string()),
  /** Of the tree that was confirmed. */
  hash: z.string(),
  installedAt: z.number(),
  /** Changed since by the agent, through its tool. */
  isEdited: z.boolean(),
});

const recordSchema = z.object({
  skills: z.record(z.string(), skillSchema),
  removed: z.optional(z.record(z.string(), skillSchema)),
});

export type SkillOrigin = z.output<typeof sourceSchema>;
export type InstalledSkill = z.output<typeof skillSchema>;

export type InstalledRecord =
  | {
      readonly kind: 'read';
      readonly skills: ReadonlyMap<string, InstalledSkill>;
      /** Taken off the shelf since. */
      readonly removed: ReadonlyMap<string, InstalledSkill>;
    }
  /** `problem` is a sentence. */
  | { readonly kind: 'damaged'; readonly problem: string };

export async function readInstalled(shelfFolder: string): Promise<InstalledRecord> {
  const path = join(shelfFolder, recordFileName);
  try {
    if ((await stat(path)).size > recordBytesMax) return damaged(path, 'it is too large');
    const checked = recordSchema.safeParse(JSON.parse(await readFile(path, 'utf8')));
    if (!checked.success) return damaged(path, 'it is not what Talaria wrote');
    const { skills, removed = {} } = checked.data;
    return { kind: 'read', skills: new Map(Object.entries(skills)), removed: new Map(Object.entries(removed)) };
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return { kind: 'read', skills: new Map(), removed: new Map() };
    return damaged(path, error instanceof SyntaxError ? 'it is no JSON' : fileProblem(error));
  }
}

/** Throws the file system's errors. */
export async function writeInstalled(
  shelfFolder: string,
  skills: ReadonlyMap<string, InstalledSkill>,
  removed: ReadonlyMap<string, InstalledSkill> = new Map(),
): Promise<void> {
  const whole = { skills: sorted(skills), ...(removed.size === 0 ? {} : { removed: sorted(removed) }) };
  const text = `${JSON.stringify(whole, null, 2)}\n`;
  await writeFileAtomically(join(shelfFolder, recordFileName), text, { mode: 0o600 });
}

function sorted(skills: ReadonlyMap<string, InstalledSkill>): Record<string, InstalledSkill> {
  return Object.fromEntries([...skills].sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** `entry`: what has this name from now on, or that what had it is removed, or forgotten. Throws the file system's errors. */
export async function recordInstalled(
  shelfFolder: string,
  known: Extract<InstalledRecord, { kind: 'read' }>,
  name: string,
  entry: InstalledSkill | 'removed' | 'forgotten',
): Promise<void> {
  const [skills, removed] = [new Map(known.skills), new Map(known.removed)];
  const before = skills.get(name) ?? removed.get(name);
  skills.delete(name);
  removed.delete(name);
  if (typeof entry === 'object') skills.set(name, entry);
  else if (entry === 'removed' && before !== undefined) removed.set(name, before);
  await writeInstalled(shelfFolder, skills, removed);
}

function damaged(path: string, why: string): InstalledRecord {
  const advice = 'put a copy of it back, or delete it and install the skills again';
  return { kind: 'damaged', problem: `${path} can't be read (${why}); ${advice}.` };
}
