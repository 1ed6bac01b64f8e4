/**
 * Removes what calls of long ago left behind. A call whose folder was removed must not look like one that never began:
 * the newest call removed is kept in a note, and ids sort by time.
 */
import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { writeFileAtomically } from '../../lib/atomic-file.ts';
import type { Clock } from '../../lib/clock.ts';
import { openSpool } from './call-spool.ts';
import { isSupervised, liveGroup } from './end-command.ts';
import { forgetProcesses, processesFolderName } from './process-table.ts';
import { shellFolderName } from './session-host.ts';

const noteFile = 'removed-up-to';

/** `spoolRoot` holds a folder for each session. What still runs stays. Returns how many files and folders went. */
export async function pruneSpools(
  deps: { readonly clock: Clock },
  spoolRoot: string,
  olderThanMs: number,
): Promise<number> {
  const before = deps.clock.now() - olderThanMs;
  let removed = 0;
  for (const session of await readdir(spoolRoot).catch(() => [])) {
    removed += await pruneSession(join(spoolRoot, session), before);
  }
  return removed;
}

async function pruneSession(folder: string, before: number): Promise<number> {
  const old: string[] = [];
  for (const name of await readdir(folder).catch(() => [])) {
    if (name === noteFile || name === shellFolderName || name === processesFolderName) continue;
    if (await isOld(join(folder, name), name, before)) old.push(name);
  }
  const newest = old.sort().at(-1);
  if (newest === undefined) return 0;
  const noted = await removedUpTo(folder);
  if (newest > noted) await writeFileAtomically(join(folder, noteFile), `${newest}\n`, { mode: 0o600 });
  for (const name of old) await rm(join(folder, name), { recursive: true, force: true });
  const left = new Set(await readdir(folder));
  const upTo = newest > noted ? newest : noted;
  await forgetProcesses(folder, (callId) => callId <= upTo && !left.has(callId));
  return old.length;
}

async function isOld(path: string, callId: string, before: number): Promise<boolean> {
  const found = await stat(path).catch(() => null);
  if (found === null || found.mtimeMs >= before) return false;
  if (!found.isDirectory()) return true;
  const output = await stat(join(path, 'output')).catch(() => null);
  if (output !== null && output.mtimeMs >= before) return false;
  const spool = openSpool(path, callId);
  return !(await isSupervised(spool)) && (await liveGroup(spool)) === null;
}

/** Whether the folder of this call may have been removed. */
export async function isPruned(spoolFolder: string, callId: string): Promise<boolean> {
  return callId <= (await removedUpTo(spoolFolder));
}

async function removedUpTo(folder: string): Promise<string> {
  return (await readFile(join(folder, noteFile), 'utf8').catch(() => '')).trim();
}
