/**
 * Ends all processes of a group: asked first, forced after a grace time. The group is named by the process id of its
 * leader and lives as long as any of its members, so the leader may be gone already. Processes that left the group by
 * themselves (`setsid`) are out of reach.
 */
import { readdir, readFile } from 'node:fs/promises';
import { sleep, type Clock } from '../../lib/clock.ts';

const killGraceMs = 2_000;
const firstLookMs = 20;

/** Resolves when no member does anything any more, or when those left were killed. */
export async function endProcessGroup(clock: Clock, leaderPid: number): Promise<void> {
  if (!signalGroup(leaderPid, 'SIGTERM')) return;
  const deadline = clock.now() + killGraceMs;
  for (let waitMs = firstLookMs; clock.now() < deadline; waitMs *= 2) {
    await sleep(clock, Math.min(waitMs, deadline - clock.now()));
    if (!(await hasLiveMember(leaderPid))) return;
  }
  signalGroup(leaderPid, 'SIGKILL');
}

/** False if the group has no member any more. */
function signalGroup(leaderPid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-leaderPid, signal);
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

async function hasLiveMember(leaderPid: number): Promise<boolean> {
  if (!signalGroup(leaderPid, 0)) return false;
  // In a container without an init nobody collects orphans: dead members stay, and must not be waited for.
  const processes = await readdir('/proc').catch(() => []);
  if (processes.length === 0) return true;
  for (const name of processes) {
    if (/^\d+$/.test(name) && (await isLiveMember(name, leaderPid))) return true;
  }
  return false;
}

async function isLiveMember(pid: string, leaderPid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '');
  // `pid (any name) state parent group …`
  const [state, , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(group) === leaderPid && state !== 'Z' && state !== 'X';
}
