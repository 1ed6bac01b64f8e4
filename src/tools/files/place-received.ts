/**
 * Puts a file that somebody sent into the workspace. What is there already stays: it is that file, or what became of it.
 * Confined like everything else here: a link in the way leads nowhere.
 */
import { atPath } from './confined-open.ts';
import type { FileDeps } from './file-deps.ts';
import { replaceFile } from './replace-file.ts';
import { readMarks } from './zones.ts';

export type PlaceReceived = (workspace: string, path: string, load: () => Promise<Uint8Array | null>) => Promise<void>;

/** Throws if it can't be put there. */
export function createPlaceReceived({ zonesFor }: Pick<FileDeps, 'zonesFor'>): PlaceReceived {
  return async (workspace, path, load) => {
    const marks = await readMarks(zonesFor(workspace));
    await atPath(path, { workspace, marks }, async (where) => {
      if (where.kind === 'refused') throw new Error(where.problem);
      if (where.zone !== 'inside' || where.name === '') throw new Error(`${where.shown} is no place for it`);
      if (where.entry !== null) return;
      const bytes = await load();
      if (bytes === null) throw new Error('it is not kept any more');
      await replaceFile(where, bytes);
    });
  };
}
