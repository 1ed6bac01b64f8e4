/**
 * One life of the gateway: the real parts on the simulation's clock, store, model, tools and platform. When it dies,
 * nothing of it ever runs on: its timers don't fire, its store never answers, its tools and channels do nothing.
 */
import { RuntimeChain } from '../../src/agent/runtime-chain.ts';
import { RuntimeClients } from '../../src/agent/runtime-clients.ts';
import type { Agent, TurnSettings } from '../../src/agent/turn-deps.ts';
import { AgentCache } from '../../src/gateway/agent-cache.ts';
import { createOutbox } from '../../src/gateway/delivery/outbox.ts';
import { createIdentify } from '../../src/gateway/identity.ts';
import { createIntake } from '../../src/gateway/intake.ts';
import { createLiveHub } from '../../src/gateway/live-hub.ts';
import type { LocalAdmin } from '../../src/gateway/local-admin.ts';
import { createLocalApi } from '../../src/gateway/local-api.ts';
import { createSessionDrain, type BorrowedAgent } from '../../src/gateway/session-drain.ts';
import type { Clock } from '../../src/lib/clock.ts';
import { silentLog, type Log } from '../../src/lib/log.ts';
import type { SessionId } from '../../src/protocol/ids.ts';
import { StoreError, type Store } from '../../src/store/store.ts';
import type { ToolContext } from '../../src/tools/tool.ts';
import { faultyGate } from './faulty-gate.ts';
import type { ToolRun } from './ledger.ts';
import { openMemoryStore } from './memory-store.ts';
import { scriptedModels } from './scripted-model.ts';
import { scriptedRuntimes } from './scripted-runtimes.ts';
import { scriptedTools } from './scripted-tools.ts';
import type { ActiveRun, Life, World } from './world.ts';

const modelCallsMax = 6;
const crashesMax = 3;
const troubleMaxMs = 900_000;
const graceMs = 20_000;
/** Shorter than people pause, so that agents are swept between their messages. */
const agentIdleTtlMs = 30_000;
/** How long whoever stops a program waits before it is killed. */
const killAfterMs = 90_000;

const refuse = () => Promise.reject(new Error('not simulated'));
const notSimulated: LocalAdmin = {
  people: refuse,
  approve: refuse,
  revoke: refuse,
  sendTo: refuse,
  apiKeys: refuse,
  addApiKey: refuse,
  removeApiKey: refuse,
  tools: refuse,
  grants: refuse,
  revokeGrant: refuse,
};

export class SimulatedProcess implements Life {
  readonly world: World;
  readonly number: number;
  readonly owner;
  readonly clock: Clock;
  readonly store: Store;
  readonly hub = createLiveHub();
  readonly drain;
  readonly intake;
  readonly outbox;
  readonly api;
  readonly #agents: AgentCache;
  /** A stalled process does nothing before this time; 0 if it never stalled. */
  stalledUntil = 0;
  readonly #ended: (process: SimulatedProcess, how: string) => void;
  #isAlive = true;
  #isLeaving = false;
  readonly #activeRuns = new Set<ActiveRun>();

  constructor(world: World, number: number, ended: (process: SimulatedProcess, how: string) => void) {
    this.#ended = ended;
    this.world = world;
    this.number = number;
    this.owner = world.ids.next('nod');
    this.clock = {
      now: () => world.clock.now(),
      setTimer: (delayMs, callback) => world.clock.setTimer(delayMs, () => this.runAlive(callback)),
    };
    const plain = openMemoryStore({ data: world.data, clock: this.clock, ...faultyGate(this) });
    const store = world.wrapStore(plain, world);
    this.store = store;
    const { clock, owner, hub } = this;
    const { ids } = world;
    const log = this.#log();
    this.#agents = new AgentCache({
      cap: () => world.scenario.models.agentsMax,
      idleTtlMs: () => agentIdleTtlMs,
      isMemoryShort: () => false,
      clock,
      log,
    });
    const random = world.modelDice.source;
    this.outbox = createOutbox({ store, owner, clock, log, channels: world.platform.channelsFor(this) });
    this.drain = createSessionDrain({
      store,
      owner,
      hub,
      clock,
      ids,
      random,
      log,
      agentFor: (sessionId) => this.#borrow(sessionId),
      onRan: () => this.outbox.poke(),
    });
    this.intake = createIntake({
      store,
      ids,
      identify: createIdentify({ authorize: async () => 'owner', groupsAreShared: () => false }),
      pairing: null,
      commands: null,
      busyMode: () => world.scenario.busyMode,
      wake: this.drain.wake,
      interrupt: this.drain.stop,
    });
    this.api = createLocalApi({
      store,
      intake: this.intake,
      drain: this.drain,
      hub,
      ids,
      status: refuse,
      quote: refuse,
      prompt: refuse,
      backup: async function* () {},
      frontEnds: { cli: noFrontEnd, web: noFrontEnd },
      admin: notSimulated,
    });
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  /** Stalled once: another process has its place. */
  get isReplaced(): boolean {
    return this.stalledUntil > 0;
  }

  get isLeaving(): boolean {
    return this.#isLeaving;
  }

  async start(): Promise<void> {
    await this.drain.recover();
    this.outbox.poke();
  }

  /** SIGTERM. */
  async leave(): Promise<void> {
    if (this.#isLeaving || !this.#isAlive) return;
    this.#isLeaving = true;
    this.clock.setTimer(killAfterMs, () => this.die('took too long to leave'));
    this.intake.close();
    await this.drain.leave(graceMs);
    this.#agents.close();
    await this.outbox.close();
    this.hub.close();
    if (!this.#isAlive) return;
    this.#isAlive = false;
    this.#ended(this, 'left');
  }

  /** kill -9. */
  die(reason: string): void {
    if (!this.#isAlive) return;
    this.#isAlive = false;
    this.#ended(this, reason);
  }

  /** Now, after the stall, or never. */
  runAlive(action: () => void): void {
    if (!this.#isAlive) return;
    const waitMs = this.stalledUntil - this.world.clock.now();
    if (waitMs > 0) this.world.clock.setTimer(waitMs, () => this.runAlive(action));
    else action();
  }

  beginRun(tool: string, way: ToolRun['way'], context: ToolContext, besideOthers: boolean): ToolRun {
    const { sessionId, callId } = context;
    const run = { tool, way, sessionId, callId, processNumber: this.number, hadEffect: false, outcome: null };
    this.world.observer.toolBegins(this, run, besideOthers, [...this.#activeRuns]);
    this.world.ledger.runs.push(run);
    this.#activeRuns.add(Object.assign(run, { besideOthers }));
    return run;
  }

  endRun(run: ToolRun): void {
    this.#activeRuns.delete(run);
  }

  async #borrow(sessionId: SessionId): Promise<BorrowedAgent> {
    const { busyMode, models } = this.world.scenario;
    const borrowed = await this.#agents.borrow(sessionId, 'always the same', () => this.#build(sessionId));
    const settings: TurnSettings = {
      limits: { modelCallsMax, crashesMax, joinWaiting: busyMode === 'steer', namesSessions: models.namesSessions },
      effort: null,
      cachePace: 'short',
      modelRetriesMax: 2,
      troubleMaxMs,
      budget: models.budget,
    };
    return { ...borrowed, settings };
  }

  #build(sessionId: SessionId): Agent {
    const tools = scriptedTools(this);
    const clients = new RuntimeClients(scriptedModels(this, sessionId));
    const { chain, titler } = scriptedRuntimes(this.world.scenario.models);
    return {
      chain: new RuntimeChain(chain, clients),
      clients,
      titler,
      judge: null,
      tools,
      workspace: '/workspace',
      spoolFolder: () => '/spool',
      keepResult: (_sessionId, callId) => Promise.resolve(`/spool/${callId}`),
      headTools: { tools: [...tools.values()].map((tool) => tool.definition) },
      // Another process would build another one: only a frozen head stays the same.
      buildHead: () =>
        Promise.resolve({
          systemPrompt: `The prompt as process ${this.number} builds it.`,
          tools: [...tools.values()].map((tool) => tool.definition),
        }),
    };
  }

  #log(): Log {
    if (!this.world.isTracing) return silentLog;
    const line = (message: string, fields: unknown = {}) => {
      const error = (fields as { error?: unknown }).error;
      this.world.trace(
        `p${this.number} log: ${message}${error instanceof StoreError ? ` (${error.message})` : error instanceof Error ? ` (${error.stack})` : ''}`,
      );
    };
    const log: Log = { debug: line, info: line, warn: line, error: line, with: () => log };
    return log;
  }
}

/** People of the simulation send messages only. */
const noFrontEnd = {
  say: () => Promise.reject(new Error('no part of the simulation')),
  press: () => Promise.reject(new Error('no part of the simulation')),
};
