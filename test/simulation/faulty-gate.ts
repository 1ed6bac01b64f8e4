/** How one process's writes and reads reach the data: in time, late, not at all, or with the process dying over them. */
import { StoreError } from '../../src/store/store.ts';
import type { LetRead } from './memory-reads.ts';
import type { LetWrite } from './memory-store.ts';
import { never } from './virtual-clock.ts';
import type { Life } from './world.ts';

/** What a process that was replaced may still try: the leases of its sessions are what must stop it. */
const lateVerbs = /^(renewLeases|releaseLease|[a-z-]+(\+[a-z-]+)*)$/;
/** Of these, what needs no lease: anybody may admit a message, and the others change nothing that is not theirs. */
const unfencedVerbs: ReadonlySet<string> = new Set(['admit', 'renewLeases', 'releaseLease']);

export function faultyGate(process: Life): { letWrite: LetWrite; letRead: LetRead } {
  const { world } = process;
  const lanes = new Map<string, { busyUntil: number; pending: number }>();

  const letWrite: LetWrite = <T>(laneName: string, verb: string, apply: () => T): Promise<T> => {
    if (!process.isAlive || world.runsInCircles()) return never();
    const fault = world.faults.next(!process.isReplaced && !process.isLeaving);
    if (fault === 'stall') world.stall(process);
    const lane = lanes.get(laneName) ?? { busyUntil: 0, pending: 0 };
    lanes.set(laneName, lane);
    const delayMs = world.faults.writeDelayMs();
    const at = Math.max(world.clock.now() + delayMs, lane.busyUntil);
    lane.busyUntil = at;

    return new Promise<T>((resolve, reject) => {
      const perform = () => {
        if (!process.isAlive) return;
        if (process.isReplaced && !lateVerbs.test(verb)) {
          return reject(new StoreError('held', 'Another process has this home.'));
        }
        if (fault === 'die-before') return process.die(`before ${verb}`);
        if (fault === 'disk-full' || fault === 'unavailable') {
          world.noteFailure(`p${process.number} ${laneName}: ${verb} fails: ${fault}`);
          if (verb === 'releaseLease') world.count('leases not given back');
          return reject(new StoreError(fault, `The write failed: ${fault}.`));
        }
        let value: T;
        try {
          value = apply();
        } catch (error) {
          world.trace(`p${process.number} ${laneName}: ${verb} refused: ${String(error)}`);
          if (error instanceof StoreError && error.reason === 'over-budget') world.count('calls over budget');
          return reject(error);
        }
        world.trace(`p${process.number} ${laneName}: ${verb}`);
        if (process.isReplaced && !unfencedVerbs.has(verb)) {
          world.breach(`p${process.number} was replaced and has written ${verb} all the same`);
        }
        if (fault === 'die-after') return process.die(`after ${verb}`);
        if (delayMs === 0) resolve(value);
        else process.clock.setTimer(world.faults.writeDelayMs(), () => resolve(value));
      };
      if (at === world.clock.now() && lane.pending === 0 && process.stalledUntil <= world.clock.now()) return perform();
      lane.pending += 1;
      process.clock.setTimer(at - world.clock.now(), () => {
        lane.pending -= 1;
        perform();
      });
    });
  };

  const letRead: LetRead = <T>(look: () => T): Promise<T> => {
    if (!process.isAlive || world.runsInCircles()) return never();
    if (world.faults.readFails()) {
      world.noteFailure('a read fails');
      return Promise.reject(new StoreError('unavailable', 'The read failed.'));
    }
    if (process.stalledUntil <= world.clock.now()) return Promise.resolve(look());
    return new Promise((resolve) => process.runAlive(() => resolve(look())));
  };
  return { letWrite, letRead };
}
