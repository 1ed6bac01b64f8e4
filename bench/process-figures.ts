/** What the system says of a process. Linux tells the most; elsewhere what `ps` knows. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

export function residentBytes(pid: number): number {
  if (existsSync('/proc/self/status')) {
    const match = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
    return Number(match?.[1]) * 1024;
  }
  return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })) * 1024;
}

/** Bytes handed to the system for writing so far; null where it can't be told. */
export function writtenBytes(pid: number): number | null {
  const path = `/proc/${pid}/io`;
  if (!existsSync(path)) return null;
  return Number(/^write_bytes: (\d+)$/m.exec(readFileSync(path, 'utf8'))?.[1]);
}
