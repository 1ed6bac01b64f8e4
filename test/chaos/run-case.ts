/**
 * One case: people act out their scenes, the gateway is killed, started and perhaps killed again while it recovers; then
 * all is let settle, so that no turn is hit more often than the schedule says.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { killsThatPark, type Case, type Kill } from './schedule.ts';
import { sceneOf } from './scenes.ts';
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
  const token = (lane: number) => `c${plan.number}l${lane}`;
  const [first, ...later] = plan.kills;
  if (first === undefined) return;
  // A fault point is armed at the start of a process.
  if (world.gateway?.isAlive === true && first.by === 'store') await world.stopGateway();
  const acting = async () => {
    const scenes = plan.scenes.map((kind, lane) => sceneOf(kind, token(lane), plan.random, world.effect));
    await Promise.all(scenes.map((scene, lane) => world.act(lane, scene, token(lane), plan.sendTwice)));
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
  if (world.gateway?.isAlive === true && world.gateway.fault !== null) {
    // Its point was not reached: it must not come in the next case.
    const end = await world.stopGateway();
    if (end?.signal === 'SIGKILL') {
      killed += 1;
      count(tally, `leaving, ${world.gateway.fault.replace(/:\d+$/, '')}`);
    }
  }
  const last = world.gateway?.isAlive === true ? world.gateway : world.start(null);
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
  await world.stopGateway();
  const isHit = await killOnce(world, { by: 'store', point, spec: point }, () => world.settleParked(from, action));
  if (isHit) count(tally, point);
  else await world.stopGateway();
  world.start(null);
  await world.settleParked(from, action);
}

/** Whether the gateway died of it; if not, everything was done before its moment came. */
async function killOnce(world: World, kill: Kill, act: () => Promise<void>): Promise<boolean> {
  const isRunning = world.gateway?.isAlive === true;
  const gateway =
    isRunning && world.gateway !== null ? world.gateway : world.start(kill.by === 'store' ? kill.spec : null);
  if (kill.by === 'event') {
    let seen = 0;
    world.onEvent = (event) => {
      if (event.kind === kill.event && ++seen === kill.nth) gateway.signal('SIGKILL');
    };
  }
  const done = act();
  if (kill.by === 'clock') {
    const isOver = await Promise.race([sleep(kill.afterMs), gateway.ended.then(() => 'over'), done.then(() => 'over')]);
    if (isOver !== 'over') gateway.signal('SIGKILL');
    else if (gateway.isAlive) return false;
  }
  const how = await Promise.race([gateway.ended, done.then(() => null)]);
  world.onEvent = () => {};
  if (how === null) return false;
  if (how.signal !== 'SIGKILL') world.problems.push(`it ended by itself, ${JSON.stringify(how)}: ${gateway.stderr}`);
  return true;
}

function count(tally: Tally, point: string): void {
  tally.kills += 1;
  tally.hits.set(point, (tally.hits.get(point) ?? 0) + 1);
}
