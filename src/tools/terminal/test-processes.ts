/** Looks at processes and waits for them, for tests. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sleep, systemClock } from '../../lib/clock.ts';
import { temporaryFolder } from '../fake-tool-context.ts';
import { removeSpool } from './spool.ts';

/** Polls for something that another process brings about; a test that waits in vain fails by its own limit. */
export async function until<T>(look: () => Promise<T | null>): Promise<T> {
  for (let attempt = 0; attempt < 1_000; attempt++) {
    const found = await look();
    if (found !== null) return found;
    await sleep(systemClock, 10);
  }
  throw new Error('waited in vain');
}

/** The process ids that a command left in a file, once all of them are there. */
export function pidsIn(path: string, count: number): Promise<number[]> {
  return until(async () => {
    const text = await readFile(path, 'utf8').catch(() => '');
    const pids = text
      .split('\n')
      .filter((line) => line !== '')
      .map(Number);
    return text.endsWith('\n') && pids.length === count ? pids : null;
  });
}

/** Those whose command line has this in it, arguments parted by NUL. */
export async function pidsWith(part: string): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async (pid) => (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).includes(part)),
  );
  return pids.filter((_, index) => found[index]).map(Number);
}

/** Dead or a zombie that nobody collected: either way it does nothing any more. */
export async function isGone(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
  if (stat !== null) return /\) [ZX] /.test(stat);
  try {
    process.kill(pid, 0);
    return false;
  } catch {
    return true;
  }
}

export async function allGone(pids: readonly number[]): Promise<void> {
  for (const pid of pids) await until(async () => ((await isGone(pid)) ? true : null));
}

/** A folder that goes when the test ends, and before it what sessions with a spool in it still hold. */
export async function folderToEnd(test: { after(callback: () => Promise<void>): void }): Promise<string> {
  let folder = '';
  test.after(async () => {
    for (const root of [folder, join(folder, 'spool'), join(folder, '.spool')]) {
      for (const name of await readdir(root).catch(() => [])) {
        const inside = await readdir(join(root, name)).catch((): string[] => []);
        if (inside.includes('shell')) await removeSpool({ clock: systemClock }, join(root, name));
      }
    }
  });
  folder = await temporaryFolder(test);
  return folder;
}
