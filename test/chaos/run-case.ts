/**
 * One case: people act out their scenes, the gateway is killed, started and perhaps killed again while it recovers; then
 * all is let settle, so that no turn is hit more often than the schedule says.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { killsThatPark, type Case, type Kill } from './schedule.ts';
import { sceneOf } from './scenes.ts';
import type { Platform } from './scripted-platform.ts';
import type { World } from './world.ts';

export interface Tally {
  kills: number;
  cases: number;
  readonly hits: Map<string, number>;
  readonly readyMs: number[];
  readonly settledMs: number[];
}

export async function runCase(world: World, plan: Case, tally: Tally, killsMax: number): Promise<void> {
  const sentBefore = world.sentCount;
  const token = (lane: number) => `${world.setup.charAt(0)}${plan.number}l${lane}`;
  const [first, ...later] = plan.kills;
  if (first === undefined) return;
  await world.surroundings.configure(plan.number);
  // A fault point is armed at the start of a process.
  if (world.gateway.running !== null && first.by === 'store') await world.gateway.stop();
  const acting = async () => {
    const { language, ledger } = world.surroundings;
    const options = { random: plan.random, language, effect: ledger.command.bind(ledger) };
    const scenes = plan.scenes.map((kind, lane) => sceneOf(kind, { ...options, token: token(lane) }));
    const { sendTwice } = plan;
    const faultIn = (lane: number) => (plan.fault?.lane === lane ? plan.fault.fault : null);
    await Promise.all(
      scenes.map((scene, lane) => world.act(lane, scene, { token: token(lane), sendTwice, fault: faultIn(lane) })),
    );
    await world.quiet();
  };
  let acted: Promise<void> | null = null;
  const act = () => (acted ??= acting());

  let killed = 0;
  for (const kill of [first, ...later]) {
    if (tally.kills >= killsMax) break;
    if (!(await killOnce(world, kill, act))) break;
    killed += 1;
    count(tally, kill.point);
  }
  const armed = world.gateway.running?.fault ?? null;
  if (armed !== null) {
    // Its point was not reached: it must not come in the next case.
    const end = await world.gateway.stop();
    if (end?.signal === 'SIGKILL') {
      killed += 1;
      count(tally, `leaving, ${armed.replace(/:\d+$/, '')}`);
    }
  }
  const last = world.gateway.running ?? world.gateway.start(null);
  await act();
  // Once more: the last kill may have come when all was done.
  await world.quiet();
  if (last.readyAfterMs !== null && killed > 0) {
    tally.readyMs.push(last.readyAfterMs);
    tally.settledMs.push(performance.now() - last.startedAt);
  }
  if (killed >= killsThatPark) {
    world.allowParked(sentBefore);
    await settleParked(world, sentBefore, plan, tally);
  }
  tally.cases += 1;
}

/** What people do about the parked turns; the gateway dies while it is told. */
async function settleParked(world: World, from: number, { random }: Case, tally: Tally): Promise<void> {
  const action = random.float() < 0.7 ? 'retry' : 'drop';
  const point = `${['before', 'during', 'after'][Math.floor(random.float() * 3)]}:${action}Parked`;
  await world.gateway.stop();
  const isHit = await killOnce(world, { by: 'store', point, spec: point }, () => world.settleParked(from, action));
  if (isHit) count(tally, point);
  else await world.gateway.stop();
  world.gateway.start(null);
  await world.settleParked(from, action);
}

/** Whether the gateway died of it; if not, everything was done before its moment came. */
async function killOnce(world: World, kill: Kill, act: () => Promise<void>): Promise<boolean> {
  const gateway = world.gateway.running ?? world.gateway.start(kill.by === 'store' ? kill.spec : null);
  let isStruck = false;
  const strike = () => {
    isStruck = true;
    gateway.signal('SIGKILL');
  };
  const disarm = await arm(world, kill, strike);
  const done = act();
  const over = Promise.race([gateway.ended, done]);
  if (kill.by === 'clock' && (await Promise.race([sleep(kill.afterMs, 'time'), over])) === 'time') strike();
  await over;
  await disarm();
  // What was done in the meantime does not count: it dies, and only then can the next one be started.
  if (!isStruck && gateway.isAlive) return false;
  const how = await gateway.ended;
  if (how.signal !== 'SIGKILL') world.problems.push(`it ended by itself, ${JSON.stringify(how)}: ${gateway.stderr}`);
  return true;
}

/** Has the gateway struck when its moment comes; nothing strikes any more once the returned function is done. */
async function arm(world: World, kill: Kill, strike: () => void): Promise<() => Promise<void>> {
  const platform: Platform | null = world.surroundings.telegram ?? world.surroundings.platform;
  if (kill.by === 'event') {
    let seen = 0;
    world.onEvent = (event) => {
      if (event.kind === kill.event && ++seen === kill.nth) strike();
    };
  }
  if (kill.by === 'platform' && platform !== null) {
    platform.onHeld = strike;
    await platform.hold({ point: kill.hold, nth: kill.nth });
  }
  return async () => {
    world.onEvent = () => {};
    // By its answer the platform has told of whatever it held before.
    if (kill.by === 'platform') await platform?.hold(null);
  };
}

function count(tally: Tally, point: string): void {
  tally.kills += 1;
  tally.hits.set(point, (tally.hits.get(point) ?? 0) + 1);
}
