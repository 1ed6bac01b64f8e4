/** Opens what a person typed as a source of skills: a folder, an archive, or the URL of a git repository. */
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { SkillError } from './skill-error.ts';
import type { OpenedSource, SourceOptions } from './skill-source.ts';

export async function openSource(typed: string, options: SourceOptions): Promise<OpenedSource> {
  if (isUrl(typed)) {
    const { openGitSource } = await import('./git-source.ts');
    return openGitSource(typed, options);
  }
  const path = resolve(options.cwd, typed);
  const found = await stat(path).catch(() => null);
  if (found === null)
    throw new SkillError(`There is no folder or archive ${path}. A git URL begins with https://, ssh:// or file://.`);
  if (found.isDirectory()) {
    const { openFolderSource } = await import('./folder-source.ts');
    return openFolderSource(path);
  }
  if (!found.isFile()) throw new SkillError(`${path} is neither a folder nor an archive.`);
  const { openArchiveSource } = await import('./archive-source.ts');
  return openArchiveSource(path, options.signal);
}

/** Also git's short way of naming a place on another machine, `user@host:path`. */
function isUrl(typed: string): boolean {
  return /^[a-z][a-z0-9+.-]*:/i.test(typed) || /^[\w.-]+@[\w.-]+:/.test(typed);
}
