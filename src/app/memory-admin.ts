/** What is remembered, for its owner at the machine: works on the files alone, whether or not a gateway runs. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { forgetEntry, memoryLimits, memoryOwners, searchMemories } from '../tools/memory/memory-files.ts';
import { archiveFileName, memoryFileNames, memoryFolder } from '../tools/memory/memory-places.ts';

export { forgetEntry, memoryOwners, searchMemories };
export { machineOwner, memoryFolder } from '../tools/memory/memory-places.ts';

export interface MemoryFileReport {
  readonly name: string;
  readonly path: string;
  readonly text: string;
  /** Null for the archive, which has no limit. */
  readonly charsMax: number | null;
}

export const memoryFilesByWord: Readonly<Record<string, string>> = { ...memoryFileNames, archive: archiveFileName };

export async function memoryFilesOf(home: string, owner: string): Promise<readonly MemoryFileReport[]> {
  const folder = memoryFolder(home, owner);
  const limits: Readonly<Record<string, number>> = memoryLimits;
  return Promise.all(
    Object.entries(memoryFilesByWord).map(async ([word, name]) => {
      const path = join(folder, name);
      const text = await readFile(path, 'utf8').catch(() => '');
      return { name, path, text, charsMax: limits[word] ?? null };
    }),
  );
}
