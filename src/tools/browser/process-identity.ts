/**
 * Tells the process of a browser from another that got the same number later, by when it started and in which run of the
 * machine; and ends it with everything in its group.
 */
import { readdir, readFile } from 'node:fs/promises';
import { sleep, type Clock } from '../../lib/clock.ts';
import { hasCode } from '../workspace-path.ts';

export interface ProcessIdentity {
  readonly pid: number;
  /** Any text; it is the same for the same process only. */
  readonly start: string;
}

const goneWithinMs = 5_000;
const lookEveryMs = 20;

/** Null if there is no such process, or only its remains. */
export async function identityOf(pid: number): Promise<ProcessIdentity | null> {
  if (process.platform !== 'linux') {
    const start = (await printed('ps', ['-o', 'stat=,lstart=', '-p', String(pid)])).trim();
    return start === '' || start.startsWith('Z') ? null : { pid, start: start.replace(/^\S+\s+/, '') };
  }
  const fields = await statFields(pid);
  if (fields === null || /[ZX]/.test(fields[0] ?? '')) return null;
  const boot = await readFile('/proc/sys/kernel/random/boot_id', 'latin1').catch(() => '');
  return { pid, start: `${boot.trim()} ${fields[19] ?? ''}` };
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
    const found = /^\d+$/.test(pid) ? await statFields(Number(pid)) : null;
    if (found !== null && Number(found[2]) === group && !/[ZX]/.test(found[0] ?? '')) return true;
  }
  return false;
}

/** What Linux says about a process, from its state on; null if there is no such process. */
async function statFields(pid: number): Promise<string[] | null> {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => null);
  // `pid (any name) state parent group …`.
  return stat === null ? null : stat.slice(stat.lastIndexOf(')') + 2).split(' ');
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

/** What a command prints; empty if it fails. */
function printed(command: string, args: readonly string[]): Promise<string> {
  const { execFile } = process.getBuiltinModule('node:child_process');
  return new Promise((resolve) => {
    const env = { ...process.env, LC_ALL: 'C', TZ: 'UTC' };
    execFile(command, args, { env }, (error, stdout) => resolve(error === null ? stdout : ''));
  });
}
