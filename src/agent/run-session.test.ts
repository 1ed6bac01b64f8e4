import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '../lib/fake-clock.ts';
import { countingIdSource, type IdSource } from '../lib/ids.ts';
import { silentLog } from '../lib/log.ts';
import { seededRandom } from '../lib/random.ts';
import { ModelError, type Model, type ModelEvent, type ModelRequest } from '../models/model.ts';
import type { SessionEvent } from '../protocol/events.ts';
import type { NodeId, SessionId } from '../protocol/ids.ts';
import { textOf, type Entry, type Question } from '../protocol/messages.ts';
import { openSqliteStore } from '../store/sqlite/sqlite-store.ts';
import { StoreError, type SessionWrite, type Store } from '../store/store.ts';
import type { SideBySide, Tool, ToolContext, ToolEffect, ToolOutcome, ToolReplay } from '../tools/tool.ts';
import { runSession, type RunEnd } from './run-session.ts';
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

interface PlannedTool {
  readonly run: (signal: AbortSignal) => Promise<string> | string;
  readonly attach?: (signal: AbortSignal) => Promise<ToolOutcome>;
  /** What it asks first, and what it makes of the answer. */
  readonly asks?: Question;
  readonly answered?: (answer: string | null) => string;
  readonly replay?: ToolReplay;
  readonly effect?: ToolEffect;
  readonly sideBySide?: SideBySide;
}

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
  tools: Record<string, PlannedTool> = {};
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
    const nextAction = () => {
      if (this.action.signal.aborted && !this.leaving.signal.aborted) this.action = new AbortController();
      return this.action.signal;
    };
    const result = await runSession({ ...deps, publish }, this.agent(), lease, {
      leaving: this.leaving.signal,
      nextAction,
    });
    await this.store.releaseLease(lease);
    return result.kind;
  }

  agent(): Agent {
    return {
      model: this.model(),
      tools: { get: (name) => this.tool(name) },
      limits: { modelCallsMax: 10, crashesMax: 3, joinWaiting: true },
      modelRetriesMax: 2,
      workspace: '/nowhere',
      spoolFolder: () => '/nowhere',
      keepResult: (_sessionId, callId) => Promise.resolve(`/kept/${callId}`),
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
    const { attach, sideBySide } = plan;
    return {
      definition: { name, description: '', parameters: {} },
      effect: plan.effect ?? 'write',
      replay: plan.replay ?? 'never',
      parse: (value) => ({ ok: true, value }),
      run: async (_input, { signal }) => {
        this.history.push(`run ${name}`);
        if (plan.asks !== undefined) return { kind: 'ask', ...plan.asks };
        return { kind: 'finished', text: await plan.run(signal) };
      },
      ...(attach && { attach: (_input: unknown, { signal }: ToolContext) => attach(signal) }),
      answered: async (_input, answer) => ({ kind: 'finished', text: plan.answered?.(answer) ?? '' }),
      ...(sideBySide !== undefined && { sideBySide: () => sideBySide }),
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

test('C83 calls that allow it run side by side; each result is stored once, as soon as it is there, and sent in call order', async () => {
  const stage = await Stage.open();
  const gates = [Promise.withResolvers<string>(), Promise.withResolvers<string>(), Promise.withResolvers<string>()];
  const storedSoFar: string[][] = [];
  stage.tools = Object.fromEntries(
    gates.map((gate, index) => [`t${index}`, { effect: 'read' as const, run: () => gate.promise }]),
  );
  stage.script = [asksFor(['t0', '{}'], ['t1', '{}'], ['t2', '{}']), says('done')];
  stage.afterCommit = (writes) => {
    const started = stage.history.filter((line) => line.startsWith('run')).length;
    if (writes[0]?.verb === 'start-call' && started === 0) queueMicrotask(() => gates[2]?.resolve('r2'));
    if (writes[0]?.verb !== 'settle-call') return;
    storedSoFar.push(stage.history.filter((line) => line.startsWith('store r')));
    gates[2 - storedSoFar.length]?.resolve(`r${2 - storedSoFar.length}`);
  };
  await stage.hears('all');
  await stage.run();
  assert.deepEqual(storedSoFar, [['store r2'], ['store r2', 'store r1'], ['store r2', 'store r1', 'store r0']]);
  const last = JSON.parse(stage.requests.at(-1) ?? '') as ModelRequest;
  const sent = last.messages.flatMap((message) => (message.role === 'tool' ? [message.parts[0].text] : []));
  assert.deepEqual(sent, ['r0', 'r1', 'r2']);
});

test('no more than eight calls run at once, and a round with one that must be alone runs in sequence', async () => {
  const stage = await Stage.open();
  let inside = 0;
  let most = 0;
  const run = async () => {
    most = Math.max(most, ++inside);
    await new Promise((resolve) => setImmediate(resolve));
    inside -= 1;
    return 'ok';
  };
  stage.tools = { read: { effect: 'read', run }, write: { run } };
  const reads = Array.from({ length: 20 }, (): [string, string] => ['read', '{}']);
  stage.script = [asksFor(...reads), asksFor(['read', '{}'], ['write', '{}'], ['read', '{}']), says('done')];
  const peaks: number[] = [];
  stage.afterCommit = (writes) => {
    if (writes[0]?.verb !== 'start-model-call') return;
    peaks.push(most);
    most = 0;
  };
  await stage.hears('go');
  await stage.run();
  assert.deepEqual(peaks, [0, 8, 1]);
});

test('calls on the same thing wait for each other, calls on different things do not', async () => {
  for (const [first, second, most] of [
    [['a'], ['b'], 2],
    [['a'], ['a'], 1],
  ] as const) {
    const stage = await Stage.open();
    let inside = 0;
    let peak = 0;
    const run = async () => {
      peak = Math.max(peak, ++inside);
      await new Promise((resolve) => setImmediate(resolve));
      inside -= 1;
      return 'ok';
    };
    stage.tools = { one: { run, sideBySide: first }, two: { run, sideBySide: second } };
    stage.script = [asksFor(['one', '{}'], ['two', '{}']), says('done')];
    await stage.hears('go');
    await stage.run();
    assert.equal(peak, most);
  }
});

test('a result that can not be stored ends the whole round: the calls beside it are cut short first', async () => {
  const stage = await Stage.open();
  let cut = false;
  stage.tools = {
    quick: { effect: 'read', run: () => 'quick' },
    long: {
      effect: 'read',
      run: (signal) =>
        new Promise((resolve) =>
          signal.addEventListener('abort', () => {
            cut = true;
            resolve('cut');
          }),
        ),
    },
  };
  stage.script = [asksFor(['quick', '{}'], ['long', '{}'])];
  await stage.hears('go');
  stage.beforeCommit = (writes) => {
    if (writes.some((write) => write.verb === 'settle-call')) throw new StoreError('disk-full', 'The disk is full.');
  };
  await assert.rejects(stage.run(), { reason: 'disk-full' });
  assert.equal(cut, true);
});

test('C84 a call that takes the process down is kept, with the results before it, and counts as done if that was its purpose', async () => {
  for (const [effect, outcome] of [
    ['self', 'finished: Done: Talaria was interrupted by it, as it was meant to be.'],
    ['write', 'unknown: Talaria was interrupted while this ran.'],
  ] as const) {
    const stage = await Stage.open();
    let times = 0;
    stage.tools = {
      before: { run: () => 'first' },
      restart: {
        effect,
        run: () => {
          times += 1;
          // The process is gone: what it would have written is never written.
          stage.beforeCommit = () => {
            throw new Error('dead');
          };
          return 'never seen';
        },
      },
    };
    stage.script = [asksFor(['before', '{}'], ['restart', '{}']), says('back again')];
    await stage.hears('restart');
    await assert.rejects(stage.run(), /dead/);
    stage.beforeCommit = () => {};
    await stage.run();
    const told = await stage.told();
    assert.deepEqual(told.slice(4, 5), ['result: finished: first']);
    assert.ok(told[5]?.startsWith(`result: ${outcome}`), told.join(' | '));
    assert.deepEqual([times, told.at(-1)], [1, 'closed: answered']);
  }
});

test('C92 a call that lives on is taken up again after a crash, and its result is what it came to', async () => {
  const stage = await Stage.open();
  stage.tools['job'] = {
    replay: 'attach',
    run: () => {
      stage.beforeCommit = () => {
        throw new Error('dead');
      };
      return 'lost with the process';
    },
    attach: () => Promise.resolve({ kind: 'finished', text: 'what it came to' }),
  };
  stage.script = [asksFor(['job', '{}']), says('done')];
  await stage.hears('go');
  await assert.rejects(stage.run(), /dead/);
  stage.beforeCommit = () => {};
  await stage.run();
  assert.deepEqual((await stage.told()).slice(4), [
    'result: finished: what it came to',
    'assistant: done',
    'closed: answered',
  ]);
  assert.equal(stage.history.filter((line) => line === 'run job').length, 1);
});

test('leaving does not end what can be taken up again: the call stays started, and the next process attaches', async () => {
  const stage = await Stage.open();
  let ended = false;
  stage.tools['job'] = {
    replay: 'attach',
    run: (signal) => {
      signal.addEventListener('abort', () => (ended = true));
      queueMicrotask(() => {
        stage.leaving.abort(new ActionCut('leave'));
        stage.action.abort(new ActionCut('leave'));
      });
      return new Promise(() => {});
    },
    attach: () => Promise.resolve({ kind: 'finished', text: 'what it came to' }),
  };
  stage.script = [asksFor(['job', '{}']), says('done')];
  await stage.hears('go');
  assert.equal(await stage.run(), 'left');
  assert.equal(ended, false);
  const again = Object.assign(Object.create(Stage.prototype) as Stage, stage, {
    leaving: new AbortController(),
    action: new AbortController(),
  });
  assert.equal(await again.run(), 'rested');
  assert.deepEqual((await stage.told()).slice(4), [
    'result: finished: what it came to',
    'assistant: done',
    'closed: answered',
  ]);
});

test('a stop after a crash ends what lived on, and keeps what it came to', async () => {
  const stage = await Stage.open();
  stage.tools['job'] = {
    replay: 'attach',
    run: () => {
      stage.beforeCommit = () => {
        throw new Error('dead');
      };
      return '';
    },
    attach: (signal) => Promise.resolve({ kind: 'failed', text: signal.aborted ? 'ended' : 'left running' }),
  };
  stage.script = [asksFor(['job', '{}'])];
  await stage.hears('go');
  await assert.rejects(stage.run(), /dead/);
  stage.beforeCommit = () => {};
  await stage.store.requestStop(stage.sessionId);
  await stage.run();
  assert.deepEqual((await stage.told()).slice(4), ['result: failed: ended', 'closed: stopped']);
});

test('a call whose tool is gone after a crash is unknown, not a mistake', async () => {
  const stage = await Stage.open();
  stage.tools['job'] = {
    replay: 'attach',
    run: () => {
      stage.beforeCommit = () => {
        throw new Error('dead');
      };
      return '';
    },
  };
  stage.script = [asksFor(['job', '{}']), says('done')];
  await stage.hears('go');
  await assert.rejects(stage.run(), /dead/);
  stage.beforeCommit = () => {};
  stage.tools = {};
  await stage.run();
  assert.match((await stage.told())[4] ?? '', /^result: unknown/);
});

test('a result that is too long is kept in a file, and the model gets its beginning, its end and the path', async () => {
  const stage = await Stage.open();
  stage.tools['flood'] = { run: () => `start${'x'.repeat(200_000)}end` };
  stage.script = [asksFor(['flood', '{}']), says('done')];
  await stage.hears('go');
  await stage.run();
  const result = (await stage.told())[4] ?? '';
  assert.ok(result.length < 30_000);
  assert.match(
    result,
    /^result: finished: startx+\n\[… 176008 characters left out; all of it is in \/kept\/cal_\w+ …\]\nx+end$/,
  );
});

test('the same failing call is warned about from the second time on and ends the turn at the fifth', async () => {
  const stage = await Stage.open();
  stage.tools['broken'] = { run: () => Promise.reject(new Error('out of luck')) };
  stage.script = Array.from({ length: 9 }, () => asksFor(['broken', '{"a":1}']));
  await stage.hears('go');
  await stage.run();
  const results = (await stage.told()).filter((line) => line.startsWith('result'));
  assert.equal(results.length, 5);
  assert.doesNotMatch(results[0] ?? '', /has failed/);
  assert.match(results[1] ?? '', /This very call has failed 2 times in this turn\. Do something else\./);
  assert.deepEqual((await stage.told()).at(-1), 'closed: failed');
  assert.match((await stage.told()).at(-2) ?? '', /notice: The model kept repeating a call that fails/);
});

test('two hundred calls in one answer: the first are run, the rest are told why not', async () => {
  const stage = await Stage.open();
  stage.tools['look'] = { effect: 'read', run: () => 'seen' };
  stage.script = [
    asksFor(...Array.from({ length: 200 }, (_, index): [string, string] => ['look', `{"n":${index}}`])),
    says('done'),
  ];
  await stage.hears('go');
  await stage.run();
  const results = (await stage.told()).filter((line) => line.startsWith('result'));
  assert.equal(results.filter((line) => line === 'result: finished: seen').length, 64);
  assert.equal(results.filter((line) => line.includes('at most 64 calls')).length, 136);
});

test('a turn that has used up its model calls is asked for a summary and ended with it', async () => {
  const stage = await Stage.open();
  stage.tools['work'] = { run: () => 'worked' };
  stage.script = [
    ...Array.from({ length: 10 }, (_, index) => asksFor(['work', `{"n":${index}}`])),
    says('so far, so good'),
  ];
  await stage.hears('go');
  await stage.run();
  const told = await stage.told();
  assert.match(told.at(-4) ?? '', /^user: \[From Talaria: .*used up its model calls/);
  assert.equal(told.at(-3), 'assistant: so far, so good');
  assert.match(told.at(-2) ?? '', /^notice: This turn used up its 10 model calls/);
  assert.equal(told.at(-1), 'closed: answered');
  const [delivery] = await stage.store.claimDeliveries(stage.owner, 1);
  assert.equal(delivery?.text, 'so far, so good');
});

/** A turn in which a tool asks a person, up to the moment it waits. */
async function stageThatAsks(): Promise<Stage> {
  const stage = await Stage.open();
  stage.tools['deploy'] = {
    run: () => 'not without an answer',
    asks: { text: 'Shall I?', choices: ['yes', 'no'], deadline: stage.clock.now() + 60_000 },
    answered: (answer) => `answer: ${answer}`,
  };
  stage.script = [asksFor(['deploy', '{}']), says('done')];
  await stage.hears('deploy');
  assert.equal(await stage.run(), 'waits');
  return stage;
}

test('a question waits in the store, with nobody at work, and its answer goes on from there', async () => {
  const stage = await stageThatAsks();
  const entry = (await stage.entries()).at(-1);
  assert.ok(entry?.kind === 'notice' && entry.question !== undefined);
  assert.deepEqual([entry.text, entry.question.choices], ['Shall I?', ['yes', 'no']]);
  assert.equal(await stage.run(), 'waits', 'nothing happens before the answer');
  assert.equal(await stage.store.answerCall(stage.sessionId, entry.question.callId, 'yes'), true);
  assert.equal(
    await stage.store.answerCall(stage.sessionId, entry.question.callId, 'no'),
    false,
    'the first answer counts',
  );
  assert.equal(await stage.run(), 'rested');
  assert.deepEqual((await stage.told()).slice(-3), [
    'result: finished: answer: yes',
    'assistant: done',
    'closed: answered',
  ]);
  assert.equal(stage.history.filter((line) => line === 'run deploy').length, 1);
});

test('a question that nobody answers goes on without an answer when its time is up', async () => {
  const stage = await stageThatAsks();
  await stage.clock.advance(60_000);
  assert.equal(await stage.run(), 'rested');
  assert.deepEqual((await stage.told()).slice(-3), [
    'result: finished: answer: null',
    'assistant: done',
    'closed: answered',
  ]);
});

test('a stop ends a turn that waits for a person', async () => {
  const stage = await stageThatAsks();
  assert.equal(await stage.store.requestStop(stage.sessionId), true);
  assert.equal(await stage.run(), 'rested');
  assert.deepEqual((await stage.told()).slice(-2), [
    'result: skipped: It was not run: the turn was stopped before.',
    'closed: stopped',
  ]);
});

test('a crash after the answer came does not ask again', async () => {
  const stage = await stageThatAsks();
  const journal = await stage.store.read.journal(stage.sessionId, 0);
  const callId = journal?.unsettledCalls[0]?.id;
  assert.ok(callId);
  await stage.store.answerCall(stage.sessionId, callId, 'yes');
  stage.beforeCommit = (writes) => {
    if (writes[0]?.verb === 'settle-call') throw new Error('dead');
  };
  await assert.rejects(stage.run(), /dead/);
  stage.beforeCommit = () => {};
  await stage.run();
  const told = await stage.told();
  assert.equal(told.filter((line) => line.startsWith('notice')).length, 1);
  assert.match(told.at(-3) ?? '', /^result: unknown/);
});

test('a stop that comes between reading the journal and deciding on it is not missed', async () => {
  const stage = await Stage.open();
  stage.tools['work'] = { run: () => 'must not run' };
  stage.script = [asksFor(['work', '{}'])];
  await stage.hears('go');
  stage.afterRead = async () => {
    if (!stage.history.includes('store answer with 1 calls')) return;
    stage.afterRead = () => Promise.resolve();
    await stage.store.requestStop(stage.sessionId);
    stage.action.abort(new ActionCut('stop'));
  };
  await stage.run();
  assert.equal(stage.history.includes('run work'), false);
  assert.equal((await stage.told()).at(-1), 'closed: stopped');
});

test('C91 an owner that stalled and was replaced can write nothing when it wakes up', async () => {
  const stage = await Stage.open();
  const other = countingIdSource().next('nod');
  stage.script = [
    async function* () {
      // So long that the lease runs out and somebody else takes the session over.
      await stage.storeClock.advance(60_000);
      assert.ok(await stage.store.acquireLease(stage.sessionId, `${other}x` as NodeId, 30_000));
      yield* says('too late');
    },
  ];
  await stage.hears('hello');
  await assert.rejects(stage.run(), { reason: 'lease-lost' });
  assert.deepEqual(await stage.told(), ['head', 'turn-opened', 'user: hello']);
});
