import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '../lib/fake-clock.ts';
import { countingIdSource, type IdSource } from '../lib/ids.ts';
import { silentLog } from '../lib/log.ts';
import { seededRandom } from '../lib/random.ts';
import { ModelError, type Model, type ModelEvent, type ModelRequest } from '../models/model.ts';
import type { SessionEvent } from '../protocol/events.ts';
import type { NodeId, SessionId } from '../protocol/ids.ts';
import { textOf, type Entry } from '../protocol/messages.ts';
import { openSqliteStore } from '../store/sqlite/sqlite-store.ts';
import { StoreError, type SessionWrite, type Store } from '../store/store.ts';
import type { Tool } from '../tools/tool.ts';
import { runSession } from './run-session.ts';
import { ActionCut, type Agent } from './turn-deps.ts';

const usage = { inputTokens: 1, cachedTokens: 0, outputTokens: 1, reasoningTokens: 0, usd: 0 };
const says = (text: string): ModelEvent[] => [
  { kind: 'text-delta', text },
  { kind: 'end', stop: 'answer', usage },
];
const asksFor = (...calls: [name: string, args: string][]): ModelEvent[] => [
  ...calls.map(([name, args], index): ModelEvent => ({
    kind: 'tool-call',
    providerCallId: `p${index}`,
    name,
    arguments: args,
  })),
  { kind: 'end', stop: 'tool-calls', usage },
];

/** One session on a real store, with a model and tools that a test writes down. */
class Stage {
  readonly clock = new FakeClock();
  readonly ids: IdSource = countingIdSource();
  readonly owner: NodeId = this.ids.next('nod');
  readonly requests: string[] = [];
  readonly published: SessionEvent[] = [];
  /** What happened, in order: writes as they were committed, tools as they began to run. */
  readonly history: string[] = [];
  readonly leaving = new AbortController();
  action = new AbortController();
  sessionId: SessionId = this.ids.next('ses');
  store: Store;
  heads = 0;
  script: (ModelEvent[] | ((request: ModelRequest, signal: AbortSignal) => AsyncIterable<ModelEvent>))[] = [];
  tools: Record<string, { run: () => Promise<string> | string; replay?: 'safe' | 'never' }> = {};
  beforeCommit: (writes: readonly SessionWrite[]) => void = () => {};
  afterCommit: (writes: readonly SessionWrite[]) => void = () => {};

  private constructor(store: Store) {
    this.store = store;
  }

  static async open(): Promise<Stage> {
    const clock = new FakeClock();
    const owner = countingIdSource().next('nod');
    return new Stage(await openSqliteStore({ path: ':memory:', clock, log: silentLog, owner, writer: 'inline' }));
  }

  async hears(text: string): Promise<void> {
    const inboxId = this.ids.next('inb');
    const session = { kind: 'by-key', key: 'cli:direct:x', id: this.sessionId, name: 'x' } as const;
    const message = { role: 'user', parts: [{ kind: 'text', text }] } as const;
    await this.store.admit({
      inboxId,
      channel: 'cli',
      externalId: inboxId,
      message,
      target: 'x',
      session,
      title: text,
      waitingMax: 9,
    });
  }

  async run(): Promise<'rested' | 'left'> {
    const lease = await this.store.acquireLease(this.sessionId, this.owner, 30_000);
    assert.ok(lease);
    const store: Store = {
      ...this.store,
      commit: async (held, writes) => {
        this.beforeCommit(writes);
        await this.store.commit(held, writes);
        this.history.push(...writes.map(describe));
        this.afterCommit(writes);
      },
    };
    const deps = { store, clock: this.clock, ids: this.ids, random: seededRandom(1), log: silentLog };
    const publish = (event: SessionEvent) => void this.published.push(event);
    const nextAction = () => {
      if (this.action.signal.aborted && !this.leaving.signal.aborted) this.action = new AbortController();
      return this.action.signal;
    };
    const result = await runSession({ ...deps, publish }, this.agent(), lease, {
      leaving: this.leaving.signal,
      nextAction,
    });
    await this.store.releaseLease(lease);
    return result;
  }

  agent(): Agent {
    return {
      model: this.model(),
      tools: { get: (name) => this.tool(name) },
      limits: { modelCallsMax: 10, crashesMax: 3, joinWaiting: true },
      modelRetriesMax: 2,
      workspace: '/nowhere',
      buildHead: async () => ({ systemPrompt: `prompt number ${++this.heads}`, tools: [] }),
    };
  }

  model(): Model {
    const { requests, script } = this;
    return {
      provider: 'scripted',
      name: 'scripted',
      async *stream(request, signal) {
        requests.push(JSON.stringify(request));
        const step = script.shift();
        if (step === undefined) throw new Error('the script is at its end');
        yield* typeof step === 'function' ? step(request, signal) : step;
      },
    };
  }

  tool(name: string): Tool | undefined {
    const plan = this.tools[name];
    if (plan === undefined) return undefined;
    return {
      definition: { name, description: '', parameters: {} },
      effect: 'write',
      replay: plan.replay ?? 'never',
      parse: (value) => ({ ok: true, value }),
      run: async () => {
        this.history.push(`run ${name}`);
        return { kind: 'finished', text: await plan.run() };
      },
    };
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

test('a question is answered, and the answer waits in the outbox for where the question came from', async () => {
  const stage = await Stage.open();
  stage.script = [says('hello yourself')];
  await stage.hears('hello');
  assert.equal(await stage.run(), 'rested');
  assert.deepEqual(await stage.told(), [
    'head',
    'turn-opened',
    'user: hello',
    'assistant: hello yourself',
    'closed: answered',
  ]);
  const [delivery] = await stage.store.claimDeliveries(stage.owner, 5);
  assert.deepEqual([delivery?.channel, delivery?.target, delivery?.text], ['cli', 'x', 'hello yourself']);
});

test('C25 the system prompt of turn 1 is byte-identical on every later turn', async () => {
  const stage = await Stage.open();
  for (const text of ['one', 'two', 'three']) {
    stage.script = [says('ok')];
    await stage.hears(text);
    await stage.run();
  }
  const prompts = stage.requests.map((request) => (JSON.parse(request) as ModelRequest).systemPrompt);
  assert.deepEqual(prompts, ['prompt number 1', 'prompt number 1', 'prompt number 1']);
  assert.equal(stage.heads, 1, 'the prompt is built once per session');
});

test('C81 the answer with its calls is stored before any of its tools starts', async () => {
  const stage = await Stage.open();
  let seen: string[] = [];
  stage.tools['look'] = { run: async () => ((seen = await stage.told()), 'looked') };
  stage.script = [asksFor(['look', '{}']), says('done')];
  await stage.hears('look');
  await stage.run();
  assert.deepEqual(seen, ['head', 'turn-opened', 'user: look', 'assistant:  →look']);
});

test('C82 tools in sequence: start c1, store c1, start c2, store c2', async () => {
  const stage = await Stage.open();
  stage.tools['c1'] = { run: () => 'r1' };
  stage.tools['c2'] = { run: () => 'r2' };
  stage.script = [asksFor(['c1', '{}'], ['c2', '{}']), says('done')];
  await stage.hears('both');
  await stage.run();
  const round = stage.history.slice(
    stage.history.indexOf('store answer with 2 calls') + 1,
    stage.history.lastIndexOf('start-model-call'),
  );
  assert.deepEqual(round, ['start-call', 'run c1', 'store r1', 'start-call', 'run c2', 'store r2']);
});

test('C85 what was sent is what is stored: each request is the one before and more, also after everything is read anew', async () => {
  const stage = await Stage.open();
  stage.tools['look'] = { run: () => 'seen' };
  stage.script = [asksFor(['look', '{"a": 1}']), says('done'), asksFor(['look', '{}']), says('again')];
  await stage.hears('one');
  await stage.run();
  await stage.hears('two');
  await stage.run();
  const sent = stage.requests.map((request) => JSON.parse(request) as ModelRequest);
  for (const [index, request] of sent.slice(1).entries()) {
    const before = sent[index];
    assert.ok(before);
    assert.equal(JSON.stringify(request.messages.slice(0, before.messages.length)), JSON.stringify(before.messages));
    assert.equal(request.systemPrompt, before.systemPrompt);
  }
  const stored = (await stage.entries()).flatMap((entry) => (entry.kind === 'message' ? [entry.message] : []));
  assert.equal(JSON.stringify(sent.at(-1)?.messages), JSON.stringify(stored.slice(0, -1)));
});

test('C86 a write that fails stops the turn there and then, and nothing goes on as if it had happened', async () => {
  const stage = await Stage.open();
  stage.tools['touch'] = { run: () => 'touched' };
  stage.script = [asksFor(['touch', '{}']), says('done')];
  await stage.hears('touch');
  stage.beforeCommit = (writes) => {
    if (writes.some((write) => write.verb === 'start-call')) throw new StoreError('disk-full', 'The disk is full.');
  };
  await assert.rejects(stage.run(), new StoreError('disk-full', 'The disk is full.'));
  assert.equal(stage.history.includes('run touch'), false, 'the tool did not run');
  assert.equal(stage.requests.length, 1, 'the model was not asked again');
  const journal = await stage.store.read.journal(stage.sessionId, 0);
  assert.deepEqual(
    journal?.unsettledCalls.map((call) => call.state),
    ['planned'],
  );
});

test('mistakes of the model become results that name them, and the turn goes on', async () => {
  const stage = await Stage.open();
  stage.tools['breaks'] = { run: () => Promise.reject(new Error('out of luck')) };
  stage.script = [asksFor(['nothing', '{}'], ['breaks', '{"a":'], ['breaks', '{}']), says('done')];
  await stage.hears('go');
  await stage.run();
  const results = (await stage.told()).filter((line) => line.startsWith('result'));
  assert.match(results[0] ?? '', /failed: There is no tool named "nothing"/);
  assert.match(results[1] ?? '', /failed: The arguments of breaks can't be used: they are not valid JSON/);
  assert.match(results[2] ?? '', /failed: The tool failed unexpectedly: out of luck/);
  assert.equal((await stage.told()).at(-1), 'closed: answered');
});

test('a stop in mid-stream keeps what was said and asks the model nothing more', async () => {
  const stage = await Stage.open();
  stage.script = [
    async function* (_request, signal) {
      yield { kind: 'text-delta', text: 'as far as' };
      await stage.store.requestStop(stage.sessionId);
      stage.action.abort(new ActionCut('stop'));
      assert.ok(signal.aborted);
      yield { kind: 'failed', error: new ModelError('cancelled', 'cancelled', false) };
    },
  ];
  await stage.hears('talk');
  assert.equal(await stage.run(), 'rested');
  assert.deepEqual((await stage.told()).slice(2), ['user: talk', 'assistant: as far as', 'closed: stopped']);
});

test('a stop during a tool skips the calls after it', async () => {
  const stage = await Stage.open();
  stage.tools['long'] = {
    run: async () => {
      await stage.store.requestStop(stage.sessionId);
      stage.action.abort(new ActionCut('stop'));
      return 'cut short';
    },
  };
  stage.tools['next'] = { run: () => 'must not run' };
  stage.script = [asksFor(['long', '{}'], ['next', '{}'])];
  await stage.hears('go');
  await stage.run();
  assert.deepEqual((await stage.told()).slice(4), [
    'result: finished: cut short',
    'result: skipped: It was not run: the turn was stopped before.',
    'closed: stopped',
  ]);
});

test('leaving in mid-stream keeps nothing of the draft, and the next run asks with the same bytes', async () => {
  const stage = await Stage.open();
  stage.script = [
    async function* () {
      yield { kind: 'text-delta', text: 'half of' };
      stage.leaving.abort(new ActionCut('leave'));
      stage.action.abort(new ActionCut('leave'));
      yield { kind: 'failed', error: new ModelError('cancelled', 'cancelled', false) };
    },
    says('the whole'),
  ];
  await stage.hears('talk');
  assert.equal(await stage.run(), 'left');
  const again = Object.assign(Object.create(Stage.prototype) as Stage, stage, {
    leaving: new AbortController(),
    action: new AbortController(),
  });
  assert.equal(await again.run(), 'rested');
  assert.deepEqual((await stage.told()).slice(2), ['user: talk', 'assistant: the whole', 'closed: answered']);
  assert.equal(stage.requests[0], stage.requests[1]);
});

test('a failure worth retrying is retried after a wait, and the last one ends the turn with its reason', async () => {
  const stage = await Stage.open();
  const overloaded: ModelEvent[] = [
    { kind: 'failed', error: new ModelError('overloaded', 'The model is overloaded.', true) },
  ];
  stage.script = [overloaded, overloaded, overloaded];
  await stage.hears('hello');
  const running = stage.run();
  await stage.clock.advance(120_000);
  await running;
  assert.equal(stage.requests.length, 3);
  assert.deepEqual((await stage.told()).slice(3), ['notice: The model is overloaded.', 'closed: failed']);
});

test('a message that arrives during a tool round joins the turn before the model is asked again', async () => {
  const stage = await Stage.open();
  stage.tools['work'] = { run: async () => (await stage.hears('and also this'), 'worked') };
  stage.script = [asksFor(['work', '{}']), says('both done')];
  await stage.hears('do this');
  await stage.run();
  assert.deepEqual((await stage.told()).slice(2), [
    'user: do this',
    'assistant:  →work',
    'result: finished: worked',
    'user: and also this',
    'assistant: both done',
    'closed: answered',
  ]);
});

/** The process dies at the n-th commit, before or after it is stored; another one takes over and finishes. */
async function diesAt(commit: number, moment: 'before' | 'after') {
  const stage = await Stage.open();
  stage.tools['pay'] = { run: () => 'paid' };
  stage.tools['peek'] = { run: () => 'peeked', replay: 'safe' };
  stage.script = [asksFor(['peek', '{}'], ['pay', '{}']), says('done')];
  await stage.hears('pay');
  let count = 0;
  const die = () => {
    if (count++ === commit) throw new Error('killed');
  };
  if (moment === 'before') stage.beforeCommit = die;
  else stage.afterCommit = die;
  const died = await stage.run().then(
    () => false,
    () => true,
  );
  stage.beforeCommit = () => {};
  stage.afterCommit = () => {};
  // What the dead process was about to say is said again to the same request.
  const answers = stage.requests.length;
  if (died) {
    const asked = (await stage.entries()).some(
      (entry) => entry.kind === 'message' && entry.message.role === 'assistant',
    );
    stage.script = asked ? [says('done')] : [asksFor(['peek', '{}'], ['pay', '{}']), says('done')];
    await stage.run();
  }
  return { died, stage, answers };
}

test('killed at any commit, before or after it is stored: one answer, and no payment is made twice unmarked', async () => {
  let deaths = 0;
  for (const moment of ['before', 'after'] as const) {
    for (let commit = 0; ; commit++) {
      const { died, stage } = await diesAt(commit, moment);
      if (!died) break;
      deaths += 1;
      const told = await stage.told();
      const at = `${moment} commit ${commit}: ${told.join(' | ')}`;
      assert.equal(told.filter((line) => line.startsWith('closed')).length, 1, at);
      assert.equal(told.filter((line) => line === 'assistant: done').length, 1, at);
      const payments = stage.history.filter((line) => line === 'run pay').length;
      const unknown = told.filter((line) => line.startsWith('result: unknown')).length;
      assert.ok(payments <= 1, at);
      assert.equal(told.filter((line) => line.startsWith('result')).length, 2, at);
      if (payments === 0) assert.equal(unknown, 1, at);
    }
  }
  assert.ok(deaths >= 14, `only ${deaths} places to die were tried`);
});
