/**
 * Tells the process of a browser from another that got the same number later, by when it started and in which run of the
 * machine; and ends it with everything in its group.
 */
import { readdir } from 'node:fs/promises';
import { sleep, type Clock } from '../../lib/clock.ts';
import { bootId, printed, processStat, type ProcessIdentity } from '../process-identity.ts';
import { hasCode } from '../workspace-path.ts';

const goneWithinMs = 5_000;
const lookEveryMs = 20;

/** Null if there is no such process, or only its remains. */
export async function identityOf(pid: number): Promise<ProcessIdentity | null> {
  if (process.platform !== 'linux') {
    const start = (await printed('ps', ['-o', 'stat=,lstart=', '-p', String(pid)])).trim();
    return start === '' || start.startsWith('Z') ? null : { pid, start: start.replace(/^\S+\s+/, '') };
  }
  const found = await processStat(String(pid));
  return found?.isLive === true ? { pid, start: `${await bootId()} ${found.start}` } : null;
}

export async function isAlive({ pid, start }: ProcessIdentity): Promise<boolean> {
  return (await identityOf(pid))?.start === start;
}

/** Waits until it is gone; false if it is still there after the time. */
export async function isGoneWithin(clock: Clock, host: ProcessIdentity, withinMs: number): Promise<boolean> {
  for (const end = clock.now() + withinMs; clock.now() < end; await sleep(clock, lookEveryMs)) {
    if (!(await isAlive(host))) return true;
  }
  return !(await isAlive(host));
}

/** Resolves once the process and all of its group are gone. */
export async function killGroup(clock: Clock, host: ProcessIdentity): Promise<void> {
  // The group's number stays taken as long as anybody is in it, so it is the right one while its first process lives.
  if (await isAlive(host)) signalGroup(host.pid, 'SIGKILL');
  for (const end = clock.now() + goneWithinMs; clock.now() < end; await sleep(clock, lookEveryMs)) {
    if (!(await isGroupAlive(host.pid))) return;
  }
  throw new Error(`the browser's process ${host.pid} does not end`);
}

/** Remains of processes that nobody collects do not count. */
async function isGroupAlive(group: number): Promise<boolean> {
  if (process.platform !== 'linux') return signalGroup(group, 0);
  for (const pid of await readdir('/proc')) {
    const found = /^\d+$/.test(pid) ? await processStat(pid) : null;
    if (found?.group === group && found.isLive) return true;
  }
  return false;
}

/** False if there is no such group. */
function signalGroup(pid: number, signal: 'SIGKILL' | 0): boolean {
  try {
    return process.kill(-pid, signal);
  } catch (error) {
    if (hasCode(error, 'ESRCH') || hasCode(error, 'EPERM')) return false;
    throw error;
  }
}
