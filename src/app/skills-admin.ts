/** The skills of a home, for whoever puts an agent together and for the person at the command line. Needs no gateway. */
import { join } from 'node:path';
import { systemClock } from '../lib/clock.ts';
import { unifiedDiff } from '../tools/files/unified-diff.ts';
import type { DiffTexts } from '../tools/skills/build-change.ts';
import type { MadeChange } from '../tools/skills/change-skill.ts';
import { readInstalled, type InstalledSkill } from '../tools/skills/installed-record.ts';
import type { InspectedSkill, InstallOutcome, OfferedSkill } from '../tools/skills/install-skill.ts';
import { SkillError } from '../tools/skills/skill-error.ts';
import { createSkillShelf, type BrokenSkill, type Skill, type SkillShelf } from '../tools/skills/skill-shelf.ts';
import type { OpenedSource, SourceOptions } from '../tools/skills/skill-source.ts';

export type { AuditFinding } from '../tools/skills/audit-skill.ts';
export type { BrokenSkill, InspectedSkill, InstallOutcome, OfferedSkill, OpenedSource, Skill };

const diffCharsMax = 4_000;

export const skillDiff: DiffTexts = (before, after) => unifiedDiff(before, after, { charsMax: diffCharsMax });

export function openSkillShelf(home: string, disabled: () => readonly string[] = () => []): SkillShelf {
  return createSkillShelf({ folder: join(home, 'skills'), builtInFolder: builtInSkills(), disabled });
}

/** Those that come with the program: beside `src/` and `dist/`. */
export function builtInSkills(): string {
  const isSource = import.meta.filename.endsWith('.ts');
  return join(import.meta.dirname, isSource ? '../../skills' : '../skills');
}

export interface SkillsAdmin {
  readonly shelf: SkillShelf;
  openSource(typed: string, options: SourceOptions): Promise<OpenedSource>;
  install(
    source: OpenedSource,
    path: string,
    mayPlace: (offered: OfferedSkill) => Promise<boolean>,
  ): Promise<InstallOutcome>;
  /** Those that came from somewhere, by name; also those that are broken now. */
  installed(): Promise<ReadonlyMap<string, InstalledSkill>>;
  inspect(skill: Skill): Promise<InspectedSkill>;
  accept(name: string, hash: string): Promise<boolean>;
  remove(name: string): Promise<void>;
  /** Null: the state before the last change. */
  restore(name: string, version: number | null): Promise<MadeChange | null>;
}

/** All of it throws a `SkillError` with a message for the person. */
export async function openSkillsAdmin(home: string, disabled: readonly string[] = []): Promise<SkillsAdmin> {
  const { acceptSkill, inspectSkill, installSkill, removeSkill } = await import('../tools/skills/install-skill.ts');
  const { openSource } = await import('../tools/skills/open-source.ts');
  const { changeSkill } = await import('../tools/skills/change-skill.ts');
  const shelf = openSkillShelf(home, () => disabled);
  const deps = { shelf, diff: skillDiff, now: () => systemClock.now() };
  return {
    shelf,
    openSource,
    install: (source, path, mayPlace) => installSkill(deps, source, path, mayPlace),
    async installed() {
      const record = await readInstalled(shelf.folder);
      if (record.kind === 'damaged') throw new SkillError(record.problem);
      return record.skills;
    },
    inspect: ({ folder }) => inspectSkill(folder),
    accept: (name, hash) => acceptSkill(deps, name, hash),
    remove: (name) => removeSkill(deps, name),
    restore: (name, version) => changeSkill(deps, { action: 'restore', name, version }, () => Promise.resolve(true)),
  };
}
