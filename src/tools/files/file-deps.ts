/** What the tools of this family share: where they may be, who is asked about the rest, and what they keep. */
import type { Gate } from '../approval.ts';
import type { ToolContext, ToolOutcome } from '../tool.ts';
import type { CheckpointShelf } from './checkpoint-shelf.ts';
import { atPath, type Whereabouts } from './confined-open.ts';
import type { SeenFiles } from './seen-files.ts';
import { readMarks, type Marks, type ZoneFolders } from './zones.ts';

/** Larger files are looked at by windows only: they are neither changed nor remembered. */
export const wholeFileBytesMax = 20_000_000;

export interface FileDeps {
  readonly zonesFor: (workspace: string) => ZoneFolders;
  /** Null: what it would be asked about is refused. */
  readonly gate: Gate | null;
  /** Null: nothing is kept of what is changed. */
  readonly shelf: CheckpointShelf | null;
  readonly seen: SeenFiles;
}

export interface Place {
  readonly where: Whereabouts;
  readonly zones: ZoneFolders;
  readonly marks: Marks;
}

/** Runs `use` while the place is held; besides the roots, what calls of this session left is known. */
export async function atPlace<T>(
  deps: FileDeps,
  path: string,
  { workspace, spoolFolder }: Pick<ToolContext, 'workspace' | 'spoolFolder'>,
  use: (place: Place) => Promise<T>,
): Promise<T> {
  const known = deps.zonesFor(workspace);
  const zones = { ...known, readable: [...known.readable, spoolFolder] };
  const marks = await readMarks(zones);
  return atPath(path, { workspace, marks }, (where) => use({ where, zones, marks }));
}

export function failed(text: string): ToolOutcome & { kind: 'failed' } {
  return { kind: 'failed', text };
}

export const hiddenText = (shown: string) => `${shown} belongs to Talaria itself or to the system and can't be used.`;
