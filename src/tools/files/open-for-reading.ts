/** A file of the workspace for somebody who hands it on: its bytes as they are now, read as `read_file` would. */
import type { OpenedFile, OpenForReading } from '../opened-file.ts';
import { grouped } from '../output-bound.ts';
import { fileProblem } from '../workspace-path.ts';
import { outsideText } from './ask-first.ts';
import { atPlace, hiddenText, type FileDeps } from './file-deps.ts';
import { zoneToRead } from './may-read.ts';
import { readWhole } from './read-whole.ts';

export function createOpenForReading(deps: FileDeps): OpenForReading {
  const refused = (problem: string): OpenedFile => ({ kind: 'refused', problem });
  return (path, context, bytesMax) =>
    atPlace(deps, path, context, async (place): Promise<OpenedFile> => {
      const { where } = place;
      if (where.kind === 'refused') return refused(where.problem);
      const { shown, name, entry } = where;
      const zone = await zoneToRead(place, where);
      if (zone === 'hidden') return refused(hiddenText(shown));
      if (zone === 'outside') return refused(outsideText(shown));
      if (name === '') return refused(`${shown} is a folder. Give the path of a file.`);
      if (entry === null) return refused(`${shown} does not exist.`);
      if (!entry.stats.isFile()) return refused(`${shown} is not a regular file.`);
      const bytes = await readWhole(entry, bytesMax);
      if (bytes === null) return refused(`${shown} has more than ${grouped(bytesMax)} bytes.`);
      return { kind: 'opened', name, shown, bytes };
    }).catch((error: unknown) => refused(`${path} can't be read: ${fileProblem(error)}.`));
}
