import assert from 'node:assert/strict';
import test from 'node:test';
import { ModelError, type ModelEvent, type ModelErrorOptions, type ModelErrorReason } from '../models/model.ts';
import { scriptedRuntime } from '../models/scripted-model.ts';
import { asksFor, says, Stage } from './test-stage.ts';
import { ActionCut } from './turn-deps.ts';

const fails = (reason: ModelErrorReason, options: ModelErrorOptions = {}): ModelEvent[] => [
  { kind: 'failed', error: new ModelError(reason, `It said ${reason}.`, options) },
];
const key = (id: string) => ({ id, secret: `secret of ${id}` });
const primary = scriptedRuntime({ provider: 'first', model: 'one', keys: [key('k1')], reach: 'direct' });
const second = scriptedRuntime({ provider: 'second', model: 'two', keys: [key('k2')], contextLength: 100_000 });

async function staged(...runtimes: Stage['runtimes']): Promise<Stage> {
  const stage = await Stage.open();
  stage.runtimes = runtimes;
  return stage;
}

/** Runs to the end, with as much time passing as is waited for. */
async function runThrough(stage: Stage, withinMs = 3_600_000): Promise<void> {
  const running = stage.run();
  await stage.clock.advance(withinMs);
  await running;
}

const notices = async (stage: Stage) => (await stage.told()).filter((line) => line.startsWith('notice'));
const statuses = (stage: Stage) => stage.published.flatMap((event) => (event.kind === 'status' ? [event.text] : []));

test('C66 C67 a failing primary costs one turn: the next one is on the primary again, and the user is told once', async () => {
  const stage = await staged(primary, second);
  stage.script = [fails('server'), fails('server'), asksFor(['work', '{}']), says('by two'), says('by one')];
  stage.tools['work'] = { run: () => 'worked' };
  await stage.hears('hello');
  await runThrough(stage);
  assert.deepEqual(stage.asked, ['one k1', 'one k1', 'two k2', 'two k2']);
  assert.equal(stage.agent.chain.index, 1);
  await stage.hears('more');
  await runThrough(stage);
  assert.equal(stage.agent.chain.index, 0);
  assert.deepEqual(stage.asked.slice(4), ['one k1']);
  assert.deepEqual(await notices(stage), ['notice: It said server. This turn goes on with second/two.']);
  const shown = stage.published.map((event) => (event.kind === 'entry' ? event.entry.kind : event.kind));
  assert.ok(shown.indexOf('notice') < shown.indexOf('call-started'), 'told before the other model has done anything');
});

test('falling over takes seconds', async () => {
  const stage = await staged(primary, second);
  stage.script = [fails('overloaded'), fails('overloaded'), says('by two')];
  await stage.hears('hello');
  await runThrough(stage, 2_000);
  assert.deepEqual((await stage.told()).slice(-2), ['assistant: by two', 'closed: answered']);
  const shown = stage.published.map((event) => (event.kind === 'entry' ? event.entry.kind : event.kind));
  assert.ok(shown.indexOf('notice') < shown.indexOf('text-delta'), 'it is told before the other model has said a word');
});

test('what was heard of a call that was stopped is counted, by estimate', async () => {
  const stage = await staged(
    scriptedRuntime({ price: { input: 0, cachedInput: 0, cacheWrite: 0, cacheWriteLong: 0, output: 1_000_000 } }),
  );
  const reached = Promise.withResolvers<void>();
  stage.script = [
    async function* (_request, signal) {
      yield { kind: 'text-delta', text: 'sixteen letters.' };
      reached.resolve();
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      yield { kind: 'failed', error: new ModelError('cancelled', 'cancelled') };
    },
  ];
  await stage.hears('hello');
  const running = stage.run();
  await reached.promise;
  await stage.store.requestStop(stage.sessionId);
  stage.action.abort(new ActionCut('stop'));
  await running;
  const [call] = await stage.store.read.modelCalls(stage.sessionId);
  assert.deepEqual([call?.state, call?.usage?.outputTokens, call?.usage?.usd], ['cancelled', 4, 4]);
});

test('a fallback that can not hold the prompt is skipped', async () => {
  const small = scriptedRuntime({ provider: 'small', model: 'small', contextLength: 10 });
  const stage = await staged(primary, small, second);
  stage.script = [fails('model-not-found'), says('by two')];
  await stage.hears('hello '.repeat(100));
  await runThrough(stage);
  assert.deepEqual(stage.asked, ['one k1', 'two k2']);
});

test('after an overflow only a model that reads more is asked; otherwise the user is told what to do', async () => {
  const large = scriptedRuntime({ provider: 'large', model: 'large', keys: [key('k3')], contextLength: 2_000_000 });
  const stage = await staged(primary, second, large);
  stage.script = [fails('context-overflow'), says('by large'), fails('context-overflow')];
  await stage.hears('hello');
  await runThrough(stage);
  assert.deepEqual(stage.asked, ['one k1', 'large k3']);
  stage.runtimes = [primary, second];
  stage.built = null;
  await stage.hears('again');
  await runThrough(stage);
  assert.deepEqual((await stage.told()).slice(-2), [
    'notice: It said context-overflow. Take it back with /undo, begin a new session, or use a model that can read more at once.',
    'closed: failed',
  ]);
});

test('every key of the pool is tried before another model, and the ones at fault rest', async () => {
  const pool = scriptedRuntime({ provider: 'first', model: 'one', keys: [key('a'), key('b'), key('c')] });
  const stage = await staged(pool, second);
  stage.script = [fails('rate-limit', { retryAfterMs: 60_000 }), fails('auth'), fails('billing'), says('by two')];
  await stage.hears('hello');
  const startedAt = stage.clock.now();
  await runThrough(stage, 1_000);
  const [first, middle, last, fallback] = stage.asked;
  assert.deepEqual(new Set([first, middle, last]), new Set(['one a', 'one b', 'one c']));
  assert.equal(fallback, 'two k2');
  const rests = await stage.store.read.keyRests(startedAt);
  const restOf = (asked: string | undefined) => rests.find(({ keyId }) => asked === `one ${keyId}`);
  assert.deepEqual(
    [first, middle, last].map((asked) => [restOf(asked)?.reason, (restOf(asked)?.until ?? 0) - startedAt]),
    [
      ['rate-limit', 60_000],
      ['auth', 300_000],
      ['billing', 86_400_000],
    ],
  );
});

test('a session keeps to its key while it works, in every process', async () => {
  const pool = scriptedRuntime({ provider: 'first', model: 'one', keys: [key('a'), key('b'), key('c')] });
  const stage = await staged(pool);
  stage.script = [says('1'), says('2'), says('3')];
  for (const word of ['x', 'y']) {
    await stage.hears(word);
    await runThrough(stage);
  }
  const next = stage.nextProcess();
  await next.hears('z');
  await runThrough(next);
  assert.equal(new Set(stage.asked).size, 1);
});

test('while all keys of the primary rest, turns begin on a fallback and say so; afterwards on the primary', async () => {
  const stage = await staged(primary, second);
  const until = stage.clock.now() + 60_000;
  await stage.store.restKey({ provider: 'first', keyId: 'k1', reason: 'rate-limit', until });
  stage.script = [says('by two'), says('by one')];
  await stage.hears('hello');
  await runThrough(stage, 1_000);
  assert.deepEqual(await notices(stage), [
    'notice: first/one is left alone for a while (rate-limit); this turn is answered by second/two.',
  ]);
  await stage.clock.advance(60_000);
  await stage.hears('more');
  await runThrough(stage);
  assert.deepEqual(stage.asked, ['two k2', 'one k1']);
});

test('a resting key is asked all the same when there is nothing else, and is awake once it answers', async () => {
  const stage = await staged(primary);
  const until = stage.clock.now() + 60_000;
  await stage.store.restKey({ provider: 'first', keyId: 'k1', reason: 'rate-limit', until });
  stage.script = [says('here')];
  await stage.hears('hello');
  await runThrough(stage, 1_000);
  assert.deepEqual((await stage.told()).at(-1), 'closed: answered');
  assert.deepEqual(await stage.store.read.keyRests(stage.clock.now()), []);
});

test('C79 the primary gets one more attempt over a fresh connection, the old client closed first', async () => {
  const stage = await staged(primary);
  const lost = fails('timeout', { transport: 'read-timeout' });
  stage.script = [lost, lost, lost, says('here')];
  await stage.hears('hello');
  await runThrough(stage);
  assert.deepEqual(stage.asked, ['one k1', 'one k1', 'one k1', 'close one', 'one k1']);
  assert.match(statuses(stage).at(-2) ?? '', /over a fresh connection in 5 s/);
});

test('a stop ends the wait for a retry at once', async () => {
  const stage = await staged(primary);
  stage.script = [fails('overloaded', { retryAfterMs: 500_000 })];
  await stage.hears('hello');
  const running = stage.run();
  await stage.clock.advance(1_000);
  await stage.store.requestStop(stage.sessionId);
  stage.action.abort(new ActionCut('stop'));
  await running;
  assert.deepEqual((await stage.told()).slice(-1), ['closed: stopped']);
  assert.equal(stage.asked.length, 1);
});

test('the user sees what is waited for, and within 10 seconds that a model is silent', async () => {
  const stage = await staged(primary);
  const opened = Promise.withResolvers<void>();
  stage.script = [
    fails('overloaded'),
    async function* () {
      await opened.promise;
      yield* says('at last');
    },
  ];
  await stage.hears('hello');
  const running = stage.run();
  await stage.clock.advance(12_000);
  assert.deepEqual(statuses(stage), ['It said overloaded. Trying again in 2 s.', 'Still waiting for first/one.']);
  opened.resolve();
  await running;
  assert.equal(statuses(stage).at(-1), '');
});

test('a turn goes on trying no longer than it may', async () => {
  const stage = await staged(primary);
  stage.settings = { ...stage.settings, modelRetriesMax: 1_000, troubleMaxMs: 60_000 };
  const silent = async function* (_request: unknown, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    yield { kind: 'failed', error: new ModelError('cancelled', 'cancelled') };
  };
  stage.script = [fails('server'), fails('server'), silent];
  await stage.hears('hello');
  const startedAt = stage.clock.now();
  const running = stage.run();
  await stage.clock.advance(60_000);
  await running;
  assert.equal(stage.clock.now() - startedAt, 60_000);
  assert.deepEqual((await stage.told()).slice(-2), [
    'notice: Models have been failing for 1 minutes. Try again later; talaria doctor checks the way there.',
    'closed: failed',
  ]);
});

test('an empty answer is asked for again, and a refusal is told', async () => {
  const stage = await staged(primary);
  const usage = { inputTokens: 1, cachedTokens: 0, cacheWriteTokens: 0, outputTokens: 0, reasoningTokens: 0 };
  const empty = (stop: 'answer' | 'refused'): ModelEvent[] => [
    { kind: 'reasoning-delta', text: 'hm' },
    { kind: 'end', stop, usage, usd: null },
  ];
  stage.script = [empty('answer'), says('here'), empty('refused')];
  await stage.hears('something good');
  await runThrough(stage);
  await stage.hears('something bad');
  await runThrough(stage);
  assert.deepEqual((await stage.told()).slice(3), [
    'assistant: here',
    'closed: answered',
    'turn-opened',
    'user: something bad',
    'notice: first/one declined to answer this.',
    'closed: failed',
  ]);
});

test('an answer that was cut off at its longest is kept, and the user is told', async () => {
  const stage = await staged(scriptedRuntime({ outputTokensMax: 77 }));
  const [words] = says('half an');
  const usage = { inputTokens: 1, cachedTokens: 0, cacheWriteTokens: 0, outputTokens: 77, reasoningTokens: 0 };
  assert.ok(words);
  stage.script = [[words, { kind: 'end', stop: 'length', usage, usd: null }]];
  await stage.hears('hello');
  await runThrough(stage);
  assert.deepEqual((await stage.told()).slice(3), [
    'assistant: half an',
    'notice: The answer was cut off: it reached the longest output of 77 tokens. Say "go on" for the rest.',
    'closed: answered',
  ]);
});

test('failed attempts do not use up the turn: only answers count', async () => {
  const stage = await staged(primary);
  stage.settings = { ...stage.settings, limits: { ...stage.settings.limits, modelCallsMax: 2 }, modelRetriesMax: 3 };
  stage.tools['work'] = { run: () => 'worked' };
  stage.script = [fails('server'), fails('server'), asksFor(['work', '{}']), fails('server'), says('done')];
  await stage.hears('hello');
  await runThrough(stage);
  assert.deepEqual((await stage.told()).slice(-2), ['assistant: done', 'closed: answered']);
});

test('a turn that was interrupted on a fallback goes on there', async () => {
  const stage = await staged(primary, second);
  stage.script = [fails('model-not-found'), asksFor(['work', '{}']), says('done')];
  stage.tools['work'] = { run: () => 'worked', replay: 'safe' };
  await stage.hears('hello');
  stage.afterCommit = (writes) => {
    if (writes.some(({ verb }) => verb === 'settle-call')) stage.leaving.abort(new ActionCut('leave'));
  };
  await runThrough(stage);
  stage.afterCommit = () => {};
  const next = stage.nextProcess();
  await runThrough(next);
  assert.deepEqual(stage.asked, ['one k1', 'two k2', 'two k2']);
  assert.equal((await notices(stage)).length, 1);
});

test('a budget that is spent refuses the call with a clear word and asks no model', async () => {
  const priced = scriptedRuntime({
    price: { input: 1, cachedInput: 0.1, cacheWrite: 1.25, cacheWriteLong: 2, output: 100_000 },
  });
  const stage = await staged(priced);
  stage.settings = { ...stage.settings, budget: { sessionUsd: 1, dayUsd: 0 } };
  await stage.hears('hello');
  await runThrough(stage);
  assert.deepEqual(stage.asked, []);
  assert.match((await notices(stage))[0] ?? '', /budget/);
  assert.deepEqual((await stage.told()).at(-1), 'closed: failed');
});

test('a budget is not kept by guessing: a model with no known price is refused', async () => {
  const stage = await staged(scriptedRuntime({ provider: 'p', model: 'm', price: null }));
  stage.settings = { ...stage.settings, budget: { sessionUsd: 0, dayUsd: 5 } };
  await stage.hears('hello');
  await runThrough(stage);
  assert.deepEqual(stage.asked, []);
  assert.deepEqual(await notices(stage), [
    "notice: There is a budget, but the price of p/m is not known, so it can't be kept. Set model.price, or take the budget away.",
  ]);
});

test('C93 C95 prompts of a session begin alike on each runtime, also after a fallback, the way back and another process', async () => {
  const stage = await staged(primary, second);
  stage.tools['work'] = { run: () => 'worked' };
  stage.script = [
    asksFor(['work', '{}']),
    says('one'),
    fails('model-not-found'),
    says('two'),
    asksFor(['work', '{}']),
    says('three'),
  ];
  await stage.hears('first');
  await runThrough(stage);
  await stage.hears('second');
  await runThrough(stage);
  const next = stage.nextProcess();
  await next.hears('third');
  await runThrough(next);
  const calls = await stage.store.read.modelCalls(stage.sessionId);
  assert.deepEqual(
    calls.map(({ model, prefixBreak, promptUnitsKept, promptUnits }) => [
      model,
      prefixBreak,
      promptUnitsKept,
      promptUnits,
    ]),
    [
      ['one', 'first-call', 0, 2],
      ['one', null, 2, 4],
      ['one', null, 4, 6],
      ['two', 'other-model', 0, 6],
      ['one', null, 6, 8],
      ['one', null, 8, 10],
    ],
  );
  assert.equal((await stage.store.read.totals()).prefixBreaks, 0);
});
