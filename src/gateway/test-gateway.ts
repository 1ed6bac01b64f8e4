/** A whole gateway for tests: real store in memory, real drain, intake, outbox and API; only the model is the test's. */
import { RuntimeChain } from '../agent/runtime-chain.ts';
import { RuntimeClients } from '../agent/runtime-clients.ts';
import type { Agent, TurnSettings } from '../agent/turn-deps.ts';
import type { Channel, Delivery, DeliveryOutcome, InboundMessage } from '../channels/channel.ts';
import { FakeClock } from '../lib/fake-clock.ts';
import { countingIdSource } from '../lib/ids.ts';
import { silentLog } from '../lib/log.ts';
import { seededRandom } from '../lib/random.ts';
import type { ModelEvent, ModelRequest } from '../models/model.ts';
import { plainUnits } from '../models/plain-units.ts';
import { scriptedRuntime } from '../models/scripted-model.ts';
import type { StatusReport, TalariaApi } from '../protocol/api.ts';
import type { NodeId, SessionId } from '../protocol/ids.ts';
import { textOf, type ToolDefinition } from '../protocol/messages.ts';
import { openSqliteStore } from '../store/sqlite/sqlite-store.ts';
import type { Store } from '../store/store.ts';
import type { Tool } from '../tools/tool.ts';
import { createAnswerPress, type Press } from './answer-press.ts';
import { createAuthorize, ownerChannels, type ChannelPolicy } from './authorize.ts';
import type { BusyMode } from './commands/command.ts';
import { createCommands } from './commands/commands.ts';
import type { CommandServices } from './commands/services.ts';
import { createOutbox } from './delivery/outbox.ts';
import { createIdentify } from './identity.ts';
import { createIntake } from './intake.ts';
import { createLiveHub } from './live-hub.ts';
import { createLocalAdmin } from './local-admin.ts';
import { createLocalApi } from './local-api.ts';
import { createPairing, type Pairing } from './pairing.ts';
import { createSessionDrain } from './session-drain.ts';

const usage = { inputTokens: 1, cachedTokens: 0, cacheWriteTokens: 0, outputTokens: 1, reasoningTokens: 0 };

/** How a model's stream ends after an answer, or after asking for tools. */
export const ends = (stop: 'answer' | 'tool-calls'): ModelEvent => ({ kind: 'end', stop, usage, usd: 0 });

export type Answer = (request: ModelRequest, signal: AbortSignal) => AsyncIterable<ModelEvent>;

/** Says the last thing the user said. */
export const echo: Answer = async function* (request) {
  const last = request.messages.findLast((message) => message.role === 'user');
  yield { kind: 'text-delta', text: last === undefined ? '' : textOf(last) };
  yield ends('answer');
};

export interface TestGateway {
  readonly api: TalariaApi;
  readonly store: Store;
  readonly clock: FakeClock;
  readonly drain: ReturnType<typeof createSessionDrain>;
  readonly intake: ReturnType<typeof createIntake>;
  readonly pairing: Pairing;
  readonly press: Press;
  /** Sessions whose tools were torn down, in order. */
  readonly hardClosed: SessionId[];
  readonly deliveries: Delivery[];
  /** Changes how the channel answers from now on. */
  deliverWith(outcome: () => DeliveryOutcome): void;
  close(): Promise<void>;
}

export async function openTestGateway(options: {
  answer: Answer;
  wrapStore?: (store: Store) => Store;
  joinWaiting?: boolean;
  tool?: Tool;
  onDeleted?: (sessionId: SessionId) => Promise<void>;
  /** Of the platform `chat`: who may write there. By default only user 7, who is its owner. */
  policy?: ChannelPolicy;
  groupsAreShared?: boolean;
  requiresMention?: boolean;
  busyMode?: BusyMode;
  tools?: readonly ToolDefinition[];
  services?: Partial<CommandServices>;
}): Promise<TestGateway> {
  const clock = new FakeClock();
  const ids = countingIdSource();
  const owner = ids.next('nod');
  const opened = await openSqliteStore({ path: ':memory:', clock, log: silentLog, owner, writer: 'inline' });
  const store = options.wrapStore?.(opened) ?? opened;
  const hub = createLiveHub();
  const deliveries: Delivery[] = [];
  let outcome: () => DeliveryOutcome = () => ({ kind: 'sent', platformId: 'p' });
  const channel = (name: string): Channel => ({
    name,
    limits: { textCharsMax: null, dedupes: false },
    start: () => Promise.resolve(),
    stop: () => Promise.resolve(),
    deliver: (delivery) => (deliveries.push(delivery), Promise.resolve(outcome())),
  });
  const channels = new Map(['cli', 'chat'].map((name) => [name, channel(name)]));
  const log = silentLog;
  const outbox = createOutbox({ store, owner, clock, log, channels });
  const clients = new RuntimeClients(async () => ({
    prepare: (request) => ({ request, units: plainUnits(request), body: '' }),
    stream: ({ request }, _key, signal) => options.answer(request, signal),
    close() {},
  }));
  const agent: Agent = {
    chain: new RuntimeChain([scriptedRuntime()], clients),
    clients,
    titler: null,
    judge: null,
    tools: { get: (name) => (options.tool?.definition.name === name ? options.tool : undefined) },
    workspace: '/nowhere',
    spoolFolder: () => '/nowhere',
    keepResult: (_sessionId, callId) => Promise.resolve(`/kept/${callId}`),
    headTools: { tools: options.tools ?? [] },
    buildHead: async () => ({ systemPrompt: 'S', tools: options.tools ?? [] }),
  };
  const settings: TurnSettings = {
    limits: { modelCallsMax: 10, crashesMax: 3, joinWaiting: options.joinWaiting ?? true, namesSessions: false },
    effort: null,
    cachePace: 'short',
    modelRetriesMax: 0,
    troubleMaxMs: 900_000,
    budget: { sessionUsd: 0, dayUsd: 0 },
  };
  const agentFor = () => Promise.resolve({ agent, settings, giveBack() {} });
  const random = seededRandom(1);
  const drain = createSessionDrain({ store, owner, hub, agentFor, clock, ids, random, log, onRan: outbox.poke });
  const policy = options.policy ?? { allowedUsers: ['7'], owners: [] };
  const authorize = createAuthorize({
    trusted: ownerChannels,
    policy: (name) => (name === 'chat' ? policy : null),
    people: store.read.people,
  });
  const identify = createIdentify({ authorize, groupsAreShared: () => options.groupsAreShared ?? false });
  const hasConfiguredOwners = () => policy.owners.length > 0;
  const pairing = createPairing({ store, clock, ids, random, hasConfiguredOwners, poke: outbox.poke });
  const status = () => Promise.reject<StatusReport>(new Error('not part of this test'));
  const quote: CommandServices['quote'] = async (_session, wanted) => ({
    settings: wanted,
    model: 'test/test',
    uncachedTokens: 0,
    usd: 0,
  });
  const hardClosed: SessionId[] = [];
  const services: CommandServices = {
    store,
    clock,
    ids,
    log,
    holder: `${owner.slice(0, -1)}z` as NodeId,
    drain,
    status,
    quote,
    hardClose: (sessionId) => Promise.resolve(void hardClosed.push(sessionId)),
    memory: () => Promise.resolve(''),
    userCommands: () => null,
    ...options.services,
  };
  const answering = {
    commands: createCommands(services),
    wasAnswered: store.read.wasAnswered,
    poke: outbox.poke,
  };
  const intake = createIntake({
    store,
    ids,
    identify,
    pairing,
    commands: answering,
    requiresMention: () => options.requiresMention ?? true,
    busyMode: () => options.busyMode ?? (options.joinWaiting === false ? 'queue' : 'steer'),
    wake: drain.wake,
    interrupt: drain.stop,
  });
  const approving = options.services?.mayApprove === undefined ? {} : { mayApprove: options.services.mayApprove };
  const press = createAnswerPress({ ...answering, store, ids, identify, clock, wake: drain.wake, ...approving });
  const api = createLocalApi({
    store,
    intake,
    drain,
    hub,
    ids,
    status,
    quote,
    prompt: () => Promise.reject(new Error('no agent here is built from files')),
    frontEnds: { cli: noFrontEnd, web: noFrontEnd },
    admin: createLocalAdmin({
      store,
      clock,
      ids,
      random,
      pairing,
      channels: () => [...channels.keys()],
      hashKey: (key) => `hash of ${key.length}`,
      poke: outbox.poke,
    }),
    backup: async function* () {},
    ...(options.onDeleted === undefined ? {} : { onDeleted: options.onDeleted }),
  });
  return {
    api,
    store,
    clock,
    drain,
    intake,
    pairing,
    press,
    hardClosed,
    deliveries,
    deliverWith: (next) => void (outcome = next),
    async close() {
      await drain.leave(0);
      await outbox.close();
      hub.close();
      await store.close();
    },
  };
}

/** Front ends are tested where they are. */
const noFrontEnd = {
  say: () => Promise.reject(new Error('not part of this test')),
  press: () => Promise.reject(new Error('not part of this test')),
};

let written = 0;

/** Something that user 7 writes on the platform `chat`, in a direct chat. */
export function chatMessage(text: string, change: Partial<InboundMessage> = {}): InboundMessage {
  written += 1;
  return {
    channel: 'chat',
    externalId: `m${written}`,
    sender: { id: '7', name: 'Ada' },
    place: { kind: 'direct', chat: '7' },
    message: { role: 'user', parts: [{ kind: 'text', text }] },
    ...change,
  };
}
