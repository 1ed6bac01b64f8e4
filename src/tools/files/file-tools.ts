/** The family of tools that work on files: made once for the process, because checkpoints and what was seen are shared. */
import { join } from 'node:path';
import type { Clock } from '../../lib/clock.ts';
import type { SessionId } from '../../protocol/ids.ts';
import type { Gate } from '../approval.ts';
import type { OpenForReading } from '../opened-file.ts';
import type { Tool } from '../tool.ts';
import { createCheckpointShelf, type CheckpointShelf } from './checkpoint-shelf.ts';
import { wholeFileBytesMax, type FileDeps } from './file-deps.ts';
import { createOpenForReading } from './open-for-reading.ts';
import { createPatchTool } from './patch-tool.ts';
import { createPlaceReceived, type PlaceReceived } from './place-received.ts';
import { createReadFileTool } from './read-file-tool.ts';
import { rollBack, type RollbackOutcome } from './rollback.ts';
import { createSearchFilesTool } from './search-files-tool.ts';
import { createSeenFiles } from './seen-files.ts';
import { createWriteFileTool } from './write-file-tool.ts';

export const checkpointsFolder = 'checkpoints';

export interface FileToolsDeps {
  /** Nothing in it can be used but the workspace and the session's own spool. */
  readonly home: string;
  /** Absolute folders besides the workspace, as configured now. */
  readonly roots: () => readonly string[];
  /** Who is asked about what is outside or protected; null: that is refused. */
  readonly gate: Gate | null;
  readonly clock: Clock;
  /** Null: none are kept. */
  readonly checkpointDays: () => number | null;
}

export interface Checkpoints extends Pick<CheckpointShelf, 'list' | 'remove' | 'prune'> {
  rollBack(sessionId: SessionId, to: number, isForced: boolean): Promise<RollbackOutcome>;
}

export interface FileTools {
  readonly tools: readonly Tool[];
  readonly openForReading: OpenForReading;
  readonly placeReceived: PlaceReceived;
  readonly checkpoints: Checkpoints;
}

export function createFileTools(made: FileToolsDeps): FileTools {
  const { home, roots, gate, clock, checkpointDays } = made;
  const zonesFor: FileDeps['zonesFor'] = (workspace) => ({ workspace, roots: roots(), readable: [], hidden: [home] });
  const shelf = createCheckpointShelf({
    folder: join(home, checkpointsFolder),
    clock,
    keptMs: () => (checkpointDays() ?? 0) * 86_400_000,
  });
  const deps: FileDeps = {
    zonesFor,
    gate,
    get shelf() {
      return checkpointDays() === null ? null : shelf;
    },
    seen: createSeenFiles(),
  };
  return {
    tools: [
      createReadFileTool(deps),
      createWriteFileTool(deps),
      createPatchTool(deps),
      createSearchFilesTool({ ...deps, clock }),
    ],
    openForReading: createOpenForReading(deps),
    placeReceived: createPlaceReceived(deps),
    checkpoints: {
      list: shelf.list,
      remove: shelf.remove,
      prune: shelf.prune,
      rollBack: (sessionId, to, isForced) =>
        rollBack({ shelf, zonesFor, bytesMax: wholeFileBytesMax }, sessionId, to, isForced),
    },
  };
}
