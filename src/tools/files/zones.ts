/**
 * What may be done where. Some folders are marked; the last marked folder on the way from the top to a file, with all
 * links followed, decides for it. They are known by what they are and not by their names, so that no other spelling,
 * link, rename or second mount of a folder changes its zone.
 */
import { mkdir } from 'node:fs/promises';
import { folderIdAt } from './held-folder.ts';

/**
 * `inside`: one of the roots. `readable`: what calls of this session left, to be read only. `hidden`: Talaria's own home
 * and what the kernel shows of processes and devices; never. `outside`: all else; a person is asked.
 */
export type Zone = 'inside' | 'readable' | 'outside' | 'hidden';

export type Marks = ReadonlyMap<string, Zone>;

/** What the kernel makes up: the environment of processes, devices, settings of the machine. */
const kernelFolders = ['/proc', '/sys', '/dev'];

export interface ZoneFolders {
  readonly workspace: string;
  readonly roots: readonly string[];
  readonly readable: readonly string[];
  readonly hidden: readonly string[];
}

export async function readMarks({ workspace, roots, readable, hidden }: ZoneFolders): Promise<Marks> {
  if ((await folderIdAt(workspace)) === null) await mkdir(workspace, { recursive: true });
  const marks = new Map<string, Zone>();
  const mark = async (folders: readonly string[], zone: Zone) => {
    for (const folder of folders) {
      const id = await folderIdAt(folder);
      if (id !== null) marks.set(id, zone);
    }
  };
  // In this order: what is hidden stays so, whatever else it was named as.
  await mark([workspace, ...roots], 'inside');
  await mark(readable, 'readable');
  await mark([...kernelFolders, ...hidden], 'hidden');
  return marks;
}
