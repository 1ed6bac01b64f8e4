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
import { endHost, killAll, livingMarks } from './end-host.ts';
import { processesFolderName } from './process-table.ts';
import { hostedMarker, hostMarker, hostState, listHosts, shellFolderName } from './session-host.ts';

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
  const marks = await livingMarks();
  for (const session of await namesIn(spoolRoot)) running.push(...(await runningIn(join(spoolRoot, session), marks)));
  return running;
}

/**
 * Ends what still runs in the folder of a session, its sandbox first; what was written there stays, also what the shell
 * was left with. Nothing happens if there is none.
 */
export async function endSpool({ clock }: { readonly clock: Clock }, folder: string): Promise<void> {
  const calls = await callsIn(folder);
  const hosts = await listHosts(folder);
  for (const host of hosts) {
    if ((await hostState(clock, host)).kind === 'alive') await endHost(clock, host);
  }
  // Where a sandbox is no namespace of its own, what commands left behind outlives it.
  if (hosts.length > 0)
    await killAll(clock, [...hosts.map(hostMarker), ...calls.map((callId) => hostedMarker(folder, callId))], null);
  await Promise.all(calls.map((callId) => endAll(clock, openSpool(join(folder, callId), callId))));
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

async function runningIn(folder: string, marks: ReadonlySet<string>): Promise<RunningCommand[]> {
  const running: RunningCommand[] = [];
  for (const callId of await callsIn(folder)) {
    const spool = openSpool(join(folder, callId), callId);
    const isRunning =
      marks.has(hostedMarker(folder, callId)) || (await isSupervised(spool)) || (await liveGroup(spool)) !== null;
    if (!isRunning) continue;
    const [request, exit] = await Promise.all([spool.readRequest(), spool.readExit()]);
    const command = request?.command ?? '';
    running.push({ session: basename(folder), callId, command, isBackground: exit !== null });
  }
  return running;
}

/** The calls that have a folder. */
export async function callsIn(folder: string): Promise<string[]> {
  return (await namesIn(folder)).filter((name) => name !== shellFolderName && name !== processesFolderName);
}

/** Folders only. */
export async function namesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
}
