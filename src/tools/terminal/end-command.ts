/**
 * Ends what a call started and what still belongs to it, and nothing else: a process group whose number was given to
 * somebody else meanwhile is left alone.
 */
import { join } from 'node:path';
import { sleep, type Clock } from '../../lib/clock.ts';
import type { CallSpool } from './call-spool.ts';
import { endProcessGroup, hasMemberWith, signalGroup } from './process-group.ts';
import { bootId, isAlive } from '../process-identity.ts';
import { endHost, killAll, livingMarks } from './end-host.ts';
import { tellHost, type SessionHost } from './session-host.ts';
import { callMarker } from './start-supervisor.ts';

/** How long a supervisor may take from its claim to its command. */
const beginMs = 2_000;
const lookMs = 10;
/** What was killed is gone in a moment, or hangs in the kernel; nobody waits for that. */
const killedLooksMax = 100;

/** What a host may take to end a command, with the grace time that the command gets. */
const hostEndMs = 4_000;
/** A host that was told to end what it has not begun will not begin it any more. */
const hostBeginMs = 300;

/** Resolves when no process of the call does anything any more, or when those left were killed. */
export async function endCommand(clock: Clock, spool: CallSpool, host: SessionHost | null): Promise<void> {
  // Who has the claim now either runs the command or never will.
  if (await spool.takeClaim()) return;
  if (host !== null) {
    await endHosted(clock, spool, host);
    return;
  }
  const group = await groupOnceBegun(clock, spool);
  if (group !== null) await endProcessGroup(clock, group);
}

async function endHosted(clock: Clock, spool: CallSpool, host: SessionHost): Promise<void> {
  if ((await spool.readExit()) !== null) return;
  const startedAt = clock.now();
  let isTold = false;
  for (; clock.now() - startedAt < hostEndMs; await sleep(clock, lookMs)) {
    // A host that is only coming up does not listen yet.
    isTold ||= await tellHost(host, `end ${spool.callId}`);
    // Where a sandbox hides its processes from itself, what left the group is found from here.
    if ((await spool.readExit()) !== null) return killAll(clock, [callMark(spool, host)], null);
    const isLate = clock.now() - startedAt > hostBeginMs;
    if (isLate && (await spool.readBegun()) === null) return endSupervisor(clock, spool);
    // Nobody writes down its end any more; whether there is anything left of it can be seen all the same.
    if (!(await mayBegin(spool)) && !(await livingMarks()).has(callMark(spool, host))) return;
  }
  // It does not listen any more: stopped, or too busy. What runs in it can't be ended otherwise.
  await endHost(clock, host);
  await killAll(clock, [callMark(spool, host)], null);
  await endSupervisor(clock, spool);
}

function callMark({ callId }: CallSpool, { wire }: SessionHost): string {
  return join(wire, callId);
}

/** Ends the supervisor as well, whose last writes nobody waits for. What a host runs ends with the host. */
export async function endAll(clock: Clock, spool: CallSpool): Promise<void> {
  const isHosted = (await spool.readRequest())?.host !== undefined;
  if (!isHosted) await endCommand(clock, spool, null);
  else await spool.takeClaim();
  await endSupervisor(clock, spool);
}

async function endSupervisor(clock: Clock, spool: CallSpool): Promise<void> {
  const deadline = clock.now() + beginMs;
  while ((await spool.readClaim()) === 'incomplete' && clock.now() < deadline) await sleep(clock, lookMs);
  const claim = await spool.readClaim();
  if (claim !== null && claim !== 'incomplete' && claim.pid > 0 && (await isAlive(claim))) {
    signalGroup(claim.pid, 'SIGKILL');
    for (let look = 0; look < killedLooksMax && (await isAlive(claim)); look++) await sleep(clock, lookMs);
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
    (await hasMemberWith(found.group, callMarker(spool))) ||
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
