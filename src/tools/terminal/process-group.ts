/**
 * Ends all processes of a group: asked first, forced after a grace time. The group is named by the process id of its
 * leader and lives as long as any of its members, so the leader may be gone already. Processes that left the group by
 * themselves (`setsid`) are out of reach.
 */
import { readdir, readFile } from 'node:fs/promises';
import { sleep, type Clock } from '../../lib/clock.ts';
import { processStat } from '../process-identity.ts';

/** Short, because a stop is to be over within a second. */
const killGraceMs = 700;
const firstLookMs = 20;

/** Resolves when no member does anything any more, or when those left were killed. */
export async function endProcessGroup(clock: Clock, group: number): Promise<void> {
  if (!signalGroup(group, 'SIGTERM')) return;
  const deadline = clock.now() + killGraceMs;
  for (let waitMs = firstLookMs; clock.now() < deadline; waitMs *= 2) {
    await sleep(clock, Math.min(waitMs, deadline - clock.now()));
    if (!(await hasLiveMember(group))) return;
  }
  signalGroup(group, 'SIGKILL');
}

/** False if the group has no member any more. */
export function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-group, signal);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error) {
      if (error.code === 'ESRCH') return false;
      // Members that changed their user are there, though they can't be reached.
      if (error.code === 'EPERM') return true;
    }
    throw error;
  }
}

/** Whether a live member of the group was started with this in its environment. False where the system can't say. */
export async function hasMemberWith(group: number, variable: string): Promise<boolean> {
  if (!signalGroup(group, 0)) return false;
  return someProcess(async (pid) => {
    if (!(await isLiveMember(pid, group))) return false;
    const environment = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '');
    return environment.split('\0').includes(variable);
  });
}

async function hasLiveMember(group: number): Promise<boolean> {
  if (!signalGroup(group, 0)) return false;
  // In a container without an init nobody collects orphans: dead members stay, and must not be waited for.
  if (process.platform !== 'linux') return true;
  return someProcess((pid) => isLiveMember(pid, group));
}

async function isLiveMember(pid: string, group: number): Promise<boolean> {
  const stat = await processStat(pid);
  return stat !== null && stat.group === group && stat.isLive;
}

async function someProcess(fits: (pid: string) => Promise<boolean>): Promise<boolean> {
  for (const name of await readdir('/proc').catch(() => [])) {
    if (/^\d+$/.test(name) && (await fits(name))) return true;
  }
  return false;
}
