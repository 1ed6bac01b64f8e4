/** Which processes still work for a folder, although they should be gone. */
import { readFile, readdir } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

/** A shell in which nothing happens leaves after 20 s. */
const patienceMs = 40_000;
const lookMs = 50;

/** Those whose command line names the folder; empty where there is no /proc. Waits a while for them to end. */
export async function leftRunning(folder: string): Promise<string[]> {
  for (const deadline = performance.now() + patienceMs; ; await sleep(lookMs)) {
    const found = await processesNaming(folder);
    if (found.length === 0 || performance.now() > deadline) return found;
  }
}

async function processesNaming(folder: string): Promise<string[]> {
  const names = await readdir('/proc').catch(() => []);
  const found: string[] = [];
  for (const pid of names.filter((name) => /^\d+$/.test(name))) {
    const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    if (line.includes(folder)) found.push(`${pid}: ${line.replaceAll('\0', ' ').trim()}`);
  }
  return found;
}
