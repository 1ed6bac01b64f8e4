/** What file tools need in a test: nobody to ask, nothing kept, nothing hidden. */
import type { FileDeps } from './file-deps.ts';
import { createSeenFiles } from './seen-files.ts';

export const plainFileDeps: FileDeps = {
  zonesFor: (workspace) => ({ workspace, roots: [], readable: [], hidden: [] }),
  gate: null,
  shelf: null,
  seen: createSeenFiles(),
};
