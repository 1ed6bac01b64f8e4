/** What the parts of a simulation know of each other: the world as each life of the gateway sees it, and such a life. */
import type { Channel } from '../../src/channels/channel.ts';
import type { createIntake } from '../../src/gateway/intake.ts';
import type { createSessionDrain } from '../../src/gateway/session-drain.ts';
import type { Clock } from '../../src/lib/clock.ts';
import type { IdSource } from '../../src/lib/ids.ts';
import type { ModelRequest } from '../../src/models/model.ts';
import type { TalariaApi } from '../../src/protocol/api.ts';
import type { CallId, InboxId, NodeId, SessionId } from '../../src/protocol/ids.ts';
import type { Store } from '../../src/store/store.ts';
import type { ToolContext } from '../../src/tools/tool.ts';
import type { Dice } from './dice.ts';
import type { Faults } from './faults.ts';
import type { Ledger, ToolRun } from './ledger.ts';
import type { MemoryData } from './memory-data.ts';
import type { PlannedMessage, Scenario } from './scenario.ts';
import type { VirtualClock } from './virtual-clock.ts';

/** One process that runs the gateway, from its start to its end. */
export interface Life {
  readonly world: World;
  readonly number: number;
  readonly owner: NodeId;
  readonly clock: Clock;
  readonly store: Store;
  readonly api: TalariaApi;
  readonly intake: ReturnType<typeof createIntake>;
  readonly drain: ReturnType<typeof createSessionDrain>;
  readonly isAlive: boolean;
  /** It stalled once, and another process has its place. */
  readonly isReplaced: boolean;
  readonly isLeaving: boolean;
  /** A stalled process does nothing before this time; 0 if it never stalled. */
  stalledUntil: number;
  die(reason: string): void;
  /** Now, after the stall, or never. */
  runAlive(action: () => void): void;
  beginRun(tool: string, way: ToolRun['way'], context: ToolContext, besideOthers: boolean): ToolRun;
  endRun(run: ToolRun): void;
}

export type ActiveRun = ToolRun & { besideOthers?: boolean };

/** Who looks on and notes what must never be. */
export interface Watch {
  acknowledged(message: PlannedMessage, inboxId: InboxId): void;
  follow(sessionId: SessionId): void;
  modelAsked(life: Life, sessionId: SessionId, request: ModelRequest): void;
  modelEnded(life: Life, sessionId: SessionId): void;
  toolBegins(life: Life, run: ToolRun, besideOthers: boolean, active: readonly ActiveRun[]): void;
}

export interface World {
  readonly scenario: Scenario;
  readonly isTracing: boolean;
  readonly clock: VirtualClock;
  readonly data: MemoryData;
  readonly ledger: Ledger;
  readonly faults: Faults;
  readonly modelDice: Dice;
  readonly ids: IdSource;
  readonly observer: Watch;
  /** The process that people and platforms reach; null while none runs. */
  readonly process: Life | null;
  /** The session of each chat that has one. */
  readonly platform: {
    readonly sessions: ReadonlyMap<string, SessionId>;
    channelsFor(life: Life): Map<string, Channel>;
  };
  readonly people: { asked(sessionId: SessionId, callId: CallId): void };
  wrapStore(store: Store, world: World): Store;
  trace(line: string): void;
  count(what: string, by?: number): void;
  noteFailure(what: string): void;
  breach(text: string): void;
  nextNumber(): number;
  isPoisoned(sessionId: SessionId): boolean;
  runsInCircles(): boolean;
  whenEnded(life: Life, callback: () => void): void;
  restart(by: string): void;
  stall(life: Life): void;
}

/** Puts something around the store of every process. */
export type WrapStore = World['wrapStore'];
