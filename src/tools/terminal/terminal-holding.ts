/** What terminals hold for sessions: the sandbox with its shell, and what runs in the background. Found in the spools. */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../lib/clock.ts';
import { isId } from '../../lib/ids.ts';
import type { SessionId } from '../../protocol/ids.ts';
import type { HeldThing, Holding } from '../holding.ts';
import { openSpool } from './call-spool.ts';
import { shellCwd } from './command-wish.ts';
import { livingMarks } from './end-host.ts';
import { isSupervised, liveGroup } from './end-command.ts';
import { listProcesses } from './process-table.ts';
import { oneLine } from './process-words.ts';
import { hostedMarker, hostState, hostUsedAt, listHosts, readSpec } from './session-host.ts';
import { callsIn, endSpool } from './spool.ts';

export function createTerminalHolding(deps: { readonly clock: Clock; readonly spoolRoot: string }): Holding {
  const { clock, spoolRoot } = deps;
  return {
    name: 'terminals',
    async list() {
      const held: HeldThing[] = [];
      const sessions = (await readdir(spoolRoot).catch((): string[] => [])).filter((name): name is SessionId =>
        isId('ses', name),
      );
      // One look at all processes of the machine serves all sessions.
      const marks = sessions.length === 0 ? new Set<string>() : await livingMarks();
      for (const sessionId of sessions)
        held.push(...(await heldBy(clock, join(spoolRoot, sessionId), sessionId, marks)));
      return held;
    },
    end: (sessionId) => endSpool({ clock }, join(spoolRoot, sessionId)),
  };
}

async function heldBy(
  clock: Clock,
  spoolFolder: string,
  sessionId: SessionId,
  marks: ReadonlySet<string>,
): Promise<HeldThing[]> {
  const held: HeldThing[] = [];
  let usedAt = 0;
  for (const host of await listHosts(spoolFolder)) {
    usedAt = Math.max(usedAt, await hostUsedAt(host));
    if ((await hostState(clock, host)).kind !== 'alive') continue;
    const what = `shell in ${(await shellCwd(spoolFolder)) ?? 'the workspace'}`;
    const startedAt = (await readSpec(host))?.startedAt ?? usedAt;
    held.push({ sessionId, kind: 'shell', what, startedAt, usedAt: await hostUsedAt(host), isBusy: false });
  }
  const named = new Map((await listProcesses(spoolFolder)).map((process) => [process.callId, process]));
  for (const callId of await callsIn(spoolFolder)) {
    const spool = openSpool(join(spoolFolder, callId), callId);
    if (
      !marks.has(hostedMarker(spoolFolder, callId)) &&
      !(await isSupervised(spool)) &&
      (await liveGroup(spool)) === null
    )
      continue;
    const name = named.get(callId)?.id;
    const command = oneLine((await spool.readRequest())?.command ?? '');
    const what = name === undefined ? command : `${name}: ${command}`;
    const startedAt = Math.round((await stat(join(spool.folder, 'claim')).catch(() => null))?.mtimeMs ?? usedAt);
    held.push({ sessionId, kind: 'process', what, startedAt, usedAt: Math.max(usedAt, startedAt), isBusy: true });
  }
  return held;
}
