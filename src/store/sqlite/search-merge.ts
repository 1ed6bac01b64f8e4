/**
 * Puts the pieces of the index together, in short steps and rarely: every piece is looked into by every search, and each
 * feed leaves one. The work is a small multiple of what was fed, however long the log gets.
 */
import { present } from '../../lib/assert.ts';
import type { Database } from './open-database.ts';

/** Pages in one step: other jobs come in between and wait for no more than this. */
const stepPages = 100;
/** It is worth it when this many entries have come, and at least a quarter of what there was. */
const entriesMin = 20_000;
const shareMin = 0.25;

/** True if there is more to do. */
export function mergeNext(index: Database): boolean {
  const sql = 'SELECT entry_id AS entryId, merged_id AS mergedId, is_merging AS isMerging FROM progress';
  const { entryId, mergedId, isMerging } = present(
    index.get<{ entryId: number; mergedId: number; isMerging: number }>(sql),
    'the progress of the search index',
  );
  if (isMerging === 0 && entryId - mergedId < Math.max(entriesMin, mergedId * shareMin)) return false;
  return index.transaction(() => {
    const before = changesOf(index);
    // Less than nothing means all pieces, and begins; the steps after it go on.
    index.run(`INSERT INTO tokens (tokens, rank) VALUES ('merge', ?)`, isMerging === 0 ? -stepPages : stepPages);
    // SQLite says that nothing was left to do by changing fewer than two rows.
    const isDone = changesOf(index) - before < 2;
    if (isDone) index.run('UPDATE progress SET merged_id = entry_id, is_merging = 0');
    else if (isMerging === 0) index.run('UPDATE progress SET is_merging = 1');
    return !isDone;
  });
}

function changesOf(index: Database): number {
  return present(index.get<{ changes: number }>('SELECT total_changes() AS changes'), 'the count of changes').changes;
}
