/** A whole gateway for tests: real store in memory, real drain, intake, outbox and API; only the model is the test's. */
import type { Agent } from '../agent/turn-deps.ts';
import type { Channel, Delivery, DeliveryOutcome } from '../channels/channel.ts';
import { FakeClock } from '../lib/fake-clock.ts';
import { countingIdSource } from '../lib/ids.ts';
import { silentLog } from '../lib/log.ts';
import { seededRandom } from '../lib/random.ts';
import type { ModelEvent, ModelRequest } from '../models/model.ts';
import type { StatusReport, TalariaApi } from '../protocol/api.ts';
import type { SessionId } from '../protocol/ids.ts';
import { textOf } from '../protocol/messages.ts';
import { openSqliteStore } from '../store/sqlite/sqlite-store.ts';
import type { Store } from '../store/store.ts';
import type { Tool } from '../tools/tool.ts';
import { createOutbox } from './delivery/outbox.ts';
import { createIntake } from './intake.ts';
import { createLiveHub } from './live-hub.ts';
import { createLocalApi } from './local-api.ts';
import { createSessionDrain } from './session-drain.ts';

const usage = { inputTokens: 1, cachedTokens: 0, outputTokens: 1, reasoningTokens: 0, usd: 0 };

export type Answer = (request: ModelRequest, signal: AbortSignal) => AsyncIterable<ModelEvent>;

/** Says the last thing the user said. */
export const echo: Answer = async function* (request) {
  const last = request.messages.findLast((message) => message.role === 'user');
  yield { kind: 'text-delta', text: last === undefined ? '' : textOf(last) };
  yield { kind: 'end', stop: 'answer', usage };
};

export interface TestGateway {
  readonly api: TalariaApi;
  readonly store: Store;
  readonly clock: FakeClock;
  readonly drain: ReturnType<typeof createSessionDrain>;
  readonly intake: ReturnType<typeof createIntake>;
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
}): Promise<TestGateway> {
  const clock = new FakeClock();
  const ids = countingIdSource();
  const owner = ids.next('nod');
  const opened = await openSqliteStore({ path: ':memory:', clock, log: silentLog, owner, writer: 'inline' });
  const store = options.wrapStore?.(opened) ?? opened;
  const hub = createLiveHub();
  const deliveries: Delivery[] = [];
  let outcome: () => DeliveryOutcome = () => ({ kind: 'sent', platformId: 'p' });
  const channel: Channel = {
    name: 'cli',
    limits: { textCharsMax: null, dedupes: false },
    start: () => Promise.resolve(),
    stop: () => Promise.resolve(),
    deliver: (delivery) => (deliveries.push(delivery), Promise.resolve(outcome())),
  };
  const log = silentLog;
  const outbox = createOutbox({ store, owner, clock, log, channels: new Map([['cli', channel]]) });
  const agent: Agent = {
    model: { provider: 'test', name: 'test', stream: options.answer },
    tools: { get: (name) => (options.tool?.definition.name === name ? options.tool : undefined) },
    limits: { modelCallsMax: 10, crashesMax: 3, joinWaiting: options.joinWaiting ?? true },
    modelRetriesMax: 0,
    workspace: '/nowhere',
    spoolFolder: () => '/nowhere',
    keepResult: (_sessionId, callId) => Promise.resolve(`/kept/${callId}`),
    buildHead: async () => ({ systemPrompt: 'S', tools: [] }),
  };
  const agentFor = () => Promise.resolve(agent);
  const random = seededRandom(1);
  const drain = createSessionDrain({ store, owner, hub, agentFor, clock, ids, random, log, onRan: outbox.poke });
  const intake = createIntake({ store, ids, wake: drain.wake, beforeJoining: () => Promise.resolve() });
  const api = createLocalApi({
    store,
    intake,
    drain,
    hub,
    ids,
    status: () => Promise.reject<StatusReport>(new Error('not part of this test')),
    backup: async function* () {},
    ...(options.onDeleted === undefined ? {} : { onDeleted: options.onDeleted }),
  });
  return {
    api,
    store,
    clock,
    drain,
    intake,
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
