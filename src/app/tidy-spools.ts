/** At the start: what old calls left behind goes, and so does what belongs to sessions that are gone. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../lib/clock.ts';
import { isId } from '../lib/ids.ts';
import type { StoreReader } from '../store/store.ts';
import { endSpool, pruneSpools, removeSpool } from '../tools/terminal/spool.ts';

/** How long the output of commands, and results too long for a prompt, can be read again. */
const spoolsKeptMs = 14 * 86_400_000;

/** A session that was deleted in the moment before a crash has no row any more, but it may have a spool. */
export async function tidySpools(deps: { clock: Clock; read: StoreReader }, spoolRoot: string): Promise<void> {
  for (const name of await readdir(spoolRoot).catch(() => [])) {
    const session = isId('ses', name) ? await deps.read.session(name) : null;
    if (session === null) await removeSpool(deps, join(spoolRoot, name));
    // The same for one that was closed: its files stay, its commands do not.
    else if (session.isClosed && session.turn === 'none') await endSpool(deps, join(spoolRoot, name));
  }
  await pruneSpools(deps, spoolRoot, spoolsKeptMs);
}
