/** Runs one seed and says what came of it. The same seed gives the same run, with or without its trace. */
import { checkProperties } from './properties.ts';
import { planScenario } from './scenario.ts';
import { SimulatedWorld } from './simulated-world.ts';
import type { WrapStore } from './world.ts';

export interface SeedReport {
  readonly seed: number;
  /** What must not be and was; empty if all is well. */
  readonly breaches: readonly string[];
  readonly counts: ReadonlyMap<string, number>;
  readonly virtualMs: number;
  readonly trace: readonly string[];
}

export interface RunSeedOptions {
  readonly isTracing?: boolean;
  /** Breaks a part on purpose, to see that it is found. */
  readonly wrapStore?: WrapStore;
}

export async function runSeed(seed: number, options: RunSeedOptions = {}): Promise<SeedReport> {
  const scenario = planScenario(seed);
  const world = new SimulatedWorld(scenario, options);
  world.trace(`seed ${seed}: ${JSON.stringify(scenario)}`);
  const onRejection = (error: unknown) => world.breach(`a rejection that nobody handles: ${describe(error)}`);
  process.on('unhandledRejection', onRejection);
  try {
    await world.run();
    if (world.breaches.length === 0) for (const problem of checkProperties(world)) world.breach(problem);
  } catch (error) {
    world.breach(`the simulation itself failed: ${describe(error)}`);
  } finally {
    process.off('unhandledRejection', onRejection);
  }
  world.count(
    'turns',
    [...world.data.sessions.values()].reduce((sum, session) => sum + session.turns.size, 0),
  );
  world.count('messages', world.platform.acknowledged.length);
  world.count('deliveries', world.data.outbox.size);
  const { breaches, counts, lines: trace } = world;
  return { seed, breaches, counts, virtualMs: world.clock.elapsedMs, trace };
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
