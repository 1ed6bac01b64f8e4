/** One session on a real store, for tests of the turn loop: the model and the tools are what a test writes down. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { FakeClock } from '../lib/fake-clock.ts';
import { countingIdSource, type IdSource } from '../lib/ids.ts';
import { silentLog } from '../lib/log.ts';
import { seededRandom } from '../lib/random.ts';
import type { Model, ModelEvent, ModelRequest, Runtime } from '../models/model.ts';
import { scriptedRuntime } from '../models/scripted-model.ts';
import type { SessionEvent } from '../protocol/events.ts';
import type { NodeId, SessionId } from '../protocol/ids.ts';
import { textOf, type Entry, type HeadTools, type Question } from '../protocol/messages.ts';
import { openSqliteStore } from '../store/sqlite/sqlite-store.ts';
import type { SessionWrite, Store } from '../store/store.ts';
import type { SideBySide, Tool, ToolContext, ToolEffect, ToolOutcome, ToolReplay } from '../tools/tool.ts';
import { runSession, type RunEnd } from './run-session.ts';
import { RuntimeChain } from './runtime-chain.ts';
import { RuntimeClients } from './runtime-clients.ts';
import type { Agent, TurnSettings } from './turn-deps.ts';

const usage = { inputTokens: 1, cachedTokens: 0, cacheWriteTokens: 0, outputTokens: 1, reasoningTokens: 0 };
const usd = 0;
export const says = (text: string): ModelEvent[] => [
  { kind: 'text-delta', text },
  { kind: 'end', stop: 'answer', usage, usd },
];
export const asksFor = (...calls: [name: string, args: string][]): ModelEvent[] => [
  ...calls.map(([name, args], index): ModelEvent => ({
    kind: 'tool-call',
    providerCallId: `p${index}`,
    name,
    arguments: args,
  })),
  { kind: 'end', stop: 'tool-calls', usage, usd },
];

interface PlannedTool {
  readonly run: (signal: AbortSignal) => Promise<string | ToolOutcome> | string | ToolOutcome;
  readonly attach?: (signal: AbortSignal) => Promise<ToolOutcome>;
  /** What it asks first, and what it makes of the answer. */
  readonly asks?: Question;
  readonly answered?: (answer: string | null) => string;
  readonly replay?: ToolReplay;
  readonly effect?: ToolEffect;
  readonly sideBySide?: SideBySide;
}

/** One session on a real store, with a model and tools that a test writes down. */
export class Stage {
  readonly clock = new FakeClock();
  readonly ids: IdSource = countingIdSource();
  readonly owner: NodeId = this.ids.next('nod');
  readonly requests: string[] = [];
  /** Which model was asked, with which key, in order. */
  readonly asked: string[] = [];
  runtimes: [Runtime, ...Runtime[]] = [scriptedRuntime()];
  settings: TurnSettings = {
    limits: { modelCallsMax: 10, crashesMax: 3, joinWaiting: true, namesSessions: false },
    effort: null,
    cachePace: 'short',
    modelRetriesMax: 2,
    troubleMaxMs: 900_000,
    budget: { sessionUsd: 0, dayUsd: 0 },
  };
  readonly published: SessionEvent[] = [];
  /** For each action: aborts once something has arrived. */
  arrivals: AbortSignal[] = [];
  onQueued: () => void = () => {};
  /** What happened, in order: writes as they were committed, tools as they began to run. */
  readonly history: string[] = [];
  readonly leaving = new AbortController();
  action = new AbortController();
  sessionId: SessionId = this.ids.next('ses');
  store: Store;
  heads = 0;
  script: (ModelEvent[] | ((request: ModelRequest, signal: AbortSignal) => AsyncIterable<ModelEvent>))[] = [];
  tools: Record<string, PlannedTool> = {};
  /** What the next agent that is built says of its tools. */
  headTools: HeadTools = { tools: [] };
  /** Between reading the journal and deciding on it. */
  afterRead: () => Promise<void> = () => Promise.resolve();
  beforeCommit: (writes: readonly SessionWrite[]) => void = () => {};
  afterCommit: (writes: readonly SessionWrite[]) => void = () => {};

  readonly storeClock: FakeClock;

  private constructor(store: Store, storeClock: FakeClock) {
    this.store = store;
    this.storeClock = storeClock;
  }

  static async open(): Promise<Stage> {
    const clock = new FakeClock();
    const owner = countingIdSource().next('nod');
    const store = await openSqliteStore({ path: ':memory:', clock, log: silentLog, owner, writer: 'inline' });
    return new Stage(store, clock);
  }

  async hears(text: string, pictures: readonly string[] = []): Promise<void> {
    const inboxId = this.ids.next('inb');
    const session = { kind: 'by-key', key: 'cli:direct:x', id: this.sessionId, name: 'x', owner: 'owner' } as const;
    const contents = pictures.map((picture) => ({ sha256: hash('sha256', picture), bytes: Buffer.from(picture) }));
    const images = contents.map(({ sha256, bytes }) => ({
      kind: 'image' as const,
      content: { sha256, bytes: bytes.length, mediaType: 'image/png' },
    }));
    const message = { role: 'user', parts: [{ kind: 'text', text }, ...images] } as const;
    await this.store.admit({
      inboxId,
      channel: 'cli',
      externalId: inboxId,
      sender: 'owner',
      message,
      contents,
      target: 'x',
      session,
      title: text,
      waitingMax: 9,
    });
  }

  async run(): Promise<RunEnd['kind']> {
    const lease = await this.store.acquireLease(this.sessionId, this.owner, 30_000);
    assert.ok(lease);
    const store: Store = {
      ...this.store,
      read: {
        ...this.store.read,
        journal: async (id, after) => {
          const slice = await this.store.read.journal(id, after);
          await this.afterRead();
          return slice;
        },
      },
      commit: async (held, writes) => {
        this.beforeCommit(writes);
        await this.store.commit(held, writes);
        this.history.push(...writes.map(describe));
        this.afterCommit(writes);
      },
    };
    const deps = { store, clock: this.clock, ids: this.ids, random: seededRandom(1), log: silentLog };
    const publish = (event: SessionEvent) => void this.published.push(event);
    const onQueued = () => this.onQueued();
    const nextAction = () => {
      if (this.action.signal.aborted && !this.leaving.signal.aborted) this.action = new AbortController();
      return this.action.signal;
    };
    const nextArrival = () => this.arrivals.shift() ?? new AbortController().signal;
    const control = { leaving: this.leaving.signal, nextAction, nextArrival };
    let result: RunEnd = { kind: 'more' };
    while (result.kind === 'more') {
      const { agent, settings } = this;
      result = await runSession({ ...deps, publish, onQueued }, { agent, settings }, lease, control);
    }
    await this.store.releaseLease(lease);
    return result.kind;
  }

  built: Agent | null = null;

  /** Kept between turns, as it is while a process lives. */
  get agent(): Agent {
    return (this.built ??= this.buildAgent());
  }

  private buildAgent(): Agent {
    const clients = new RuntimeClients(async (runtime) => this.model(runtime));
    return {
      chain: new RuntimeChain(this.runtimes, clients),
      clients,
      titler: null,
      judge: null,
      tools: { get: (name) => this.tool(name) },
      workspace: '/nowhere',
      spoolFolder: () => '/nowhere',
      keepResult: (_sessionId, callId) => Promise.resolve(`/kept/${callId}`),
      headTools: this.headTools,
      buildHead: async () => ({ systemPrompt: `prompt number ${++this.heads}`, ...this.headTools }),
    };
  }

  model(runtime: Runtime): Model {
    const { requests, asked } = this;
    const nextStep = () => this.script.shift();
    return {
      prepare: (request) => ({
        request,
        units: [JSON.stringify(request.systemPrompt), ...request.messages.map((message) => JSON.stringify(message))],
        body: JSON.stringify({ systemPrompt: request.systemPrompt, messages: request.messages }),
      }),
      async *stream({ body, request }, key, signal) {
        requests.push(body);
        asked.push(`${runtime.model} ${key.id}`.trim());
        const step = nextStep();
        if (step === undefined) throw new Error('the script is at its end');
        yield* typeof step === 'function' ? step(request, signal) : step;
      },
      close: () => void asked.push(`close ${runtime.model}`),
    };
  }

  tool(name: string): Tool | undefined {
    const plan = this.tools[name];
    if (plan === undefined) return undefined;
    const { attach, sideBySide } = plan;
    return {
      definition: { name, description: '', parameters: {} },
      effect: plan.effect ?? 'write',
      replay: plan.replay ?? 'never',
      parse: (value) => ({ ok: true, value }),
      run: async (_input, { signal }) => {
        this.history.push(`run ${name}`);
        if (plan.asks !== undefined) return { kind: 'ask', ...plan.asks };
        const said = await plan.run(signal);
        return typeof said === 'string' ? { kind: 'finished', text: said } : said;
      },
      ...(attach && { attach: (_input: unknown, { signal }: ToolContext) => attach(signal) }),
      answered: async (_input, answer) => ({ kind: 'finished', text: plan.answered?.(answer) ?? '' }),
      ...(sideBySide !== undefined && { sideBySide: () => sideBySide }),
    };
  }

  /** The process is gone: what it would have written is never written. */
  dies(): void {
    this.beforeCommit = () => {
      throw new Error('dead');
    };
  }

  /** Another process on the same store. */
  livesAgain(): void {
    this.beforeCommit = () => {};
    this.built = null;
  }

  /** A process after one that has left: everything stored is the same, nothing has been asked to end. */
  nextProcess(): Stage {
    const fresh = { leaving: new AbortController(), action: new AbortController(), built: null };
    return Object.assign(Object.create(Stage.prototype) as Stage, this, fresh);
  }

  async entries(): Promise<readonly Entry[]> {
    return this.store.read.entries(this.sessionId, { after: 0, limit: 1_000 });
  }

  /** The log as a reader would tell it. */
  async told(): Promise<string[]> {
    return (await this.entries()).map((entry) => {
      if (entry.kind === 'turn-closed') return `closed: ${entry.outcome}`;
      if (entry.kind === 'notice') return `notice: ${entry.text}`;
      if (entry.kind !== 'message') return entry.kind;
      if (entry.message.role === 'tool')
        return `result: ${entry.message.parts[0].outcome}: ${entry.message.parts[0].text}`;
      const calls = entry.message.parts.flatMap((part) => (part.kind === 'tool-call' ? [`→${part.name}`] : []));
      return [`${entry.message.role}: ${textOf(entry.message)}`, ...calls].join(' ').trimEnd();
    });
  }
}

function describe(write: SessionWrite): string {
  if (write.verb === 'append-answer') return `store answer with ${write.calls.length} calls`;
  if (write.verb === 'settle-call') return `store ${write.message.parts[0].text}`;
  return write.verb;
}
