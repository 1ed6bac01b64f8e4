/**
 * Whose memory a session has and where it is kept. A direct chat has its owner's; whatever is said in a group, where others
 * read along, has the group's: what one tells in private never comes up there. Two owners never share a folder, whatever
 * characters are in their names and whether or not the file system tells upper from lower case. Pure.
 */
import { createHash } from 'node:crypto';
import { join } from 'node:path';

export const memoryFileNames = { memory: 'MEMORY.md', user: 'USER.md' } as const;
export type MemoryTarget = keyof typeof memoryFileNames;
export const archiveFileName = 'ARCHIVE.md';

export const memoriesFolderName = 'memories';
export const peopleFolderName = 'people';
/** Whose front ends are the machine's own. */
export const machineOwner = 'owner';
/** File systems take 255 bytes. */
const folderCharsMax = 200;

/**
 * Of a session's key (`CHANNEL:KIND:CHAT…`) and owner. `sharing` are owners who have the machine owner's memory in their
 * direct chats (`memory.shared_with`): the same person on another channel, say.
 */
export function memoryOwnerOf(
  { key, owner }: { readonly key: string; readonly owner: string },
  sharing: readonly string[] = [],
): string {
  const [channel = '', kind = '', chat = ''] = key.split(':');
  if (kind === 'group' || kind === 'thread') return `${channel}:group:${chat}`;
  return sharing.includes(owner) ? machineOwner : owner;
}

export function memoryFolder(home: string, owner: string): string {
  const memories = join(home, memoriesFolderName);
  return owner === machineOwner ? memories : join(memories, peopleFolderName, folderNameOf(owner));
}

/** Small letters, digits and `-` stand for themselves, everything else as `_HEX_`. */
export function folderNameOf(owner: string): string {
  const name = owner.replaceAll(/[^a-z0-9-]/gu, (character) => `_${(character.codePointAt(0) ?? 0).toString(16)}_`);
  if (name === '') return '_';
  if (name.length <= folderCharsMax) return name;
  const hash = createHash('sha256').update(JSON.stringify(owner)).digest('hex');
  return `${name.slice(0, folderCharsMax - hash.length - 2)}__${hash}`;
}

/** Null for a folder that stands for nobody, and for a name that was too long to be read back. */
export function ownerOfFolder(name: string): string | null {
  if (name === '_') return '';
  const owner = name.replaceAll(/_([0-9a-f]{1,6})_/g, (all, code: string) => {
    const number = Number.parseInt(code, 16);
    return number <= 0x10_ffff ? String.fromCodePoint(number) : all;
  });
  return folderNameOf(owner) === name ? owner : null;
}
