import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { systemProgramFolders, type SandboxDeps } from './sandbox-deps.ts';

/** Its absolute path, or null. Only in the system's folders: a sandbox is not built with what somebody put into a PATH. */
export async function findProgram(deps: SandboxDeps, name: string): Promise<string | null> {
  for (const folder of deps.programFolders ?? systemProgramFolders) {
    const path = join(folder, name);
    try {
      await access(path, constants.X_OK);
      return path;
    } catch {
      // Not here; the next folder may have it.
    }
  }
  return null;
}
