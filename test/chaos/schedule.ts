/** What happens in each case of a run: who does what, and how the gateway dies. A pure function of the seed. */
import { seededRandom, type RandomSource } from '../../src/lib/random.ts';
import { namedPoints, recoveryPoints, type NamedPoint } from './fault-point-names.ts';
import { sceneKinds, type SceneKind } from './scenes.ts';

const lanes = 3;
/** The first round through all points takes the first occurrence of each, so that none is missed; later ones vary. */
const occurrenceMax = 4;
/** Most scenes are over within the first of these. */
const clockKillMaxMs = [80, 200, 400];
/** A start takes about half of it: half of these kills hit before it is ready. */
const recoveryKillMaxMs = 250;
const recoveryKillShare = 0.45;
const sendTwiceShare = 0.15;
/** So often a turn is hit so many times that it is parked. */
const poisonEvery = 39;
export const killsThatPark = 3;

export type Kill =
  /** By its own hand. */
  | { readonly by: 'store'; readonly point: string; readonly spec: string }
  /** When a follower sees the n-th event of this kind. */
  | { readonly by: 'event'; readonly point: string; readonly event: string; readonly nth: number }
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
  /** The first one during work, the others while the next gateway takes it up. */
  readonly kills: readonly Kill[];
  readonly random: RandomSource;
}

export function* schedule(seed: number): Generator<Case> {
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
      points = shuffled(namedPoints, whole);
      rounds += 1;
    }
    const point = number % 3 === 0 ? null : (points.pop() ?? null);
    const first: Kill =
      point === null
        ? clockKill('at random', whole(pick(clockKillMaxMs)))
        : killAt(point, rounds === 1 ? 1 : 1 + whole(occurrenceMax));
    const kills = random.float() < recoveryKillShare ? [first, recoveryKill(pick, whole)] : [first];
    const scenes = Array.from({ length: lanes }, () => pick(sceneKinds));
    if (point !== null && point.scene !== 'any') scenes[0] = point.scene;
    const sendTwice = random.float() < sendTwiceShare;
    const aCase = { number, scenes, sendTwice, kills, random: seededRandom(whole(2 ** 32)) };
    yield number % poisonEvery === 0 ? { ...aCase, scenes: poisonedScenes, kills: poison } : aCase;
  }
}

function killAt({ name, by }: NamedPoint, nth: number): Kill {
  return by === 'store'
    ? { by, point: name, spec: `${name}:${nth}` }
    : { by, point: name, event: name.slice('seen:'.length), nth };
}

function recoveryKill(pick: <T>(list: readonly T[]) => T, whole: (max: number) => number): Kill {
  if (whole(2) === 0) return clockKill('early after a restart', whole(recoveryKillMaxMs));
  const point = pick(recoveryPoints);
  return { by: 'store', point: `recovering, ${point}`, spec: `${point}:${1 + whole(2)}` };
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

export function describe({ scenes, kills, sendTwice }: Case): string {
  const how = kills.map((kill) => {
    if (kill.by === 'store') return kill.spec;
    return kill.by === 'clock' ? `${kill.point}, ${kill.afterMs} ms` : `${kill.point}:${kill.nth}`;
  });
  return `${scenes.join(' + ')}${sendTwice ? ', sent twice' : ''}; killed ${how.join(', then ')}`;
}
