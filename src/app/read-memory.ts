/** What the agent remembers, for the owner who asks in a chat. Nobody else may read it: it is not about them. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Identity } from '../gateway/identity.ts';
import { memoriesFolder } from './home-folders.ts';

export async function readMemory(home: string, { role, isAmongOthers }: Identity): Promise<string> {
  if (role !== 'owner' || isAmongOthers) return '';
  try {
    return await readFile(join(home, memoriesFolder, 'MEMORY.md'), 'utf8');
  } catch {
    return '';
  }
}
