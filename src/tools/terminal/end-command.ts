/**
 * Ends what a call started and what still belongs to it, and nothing else: a process group whose number was given to
 * somebody else meanwhile is left alone.
 */
import { sleep, type Clock } from '../../lib/clock.ts';
import type { CallSpool } from './call-spool.ts';
import { endProcessGroup, hasMemberWith, signalGroup } from './process-group.ts';
import { bootId, isAlive } from './process-identity.ts';
import { callMarker } from './start-supervisor.ts';

/** How long a supervisor may take from its claim to its command. */
const beginMs = 2_000;
const lookMs = 10;

/** Resolves when no process of the call does anything any more, or when those left were killed. */
export async function endCommand(clock: Clock, spool: CallSpool): Promise<void> {
  // Who has the claim now either runs the command or never will.
  if (await spool.takeClaim()) return;
  const group = await groupOnceBegun(clock, spool);
  if (group !== null) await endProcessGroup(clock, group);
}

/** Ends the supervisor as well, whose last writes nobody waits for. */
export async function endAll(clock: Clock, spool: CallSpool): Promise<void> {
  await endCommand(clock, spool);
  const claim = await spool.readClaim();
  if (claim !== null && claim !== 'incomplete' && claim.pid > 0 && (await isAlive(claim))) {
    signalGroup(claim.pid, 'SIGKILL');
  }
}

/** The supervisor is there: the command runs, or something holds its output open. */
export async function isSupervised(spool: CallSpool): Promise<boolean> {
  const claim = await spool.readClaim();
  if (claim === null || claim === 'incomplete') return false;
  return claim.boot === (await bootId()) && (await isAlive(claim));
}

/** The group of the command if any of its processes may still be there, else null. */
export async function liveGroup(spool: CallSpool): Promise<number | null> {
  const [claim, found] = await Promise.all([spool.readClaim(), spool.readGroup()]);
  if (found === null || claim === null || claim === 'incomplete' || claim.boot !== (await bootId())) return null;
  if (!signalGroup(found.group, 0)) return null;
  const isOurs =
    (await isAlive(found.leader)) ||
    (await hasMemberWith(found.group, callMarker(spool.callId))) ||
    // Where the members can't be asked, they are taken for the command's as long as something holds its output open.
    (process.platform !== 'linux' && (await isAlive(claim)));
  return isOurs ? found.group : null;
}

async function groupOnceBegun(clock: Clock, spool: CallSpool): Promise<number | null> {
  const deadline = clock.now() + beginMs;
  while ((await spool.readGroup()) === null && (await mayBegin(spool)) && clock.now() < deadline) {
    await sleep(clock, lookMs);
  }
  return liveGroup(spool);
}

async function mayBegin(spool: CallSpool): Promise<boolean> {
  return (await spool.readClaim()) === 'incomplete' || (await isSupervised(spool));
}
