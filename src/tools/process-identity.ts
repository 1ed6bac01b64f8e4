/**
 * Tells a process from another that got the same number later: by when it started, and in which run of the machine.
 * Linux says so in `/proc`; elsewhere `ps` and `sysctl` are asked.
 */
import { readFile } from 'node:fs/promises';

export interface ProcessIdentity {
  readonly pid: number;
  /** Any text; it is the same for the same process only. */
  readonly start: string;
}

/** Which run of the machine this is; empty if the system does not say. */
export async function bootId(): Promise<string> {
  const found = await readFile('/proc/sys/kernel/random/boot_id', 'latin1').catch(() => null);
  return (found ?? (await printed('sysctl', ['-n', 'kern.bootsessionuuid']))).trim();
}

/** A zombie counts as dead: it does nothing any more. */
export async function isAlive({ pid, start }: ProcessIdentity): Promise<boolean> {
  if (process.platform !== 'linux') return (await printed('ps', ['-o', 'lstart=', '-p', String(pid)])).trim() === start;
  const found = await processStat(String(pid));
  return found !== null && found.start === start && found.isLive;
}

export interface ProcessStat {
  readonly isLive: boolean;
  readonly parent: number;
  readonly group: number;
  readonly start: string;
}

/** What `/proc` says; null if there is no such process. */
export async function processStat(pid: string): Promise<ProcessStat | null> {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => null);
  if (stat === null) return null;
  // `pid (any name) state parent group …`; the start is the twenty-second field.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const isLive = !/[ZX]/.test(fields[0] ?? '');
  return { isLive, parent: Number(fields[1]), group: Number(fields[2]), start: fields[19] ?? '' };
}

/** What a command prints; empty if it fails. */
export function printed(command: string, args: readonly string[]): Promise<string> {
  const { execFile } = process.getBuiltinModule('node:child_process');
  return new Promise((resolve) => {
    const env = { ...process.env, LC_ALL: 'C', TZ: 'UTC' };
    execFile(command, args, { env }, (error, stdout) => resolve(error === null ? stdout : ''));
  });
}
