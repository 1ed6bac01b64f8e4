/**
 * Ends a session's sandbox with all that runs in it. It is asked first, because only inside can a container be ended
 * whole; then everything that descends from it, or carries the mark of it or of one of its calls, is killed.
 */
import { readdir, readFile } from 'node:fs/promises';
import { sleep, type Clock } from '../../lib/clock.ts';
import { openSpool } from './call-spool.ts';
import { signalGroup } from './process-group.ts';
import { bootId, isAlive, processStat } from '../process-identity.ts';
import { hostMarker, hostState, tellHost, type SessionHost } from './session-host.ts';
import { callMarkerName } from './start-supervisor.ts';

const quitMs = 1_500;
const lookMs = 20;
/** What is killed may have started something in that moment. */
const roundsMax = 5;
/** Of processes that are looked at together. */
const atOnce = 64;

export async function endHost(clock: Clock, host: SessionHost): Promise<void> {
  const claim = await openSpool(host.folder, host.name).readClaim();
  const deadline = clock.now() + quitMs;
  if ((await hostState(clock, host)).kind === 'alive' && (await tellHost(host, 'quit'))) {
    while (clock.now() < deadline && (await hostState(clock, host)).kind === 'alive') await sleep(clock, lookMs);
  }
  const isOurs = claim !== null && claim !== 'incomplete' && claim.boot === (await bootId()) && (await isAlive(claim));
  await killAll(clock, [hostMarker(host)], isOurs ? claim.pid : null);
  if (isOurs && (await isAlive(claim))) signalGroup(claim.pid, 'SIGKILL');
}

/** Kills what carries one of the marks, and what descends from `root`, but not that itself: it writes down the end. */
export async function killAll(clock: Clock, marks: readonly string[], root: number | null): Promise<void> {
  for (let round = 0; round < roundsMax; round++) {
    const living = await livingProcesses();
    const parents = new Map(living.map(({ pid, parent }) => [pid, parent]));
    const found = living.filter(
      ({ pid, mark }) => pid !== root && (marks.includes(mark) || descends(parents, pid, root)),
    );
    if (found.length === 0) return;
    for (const { pid } of found) kill(pid);
    await sleep(clock, lookMs);
  }
}

/** The calls and hosts of which something is alive, whatever became of its parents. Empty where the system can't say. */
export async function livingMarks(): Promise<ReadonlySet<string>> {
  return new Set((await livingProcesses()).map(({ mark }) => mark));
}

interface LivingProcess {
  readonly pid: number;
  readonly parent: number;
  /** Empty for a stranger. */
  readonly mark: string;
}

async function livingProcesses(): Promise<LivingProcess[]> {
  const names = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  const found: LivingProcess[] = [];
  // There may be very many of them, each with a very large environment.
  for (let start = 0; start < names.length; start += atOnce) {
    const looked = await Promise.all(names.slice(start, start + atOnce).map(lookAt));
    found.push(...looked.filter((one) => one !== null));
  }
  return found.filter(({ pid }) => pid !== process.pid);
}

async function lookAt(name: string): Promise<LivingProcess | null> {
  const stat = await processStat(name);
  if (stat === null || !stat.isLive) return null;
  const environment = await readFile(`/proc/${name}/environ`, 'latin1').catch(() => '');
  const start = `\0${environment}`.indexOf(`\0${callMarkerName}=`);
  const mark = start < 0 ? '' : (environment.slice(start + callMarkerName.length + 1).split('\0', 1)[0] ?? '');
  return { pid: Number(name), parent: stat.parent, mark };
}

function descends(parents: ReadonlyMap<number, number>, pid: number, root: number | null): boolean {
  if (root === null) return false;
  let at = parents.get(pid);
  for (let steps = 0; at !== undefined && steps < parents.size; steps++) {
    if (at === root) return true;
    at = parents.get(at);
  }
  return false;
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended by itself, or it changed its user and can't be reached.
  }
}
