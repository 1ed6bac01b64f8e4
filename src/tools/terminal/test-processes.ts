/** Looks at processes and waits for them, for tests. */
import { readFile } from 'node:fs/promises';
import { sleep, systemClock } from '../../lib/clock.ts';

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
