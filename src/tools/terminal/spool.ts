/**
 * What the commands of all sessions left running, and the end of it: nothing that Talaria started goes on without being
 * found here. The folder of all spools holds one folder for each session, and that one folder for each call.
 */
import { readdir, rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Clock } from '../../lib/clock.ts';
import { hasCode } from '../workspace-path.ts';
import { openSpool } from './call-spool.ts';
import { endAll, isSupervised, liveGroup } from './end-command.ts';

export { pruneSpools } from './prune-spools.ts';

export interface RunningCommand {
  /** The name of the session's folder. */
  readonly session: string;
  readonly callId: string;
  readonly command: string;
  /** The command itself has ended; something that it put into the background goes on. */
  readonly isBackground: boolean;
}

export async function listRunning(spoolRoot: string): Promise<RunningCommand[]> {
  const running: RunningCommand[] = [];
  for (const session of await namesIn(spoolRoot)) running.push(...(await runningIn(join(spoolRoot, session))));
  return running;
}

/** Ends what still runs in the folder of a session; what was written there stays. Nothing happens if there is none. */
export async function endSpool(deps: { readonly clock: Clock }, folder: string): Promise<void> {
  const calls = await namesIn(folder);
  await Promise.all(calls.map((callId) => endAll(deps.clock, openSpool(join(folder, callId), callId))));
}

/** Ends what still runs there, then removes the folder of a session. Nothing happens if there is none. */
export async function removeSpool(deps: { readonly clock: Clock }, folder: string): Promise<void> {
  await endSpool(deps, folder);
  // Under another name no supervisor that is late finds the folder, while the claims that hold it back are removed.
  const leaving = `${folder}.removed-${crypto.randomUUID()}`;
  try {
    await rename(folder, leaving);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return;
    throw error;
  }
  await rm(leaving, { recursive: true, force: true, maxRetries: 3 });
}

async function runningIn(folder: string): Promise<RunningCommand[]> {
  const running: RunningCommand[] = [];
  for (const callId of await namesIn(folder)) {
    const spool = openSpool(join(folder, callId), callId);
    if (!(await isSupervised(spool)) && (await liveGroup(spool)) === null) continue;
    const [request, exit] = await Promise.all([spool.readRequest(), spool.readExit()]);
    const command = request?.command ?? '';
    running.push({ session: basename(folder), callId, command, isBackground: exit !== null });
  }
  return running;
}

/** Folders only. */
async function namesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
}
