/** What happens in each case of a run: who does what, and how the gateway dies. A pure function of the seed. */
import { seededRandom, type RandomSource } from '../../src/lib/random.ts';
import { isOfChannel, namedPoints, recoveryPoints, scenesFor, type NamedPoint } from './fault-point-names.ts';
import { faults, type Fault } from './platform-book.ts';
import { sceneKinds, type SceneKind, type Setup } from './scenes.ts';
import { holdPoints, type HoldPoint } from './scripted-platform.ts';

export const lanes = 3;
/** The lanes that speak through a platform, where there is one. */
const platformLanes = 2;
/** The first round through all points takes the first occurrence of each, so that none is missed; later ones vary. */
const occurrenceMax = 4;
/** Every fifth case is hit by chance. */
const chanceEvery = 5;
/** Most scenes are over within the first of these. */
const clockKillMaxMs = [80, 200, 400];
/** A start takes about half of it: half of these kills hit before it is ready. */
const recoveryKillMaxMs = 250;
const recoveryKillShare = 0.45;
const sendTwiceShare = 0.15;
/** A fault of the platform makes a delivery wait for seconds, so there are few. */
const faultShare = 0.08;
/** So often a turn is hit so many times that it is parked. */
const poisonEvery = 39;
export const killsThatPark = 3;

export type Kill =
  /** By its own hand. */
  | { readonly by: 'store'; readonly point: string; readonly spec: string }
  /** When a follower sees the n-th event of this kind. */
  | { readonly by: 'event'; readonly point: string; readonly event: string; readonly nth: number }
  /** In its n-th request of this kind to the platform. */
  | { readonly by: 'platform'; readonly point: string; readonly hold: HoldPoint; readonly nth: number }
  /** So long after people began to act, or after the start. */
  | { readonly by: 'clock'; readonly point: string; readonly afterMs: number };

const poison: readonly Kill[] = Array.from({ length: killsThatPark }, () => ({
  by: 'store',
  point: 'three times in one turn',
  spec: `after:start-model-call:${lanes}`,
}));
const poisonedScenes: readonly SceneKind[] = ['plain', 'tool', 'slow'];

export interface Case {
  readonly number: number;
  readonly scenes: readonly SceneKind[];
  /** Whether the platform repeats each message. */
  readonly sendTwice: boolean;
  /** What goes wrong on the platform, and in which lane. */
  readonly fault: { readonly lane: number; readonly fault: Fault } | null;
  /** The first one during work, the others while the next gateway takes it up. */
  readonly kills: readonly Kill[];
  readonly random: RandomSource;
}

/** `share`: the points that these cases take care of; other cases, in another setup, take the rest. */
export function* schedule(seed: number, setup: Setup, share: readonly NamedPoint[]): Generator<Case> {
  const random = seededRandom(seed);
  const whole = (max: number) => Math.floor(random.float() * max);
  const pick = <T>(list: readonly T[]): T => {
    const one = list[whole(list.length)];
    if (one === undefined) throw new Error('nothing to pick from');
    return one;
  };
  let points: NamedPoint[] = [];
  let rounds = 0;
  for (let number = 1; ; number++) {
    if (points.length === 0) {
      points = shuffled(rounds === 0 ? share : namedPoints.filter((one) => scenesFor(one, setup) !== null), whole);
      rounds += 1;
    }
    const point = number % chanceEvery === 0 ? null : (points.pop() ?? null);
    const first: Kill =
      point === null
        ? clockKill('at random', whole(pick(clockKillMaxMs)))
        : killAt(point, rounds === 1 ? 1 : 1 + whole(occurrenceMax));
    const kills = random.float() < recoveryKillShare ? [first, recoveryKill(setup, pick, whole)] : [first];
    const scenes = Array.from({ length: lanes }, () => pick(sceneKinds[setup]));
    const isFaulty = random.float() < faultShare && setup !== 'bundle';
    const fault = { lane: whole(platformLanes), fault: pick(faults) };
    const wanted = point === null ? [] : (scenesFor(point, setup) ?? []);
    if (wanted.length > 0) scenes[number % platformLanes] = pick(wanted);
    const sendTwice = random.float() < sendTwiceShare;
    const seedOfCase = whole(2 ** 32);
    const aCase: Case = {
      number,
      scenes,
      sendTwice,
      fault: isFaulty ? fault : null,
      kills,
      random: seededRandom(seedOfCase),
    };
    yield number % poisonEvery === 0 ? { ...aCase, scenes: poisonedScenes, kills: poison } : aCase;
  }
}

/**
 * Which setup takes care of which points first; a point that several can reach falls to one of them. A run on Telegram
 * alone begins with what lies on the way through it.
 */
export function sharesOf(setups: readonly Setup[]): Map<Setup, NamedPoint[]> {
  const shares = new Map<Setup, NamedPoint[]>(setups.map((setup) => [setup, []]));
  let next = 0;
  const isOnTelegram = setups.every((setup) => setup === 'telegram');
  for (const point of namedPoints) {
    if (isOnTelegram && !isOfChannel(point)) continue;
    const able = setups.filter((setup) => scenesFor(point, setup) !== null);
    const setup = able.length === setups.length ? setups[next++ % setups.length] : able[0];
    if (setup !== undefined) shares.get(setup)?.push(point);
  }
  return shares;
}

function killAt({ name, by }: NamedPoint, nth: number): Kill {
  const what = name.slice(name.indexOf(':') + 1);
  switch (by) {
    case 'store':
      return { by, point: name, spec: `${name}:${nth}` };
    case 'event':
      return { by, point: name, event: what, nth };
    case 'platform':
      return { by, point: name, hold: what as HoldPoint, nth };
  }
}

function recoveryKill(setup: Setup, pick: <T>(list: readonly T[]) => T, whole: (max: number) => number): Kill {
  const nth = 1 + whole(2);
  switch (whole(setup === 'bundle' ? 4 : 5)) {
    case 0:
    case 1:
      return clockKill('early after a restart', whole(recoveryKillMaxMs));
    case 2:
    case 3: {
      const point = pick(recoveryPoints);
      return { by: 'store', point: `recovering, ${point}`, spec: `${point}:${nth}` };
    }
    default: {
      const hold = pick(holdPoints);
      return { by: 'platform', point: `recovering, platform:${hold}`, hold, nth };
    }
  }
}

function clockKill(point: string, afterMs: number): Kill {
  return { by: 'clock', point, afterMs };
}

function shuffled<T>(list: readonly T[], whole: (max: number) => number): T[] {
  return list
    .map((value) => ({ value, order: whole(2 ** 30) }))
    .sort((a, b) => a.order - b.order)
    .map(({ value }) => value);
}

export function describe({ scenes, kills, sendTwice, fault }: Case): string {
  const how = kills.map((kill) => {
    if (kill.by === 'store') return kill.spec;
    return kill.by === 'clock' ? `${kill.point}, ${kill.afterMs} ms` : `${kill.point}:${kill.nth}`;
  });
  const trouble = fault === null ? '' : `, ${fault.fault} in lane ${fault.lane}`;
  return `${scenes.join(' + ')}${sendTwice ? ', sent twice' : ''}${trouble}; killed ${how.join(', then ')}`;
}
