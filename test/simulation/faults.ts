/**
 * What goes wrong with writes: the process dies before or after one is applied, one fails, or the process stalls in the
 * middle of one while a new process takes over. Decides by its own dice, within the scenario's limits.
 */
import { Dice } from './dice.ts';
import type { Scenario } from './scenario.ts';

export type WriteFault = 'none' | 'die-before' | 'die-after' | 'disk-full' | 'unavailable' | 'stall';

/** Crashes come in groups, so that recovery itself is hit. */
const aftershockChance = 0.3;
const aftershockWrites = 10;

export class Faults {
  readonly #dice: Dice;
  readonly #scenario: Scenario;
  #crashes: number;
  #failures: number;
  #stalls: number;
  #aftershocks = 0;

  constructor(scenario: Scenario) {
    this.#scenario = scenario;
    this.#dice = new Dice(scenario.seed, 1);
    this.#crashes = scenario.crashesMax;
    this.#failures = scenario.failuresMax;
    this.#stalls = scenario.stallsMax;
  }

  next(mayStall: boolean): WriteFault {
    const dice = this.#dice;
    const chance = this.#aftershocks > 0 ? aftershockChance : this.#scenario.faultChance;
    this.#aftershocks = Math.max(0, this.#aftershocks - 1);
    if (!dice.chance(chance)) return 'none';
    const kind = dice.weighted({ crash: this.#crashes, failure: this.#failures, stall: this.#stalls, none: 0.1 });
    if (kind === 'crash') {
      this.#crashes -= 1;
      if (dice.chance(0.4)) this.#aftershocks = aftershockWrites;
      return dice.chance(0.5) ? 'die-before' : 'die-after';
    }
    if (kind === 'failure') {
      this.#failures -= 1;
      return dice.chance(0.5) ? 'disk-full' : 'unavailable';
    }
    if (kind === 'stall' && mayStall) {
      this.#stalls -= 1;
      return 'stall';
    }
    return 'none';
  }

  readFails(): boolean {
    if (this.#failures === 0 || !this.#dice.chance(this.#scenario.faultChance / 20)) return false;
    this.#failures -= 1;
    return true;
  }

  writeDelayMs(): number {
    const most = this.#scenario.writeDelayMaxMs;
    return most === 0 ? 0 : this.#dice.delayMs(most);
  }
}
