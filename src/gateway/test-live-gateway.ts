/** For tests: store, drain, outbox, live display and watchdog as the program has them; model and platform are the test's. */
import { RuntimeChain } from '../agent/runtime-chain.ts';
import { RuntimeClients } from '../agent/runtime-clients.ts';
import type { Agent, TurnSettings } from '../agent/turn-deps.ts';
import { sleep, type Clock } from '../lib/clock.ts';
import { FakeClock } from '../lib/fake-clock.ts';
import { countingIdSource, type IdSource } from '../lib/ids.ts';
import { silentLog } from '../lib/log.ts';
import { seededRandom } from '../lib/random.ts';
import { ModelError, type ModelEvent } from '../models/model.ts';
import { plainUnits } from '../models/plain-units.ts';
import { scriptedRuntime } from '../models/scripted-model.ts';
import type { SessionId } from '../protocol/ids.ts';
import { openSqliteStore } from '../store/sqlite/sqlite-store.ts';
import type { Store } from '../store/store.ts';
import type { Tool } from '../tools/tool.ts';
import { createOutbox, type Outbox } from './delivery/outbox.ts';
import { createLiveHub, type LiveHub } from './live-hub.ts';
import { LiveDelivery } from './live-delivery.ts';
import { ScriptedPlatform } from './fake-live-platform.ts';
import { createSessionDrain, type SessionDrain } from './session-drain.ts';
import { Watchdog, type InactivityLimits } from './watchdog.ts';

export type Model = (signal: AbortSignal) => AsyncIterable<ModelEvent>;

export interface LiveGateway {
  readonly clock: FakeClock;
  readonly ids: IdSource;
  readonly store: Store;
  readonly platform: ScriptedPlatform;
  readonly drain: SessionDrain;
  readonly outbox: Outbox;
  readonly hub: LiveHub;
  readonly live: LiveDelivery;
  readonly watchdog: Watchdog;
  /** Of a person in a chat; each chat is a session. */
  say(text: string, chat?: string, target?: string): Promise<SessionId>;
  /** Everything but the store ends. */
  leave(): Promise<void>;
  close(): Promise<void>;
}

export interface LiveGatewayOptions {
  /** What the model does, call by call. */
  readonly models: Model[];
  readonly tool?: Tool;
  readonly limits?: InactivityLimits;
  readonly joinWaiting?: boolean;
  /** Of a process before this one. */
  readonly after?: LiveGateway;
}

const usage = { inputTokens: 1, cachedTokens: 0, cacheWriteTokens: 0, outputTokens: 1, reasoningTokens: 0 };

/** How a model's stream ends after an answer, or after asking for tools. */
export const ends = (stop: 'answer' | 'tool-calls'): ModelEvent => ({ kind: 'end', stop, usage, usd: 0 });

/** Says nothing until it is cut off. */
export async function* hangs(signal: AbortSignal): AsyncGenerator<ModelEvent> {
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  yield { kind: 'failed', error: new ModelError('cancelled', 'cut off') };
}

/** Says the pieces, and after each nothing for so long. The clock is asked for late: it is the gateway's. */
export const says = (clock: () => Clock, everyMs: number, ...pieces: string[]): Model =>
  async function* (signal) {
    try {
      for (const text of pieces) {
        yield { kind: 'text-delta', text };
        await sleep(clock(), everyMs, signal);
      }
      yield ends('answer');
    } catch {
      yield { kind: 'failed', error: new ModelError('cancelled', 'cut off') };
    }
  };

export const uses = (name: string, written: string, before = ''): Model =>
  async function* () {
    if (before !== '') yield { kind: 'text-delta', text: before };
    yield { kind: 'tool-call', providerCallId: 'p', name, arguments: written };
    yield ends('tool-calls');
  };

/** A tool named `terminal`. */
export const toolThat = (run: Tool['run'], answered?: Tool['answered']): Tool => ({
  definition: { name: 'terminal', description: '', parameters: {} },
  effect: 'write',
  replay: 'safe',
  parse: (value) => ({ ok: true, value }),
  run,
  ...(answered === undefined ? {} : { answered }),
});

export async function openLiveGateway(options: LiveGatewayOptions): Promise<LiveGateway> {
  const { after } = options;
  const clock = after?.clock ?? new FakeClock();
  const ids = after?.ids ?? countingIdSource();
  const owner = ids.next('nod');
  const log = silentLog;
  const store = after?.store ?? (await openSqliteStore({ path: ':memory:', clock, log, owner, writer: 'inline' }));
  const platform = after?.platform ?? new ScriptedPlatform(clock);
  const channels = new Map([['tele', platform.channel]]);
  const hub = createLiveHub();
  const live = new LiveDelivery({ store, clock, log, channels });
  const outbox = createOutbox({ store, owner, clock, log, channels, drafts: live });
  const limits = options.limits ?? { warningMs: 0, timeoutMs: 0 };
  const watchdog: Watchdog = new Watchdog({
    store,
    clock,
    ids,
    log,
    hub,
    limits: () => limits,
    stopBecause: (...args) => drain.stopBecause(...args),
    onQueued: outbox.poke,
  });
  const { agent, settings } = agentOf(options);
  const agentFor = () => Promise.resolve({ agent, settings, giveBack() {} });
  const random = seededRandom(1);
  const watchers = [live, watchdog];
  const drain: SessionDrain = createSessionDrain({
    store,
    owner,
    hub,
    agentFor,
    clock,
    ids,
    random,
    log,
    onRan: outbox.poke,
    watchers,
  });
  const leave = async () => {
    const left = drain.leave(0);
    await clock.advance(0);
    await left;
    await live.close();
    watchdog.close();
    await outbox.close();
    hub.close();
  };
  return {
    clock,
    ids,
    store,
    platform,
    drain,
    outbox,
    hub,
    live,
    watchdog,
    leave,
    async say(text, chat = 'chat', target = chat) {
      const result = await store.admit({
        inboxId: ids.next('inb'),
        channel: 'tele',
        externalId: ids.next('inb'),
        sender: '7',
        message: { role: 'user', parts: [{ kind: 'text', text }] },
        contents: [],
        target,
        session: { kind: 'by-key', key: `tele:direct:${chat}`, id: ids.next('ses'), name: chat, owner: 'tele:7' },
        title: text,
        waitingMax: 100,
      });
      if (result.kind === 'refused') throw new Error(result.reason);
      drain.wake(result.session.id);
      return result.session.id;
    },
    async close() {
      await leave();
      await store.close();
    },
  };
}

function agentOf({ models, tool, joinWaiting = true }: LiveGatewayOptions): { agent: Agent; settings: TurnSettings } {
  const clients = new RuntimeClients(async () => ({
    prepare: (request) => ({ request, units: plainUnits(request), body: '' }),
    stream: (_prepared, _key, signal) => (models.shift() ?? hangs)(signal),
    close() {},
  }));
  const agent: Agent = {
    chain: new RuntimeChain([scriptedRuntime()], clients),
    clients,
    titler: null,
    judge: null,
    tools: { get: (name) => (tool?.definition.name === name ? tool : undefined) },
    workspace: '/nowhere',
    spoolFolder: () => '/nowhere',
    keepResult: (_sessionId, callId) => Promise.resolve(`/kept/${callId}`),
    headTools: { tools: [] },
    buildHead: async () => ({ systemPrompt: 'S', tools: [] }),
  };
  const settings: TurnSettings = {
    limits: { modelCallsMax: 10, crashesMax: 3, joinWaiting, namesSessions: false },
    effort: null,
    cachePace: 'short',
    modelRetriesMax: 1,
    troubleMaxMs: 900_000,
    budget: { sessionUsd: 0, dayUsd: 0 },
  };
  return { agent, settings };
}
