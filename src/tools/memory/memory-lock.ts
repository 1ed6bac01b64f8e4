/**
 * One writer at a time in a memory's folder, of all processes: the gateway, and a person at the command line. A lock that a
 * process left which died is taken over. Reading needs none: files are replaced whole.
 */
import { mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { hasCode } from '../workspace-path.ts';

const lockFileName = '.lock';
/** A change takes milliseconds. */
const staleMs = 10_000;
const pauseMs = 20;

/** Throws the file system's errors, and those of `work`. */
export async function withMemoryLock<T>(folder: string, work: () => Promise<T>): Promise<T> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, lockFileName);
  while (!(await take(path))) await setTimeout(pauseMs);
  try {
    return await work();
  } finally {
    await rm(path, { force: true });
  }
}

async function take(path: string): Promise<boolean> {
  try {
    await writeFile(path, `${process.pid}\n`, { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
    const found = await stat(path).catch(() => null);
    if (found !== null && Math.abs(Date.now() - found.mtimeMs) > staleMs) await rm(path, { force: true });
    return false;
  }
}
