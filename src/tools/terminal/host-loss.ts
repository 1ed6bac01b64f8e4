/** What a session lost with a sandbox that ended before its time, told once: in the result of the next command. */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../lib/clock.ts';
import { listProcesses, type BackgroundProcess } from './process-table.ts';
import { oneLine } from './process-words.ts';
import { hostState, listHosts, type HostState, type SessionHost } from './session-host.ts';

/** `current` is new; of those before it, each is spoken of once. */
export async function hostLossNotes(clock: Clock, spoolFolder: string, current: SessionHost): Promise<string[]> {
  const notes: string[] = [];
  const earlier = (await listHosts(spoolFolder)).filter(({ name }) => name !== current.name);
  if (earlier.length === 0) return notes;
  const processes = await listProcesses(spoolFolder);
  for (const host of earlier) {
    const note = await noteOn(clock, host, processes);
    if (note !== null && !(await isTold(host))) {
      notes.push(note);
      await writeFile(join(host.folder, 'told'), '', { mode: 0o600 });
    }
    if ((await hostState(clock, host)).kind !== 'alive') await rm(host.folder, { recursive: true, force: true });
  }
  return notes;
}

async function noteOn(
  clock: Clock,
  host: SessionHost,
  processes: readonly BackgroundProcess[],
): Promise<string | null> {
  const state = await hostState(clock, host);
  if (state.kind === 'not-started' || (state.kind === 'left' && !state.isUnguarded)) return null;
  const running: string[] = [];
  for (const { id, command, spool } of processes) {
    const isHere = (await spool.readRequest())?.host === host.name && (await spool.readExit()) === null;
    if (isHere) running.push(`${id} (${oneLine(command)})`);
  }
  const names = running.join(', ');
  if (state.kind === 'alive') {
    // What nothing runs in leaves by itself.
    if (running.length === 0) return null;
    return `[the sandbox's settings changed: ${names} goes on in the old one, where commands can't reach it]`;
  }
  const why = whyGone(state);
  const lost = running.length === 0 ? '' : `; lost: ${names}`;
  return `[${why}; folder, variables and functions are as they were${lost}]`;
}

function whyGone(state: Exclude<HostState, { kind: 'alive' | 'not-started' }>): string {
  if (state.kind === 'left') return 'a protected file was replaced from outside, so the sandbox was started anew';
  return state.byMachine ? 'the machine was restarted' : "the session's sandbox had ended";
}

async function isTold(host: SessionHost): Promise<boolean> {
  return (await readFile(join(host.folder, 'told')).catch(() => null)) !== null;
}
