/** A folder as a source of skills: one itself, or some below it. Links in it are never followed. */
import { readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { folderEntries } from './folder-entries.ts';
import { SkillError } from './skill-error.ts';
import { skillFileName } from './skill-limits.ts';
import { skillPaths, sourceDepthMax, type OpenedSource } from './skill-source.ts';

const entriesMax = 50_000;
const skippedNames: ReadonlySet<string> = new Set(['.git', 'node_modules']);

export async function openFolderSource(folder: string): Promise<OpenedSource> {
  // The person named it: where it leads is theirs to say.
  const root = await realpath(folder);
  const files: string[] = [];
  await findSkillFiles(root, '', files, { left: entriesMax });
  return {
    kind: 'folder',
    location: root,
    revision: null,
    paths: skillPaths(files, root),
    entries: (path) => folderEntries(join(root, path), { refuseHardLinks: true }),
    close: () => Promise.resolve(),
  };
}

async function findSkillFiles(root: string, below: string, files: string[], budget: { left: number }): Promise<void> {
  const entries = await readdir(join(root, below), { withFileTypes: true });
  budget.left -= entries.length;
  if (budget.left < 0)
    throw new SkillError(`${root} has too many files to be looked through; name the skill's own folder.`);
  if (entries.some((entry) => entry.name === skillFileName)) {
    files.push(below === '' ? skillFileName : `${below}/${skillFileName}`);
    return;
  }
  for (const entry of entries) {
    if (!entry.isDirectory() || skippedNames.has(entry.name)) continue;
    const path = below === '' ? entry.name : `${below}/${entry.name}`;
    if (path.split('/').length <= sourceDepthMax) await findSkillFiles(root, path, files, budget);
  }
}
