/** What the agent remembers, for the owner who asks in a chat. Nobody else may read it: it is not about them. */
import type { Identity } from '../gateway/identity.ts';
import { memoryFilesOf } from './memory-admin.ts';

export async function readMemory(home: string, { role, owner, isAmongOthers }: Identity): Promise<string> {
  if (role !== 'owner' || isAmongOthers) return '';
  const files = await memoryFilesOf(home, owner);
  return files
    .filter(({ text, charsMax }) => charsMax !== null && text.trim() !== '')
    .map(({ name, text, charsMax }) => `${name} (${text.length} of ${charsMax} characters)\n${text.trimEnd()}`)
    .join('\n\n');
}
