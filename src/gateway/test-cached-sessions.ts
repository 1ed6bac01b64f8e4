/**
 * Sessions on a real store whose agents come from the real cache, for tests: turns are run as the gateway runs them, and
 * requests become the bytes of a real protocol. Only the model's answers are what a test writes down.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { runSession, type RunEnd } from '../agent/run-session.ts';
import { RuntimeChain } from '../agent/runtime-chain.ts';
import { RuntimeClients } from '../agent/runtime-clients.ts';
import type { Agent, TurnSettings } from '../agent/turn-deps.ts';
import { FakeClock } from '../lib/fake-clock.ts';
import { countingIdSource } from '../lib/ids.ts';
import { silentLog } from '../lib/log.ts';
import { seededRandom } from '../lib/random.ts';
import type { Model, ModelRequest, Runtime } from '../models/model.ts';
import { anthropicMessages } from '../models/protocols/anthropic-messages/anthropic-messages.ts';
import { chatCompletions } from '../models/protocols/chat-completions/chat-completions.ts';
import type { Protocol } from '../models/protocols/protocol.ts';
import { responses } from '../models/protocols/responses/responses.ts';
import {
  createScriptedModel,
  scriptedRuntime,
  type ScriptedEvents,
  type ScriptedModel,
} from '../models/scripted-model.ts';
import type { SessionEvent } from '../protocol/events.ts';
import type { SessionId } from '../protocol/ids.ts';
import type { Effort } from '../protocol/usage.ts';
import { openSqliteStore } from '../store/sqlite/sqlite-store.ts';
import type { Store } from '../store/store.ts';
import type { Tool } from '../tools/tool.ts';
import { AgentCache } from './agent-cache.ts';

const owner = countingIdSource().next('nod');

const protocols: Readonly<Record<Exclude<Runtime['apiMode'], 'offline'>, Protocol>> = {
  chat_completions: chatCompletions,
  responses,
  anthropic_messages: anthropicMessages,
};

export interface CachedSessionsOptions {
  readonly runtimes?: readonly [Runtime, ...Runtime[]];
  readonly tools?: readonly Tool[];
  readonly workspace?: string;
  readonly spoolRoot?: string;
}

export interface TurnOptions {
  readonly effort?: Effort | null;
  readonly publish?: (event: SessionEvent) => void;
}

export class CachedSessions {
  readonly clock: FakeClock;
  readonly ids = countingIdSource();
  readonly limits = { cap: 128, idleTtlMs: 3_600_000 };
  readonly cache: AgentCache;
  readonly store: Store;
  /** Every client that was opened, in order. */
  readonly models: ScriptedModel[] = [];
  /** What was sent: the bytes, and what they were made of. */
  readonly bodies: string[] = [];
  readonly requests: ModelRequest[] = [];
  /** How often the start of a prompt was built. */
  heads = 0;
  /** What models answer from now on, whichever client is asked. */
  script: ScriptedEvents[] = [];
  /** What agents that are built from now on have. */
  tools: readonly Tool[];
  toolsets: readonly string[] = ['core'];
  readonly #options: CachedSessionsOptions;
  readonly #random = seededRandom(1);

  private constructor(store: Store, clock: FakeClock, options: CachedSessionsOptions) {
    this.store = store;
    this.clock = clock;
    this.#options = options;
    this.tools = options.tools ?? [];
    const { limits } = this;
    const [cap, idleTtlMs] = [() => limits.cap, () => limits.idleTtlMs];
    this.cache = new AgentCache({ cap, idleTtlMs, isMemoryShort: () => false, clock, log: silentLog });
  }

  static async open(options: CachedSessionsOptions = {}): Promise<CachedSessions> {
    const clock = new FakeClock();
    const store = await openSqliteStore({ path: ':memory:', clock, log: silentLog, owner, writer: 'inline' });
    return new CachedSessions(store, clock, options);
  }

  newSession(): SessionId {
    return this.ids.next('ses');
  }

  async hears(sessionId: SessionId, text: string): Promise<void> {
    const inboxId = this.ids.next('inb');
    const key = `cli:direct:${sessionId}`;
    await this.store.admit({
      inboxId,
      channel: 'cli',
      externalId: inboxId,
      sender: 'owner',
      message: { role: 'user', parts: [{ kind: 'text', text }] },
      contents: [],
      target: 'x',
      session: { kind: 'by-key', key, id: sessionId, name: sessionId, owner: 'owner' },
      title: text,
      waitingMax: 9,
    });
  }

  /** Runs the session until it rests, with the agent that the cache has for each turn; those agents, in order. */
  async run(sessionId: SessionId, { effort = null, publish = () => {} }: TurnOptions = {}): Promise<Agent[]> {
    const { store, clock, ids } = this;
    const lease = await store.acquireLease(sessionId, owner, 30_000);
    assert.ok(lease);
    const deps = { store, clock, ids, random: this.#random, log: silentLog, publish };
    const never = new AbortController().signal;
    const agents: Agent[] = [];
    for (let end: RunEnd = { kind: 'more' }; end.kind === 'more';) {
      const { agent, giveBack } = await this.cache.borrow(sessionId, 'always the same', () => this.#build());
      agents.push(agent);
      const settings: TurnSettings = {
        limits: { modelCallsMax: 10, crashesMax: 3, joinWaiting: false, namesSessions: false },
        effort,
        cachePace: 'short',
        modelRetriesMax: 0,
        troubleMaxMs: 900_000,
        budget: { sessionUsd: 0, dayUsd: 0 },
      };
      end = await runSession(deps, { agent, settings }, lease, { leaving: never, nextAction: () => never });
      giveBack();
    }
    await store.releaseLease(lease);
    return agents;
  }

  async close(): Promise<void> {
    this.cache.close();
    await this.store.close();
  }

  #build(): Agent {
    const { runtimes = [scriptedRuntime()], workspace = '/nowhere', spoolRoot = '/nowhere' } = this.#options;
    const clients = new RuntimeClients(async (runtime) => this.#open(runtime));
    const { tools } = this;
    const headTools = { tools: tools.map((tool) => tool.definition), toolsets: this.toolsets };
    return {
      chain: new RuntimeChain(runtimes, clients),
      clients,
      titler: null,
      judge: null,
      tools: { get: (name) => tools.find((tool) => tool.definition.name === name) },
      workspace,
      spoolFolder: (sessionId) => join(spoolRoot, sessionId),
      keepResult: (_sessionId, callId) => Promise.resolve(`/kept/${callId}`),
      headTools,
      // Another time it would be another one: only a frozen head stays the same.
      buildHead: async () => ({
        systemPrompt: `Prompt number ${++this.heads}.`,
        ...headTools,
      }),
    };
  }

  #open(runtime: Runtime): Model {
    assert.ok(runtime.apiMode !== 'offline');
    const protocol = protocols[runtime.apiMode];
    const next = () => this.script.shift() ?? [];
    const scripted = createScriptedModel({ responses: Array.from({ length: 100 }, () => next) });
    this.models.push(scripted);
    return {
      prepare: (request) => ({ request, ...protocol.encode(runtime, request) }),
      stream: (prepared, key, signal) => {
        this.bodies.push(prepared.body);
        this.requests.push(prepared.request);
        return scripted.stream(prepared, key, signal);
      },
      close: scripted.close,
    };
  }
}
