/**
 * Where a skill can be installed from: a folder, a git repository, an archive. Opening one runs nothing of it; its entries
 * are still to be judged (see `stage-skill.ts`).
 */
import type { TarEntry } from '../../lib/tar.ts';
import type { SkillOrigin } from './installed-record.ts';
import { SkillError } from './skill-error.ts';
import { skillFileName } from './skill-limits.ts';

export interface OpenedSource {
  readonly kind: SkillOrigin['kind'];
  /** As it is recorded, so that it can be opened again. */
  readonly location: string;
  readonly revision: string | null;
  /** Folders in it that hold a skill, empty for its top; sorted. Nothing is known yet of what they hold. */
  readonly paths: readonly string[];
  /** What is in one of the paths, named from there. Throws a `SkillError` or a `TarError`. */
  entries(path: string): AsyncIterable<TarEntry>;
  /** Removes what was fetched. Never throws. */
  close(): Promise<void>;
}

export interface SourceOptions {
  /** Where relative paths start. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
}

/** How deep below the top of a source a skill may be. */
export const sourceDepthMax = 5;
export const sourcePathsMax = 500;

/** The folders of these files that hold a skill; what is below a skill belongs to it. Throws if there is none. */
export function skillPaths(files: Iterable<string>, location: string): readonly string[] {
  const found = [...new Set(files)]
    .filter((file) => file === skillFileName || file.endsWith(`/${skillFileName}`))
    .map((file) => file.slice(0, -skillFileName.length).replace(/\/$/, ''))
    .filter((path) => path.split('/').length <= sourceDepthMax && !path.split('/').includes('node_modules'))
    .sort();
  const top = found.filter((path) => !found.some((other) => other !== path && isBelow(path, other)));
  if (top.length === 0) throw new SkillError(`There is no ${skillFileName} in ${location}; it holds no skill.`);
  if (top.length > sourcePathsMax) throw new SkillError(`${location} holds more than ${sourcePathsMax} skills.`);
  return top;
}

function isBelow(path: string, other: string): boolean {
  return other === '' || path.startsWith(`${other}/`);
}
