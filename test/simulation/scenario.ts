/** What a seed stands for: who writes what and when, how people and parts behave, and how much goes wrong. A plain value. */
import { Dice } from './dice.ts';

export type BusyMode = 'steer' | 'queue' | 'interrupt';
/** `poison`: nothing goes wrong but what the tools of one chat do. */
export type Weather = 'calm' | 'poison' | 'crashes' | 'failures' | 'stalls' | 'storm';

/** The chat whose model asks for tools that take the process down. */
export const poisonedChat = 'chat0';

export interface PlannedMessage {
  readonly atMs: number;
  readonly chat: string;
  readonly channel: 'web' | 'cli';
  readonly externalId: string;
  readonly text: string;
  /** How often the platform sends it again although it was acknowledged. */
  readonly repeats: number;
}

export interface Scenario {
  readonly seed: number;
  readonly weather: Weather;
  readonly busyMode: BusyMode;
  readonly messages: readonly PlannedMessage[];
  readonly stops: readonly { readonly atMs: number; readonly chat: string }[];
  /** Ends of the process that no write is the reason of. */
  readonly killsAtMs: readonly number[];
  readonly restartsAtMs: readonly number[];
  /** How long a write may take at most; 0: none takes any time. */
  readonly writeDelayMaxMs: number;
  /** How long a tool may take at most; commands three times as long. */
  readonly toolMsMax: number;
  /** How many crashes, failed writes and stalls there may be. */
  readonly crashesMax: number;
  readonly failuresMax: number;
  readonly stallsMax: number;
  /** How likely a write is the one at which something goes wrong. */
  readonly faultChance: number;
  /** How likely a call in the poisoned chat is of a tool that takes the process down each time. */
  readonly poisonChance: number;
  /** Whether somebody looks after parked turns in the end. */
  readonly looksAfterParked: boolean;
  readonly models: ModelPlan;
}

/** Which models there are and what they may cost. */
export interface ModelPlan {
  readonly hasFallback: boolean;
  readonly namesSessions: boolean;
  /** Dollars; 0 is no limit. With any limit, every model has a price. */
  readonly budget: { readonly sessionUsd: number; readonly dayUsd: number };
  readonly hasPrice: boolean;
  /** How many agents are kept between turns. */
  readonly agentsMax: number;
  /** From how many tokens on prompts are shortened; null: never. */
  readonly compressAt: number | null;
}

export function planScenario(seed: number): Scenario {
  const dice = new Dice(seed, 0);
  const weather = dice.weighted({ calm: 3, poison: 1, crashes: 8, failures: 3, stalls: 3, storm: 6 });
  const hasCrashes = weather === 'crashes' || weather === 'storm';
  const hasFailures = weather === 'failures' || weather === 'storm';
  const hasStalls = weather === 'stalls' || weather === 'storm';
  const spanMs = dice.pick([1_000, 20_000, 120_000]);
  const chats = Array.from({ length: dice.between(1, 4) }, (_, index) => `chat${index}`);
  return {
    seed,
    weather,
    busyMode: dice.pick(['steer', 'queue', 'interrupt']),
    messages: planMessages(dice, chats, spanMs),
    stops: dice.chance(weather === 'calm' ? 0.8 : 0.3)
      ? times(dice, dice.between(1, 3), spanMs * 2).map((atMs) => ({ atMs, chat: dice.pick(chats) }))
      : [],
    killsAtMs: hasCrashes ? times(dice, dice.between(0, 3), spanMs * 2) : [],
    restartsAtMs: weather !== 'poison' && dice.chance(0.25) ? times(dice, dice.between(1, 2), spanMs * 2) : [],
    // Who took the process down can be told only of turns that don't take long.
    writeDelayMaxMs: weather === 'poison' ? 5 : dice.pick([0, 0, 5, 200, 20_000]),
    toolMsMax: weather === 'poison' ? 200 : 40_000,
    crashesMax: hasCrashes ? dice.between(1, 7) : 0,
    failuresMax: hasFailures ? dice.between(1, 8) : 0,
    stallsMax: hasStalls ? dice.between(1, 2) : 0,
    faultChance: dice.pick([0.01, 0.04, 0.15]),
    poisonChance: weather === 'poison' ? 0.5 : hasCrashes && dice.chance(0.15) ? 0.15 : 0,
    looksAfterParked: dice.chance(0.3),
    models: planModels(dice),
  };
}

function planModels(dice: Dice): ModelPlan {
  const sessionUsd = dice.chance(0.15) ? dice.between(5, 40) / 100 : 0;
  const dayUsd = dice.chance(0.15) ? dice.between(5, 80) / 100 : 0;
  return {
    hasFallback: dice.chance(0.5),
    namesSessions: dice.chance(0.4),
    budget: { sessionUsd, dayUsd },
    hasPrice: sessionUsd + dayUsd > 0 || dice.chance(0.5),
    agentsMax: dice.pick([1, 2, 100]),
    compressAt: dice.pick([null, 100, 400, 1_500]),
  };
}

function planMessages(dice: Dice, chats: readonly string[], spanMs: number): PlannedMessage[] {
  const messages: PlannedMessage[] = [];
  for (const chat of chats) {
    const channel = dice.pick(['web', 'cli'] as const);
    const isBurst = dice.chance(0.2);
    const start = dice.between(0, spanMs);
    const count = isBurst && dice.chance(0.1) ? 40 : dice.between(1, 4);
    for (let index = 0; index < count; index++) {
      messages.push({
        atMs: isBurst ? start : dice.between(0, spanMs),
        chat,
        channel,
        externalId: `${chat}/${index}`,
        text: `message ${index} of ${chat}`,
        repeats: dice.chance(0.2) ? dice.between(1, 3) : 0,
      });
    }
  }
  return messages.sort((a, b) => a.atMs - b.atMs);
}

function times(dice: Dice, count: number, spanMs: number): number[] {
  return Array.from({ length: count }, () => dice.between(0, spanMs));
}
