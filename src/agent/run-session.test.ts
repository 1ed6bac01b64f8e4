import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countingIdSource } from '../lib/ids.ts';
import { scriptedRuntime } from '../models/scripted-model.ts';
import { ModelError, type ModelEvent, type ModelRequest } from '../models/model.ts';
import type { NodeId } from '../protocol/ids.ts';
import { StoreError } from '../store/store.ts';
import { Stage, asksFor, says } from './test-stage.ts';
import { ActionCut } from './turn-deps.ts';

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

test('a stop in mid-stream keeps what was said and asks the model nothing more', async () => {
  const stage = await Stage.open();
  stage.script = [
    async function* (_request, signal) {
      yield { kind: 'text-delta', text: 'as far as' };
      await stage.store.requestStop(stage.sessionId);
      stage.action.abort(new ActionCut('stop'));
      assert.ok(signal.aborted);
      yield { kind: 'failed', error: new ModelError('cancelled', 'cancelled') };
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
      yield { kind: 'failed', error: new ModelError('cancelled', 'cancelled') };
    },
    says('the whole'),
  ];
  await stage.hears('talk');
  assert.equal(await stage.run(), 'left');
  const again = stage.nextProcess();
  assert.equal(await again.run(), 'rested');
  assert.deepEqual((await stage.told()).slice(2), ['user: talk', 'assistant: the whole', 'closed: answered']);
  assert.equal(stage.requests[0], stage.requests[1]);
});

test('a failure worth retrying is retried after a wait, and the last one ends the turn with its reason', async () => {
  const stage = await Stage.open();
  const overloaded: ModelEvent[] = [
    { kind: 'failed', error: new ModelError('overloaded', 'The model is overloaded.') },
  ];
  stage.script = [overloaded, overloaded, overloaded];
  await stage.hears('hello');
  const running = stage.run();
  await stage.clock.advance(120_000);
  await running;
  assert.equal(stage.requests.length, 3);
  assert.deepEqual((await stage.told()).slice(3), [
    'notice: The model is overloaded. Try again later, or set a fallback model.',
    'closed: failed',
  ]);
});

test('a message that waited for the end of a turn is answered by the agent that there is then', async () => {
  const stage = await Stage.open();
  stage.settings = { ...stage.settings, limits: { ...stage.settings.limits, joinWaiting: false } };
  stage.script = [asksFor(['work', '{}']), says('first'), says('second')];
  stage.tools['work'] = { run: async () => (await stage.hears('and then?'), 'worked') };
  stage.afterCommit = (writes) => {
    if (!writes.some(({ verb }) => verb === 'close-turn')) return;
    stage.runtimes = [scriptedRuntime({ model: 'another' })];
    stage.built = null;
  };
  await stage.hears('hello');
  await stage.run();
  assert.deepEqual(
    stage.asked.map((asked) => asked.split(' ')[0]),
    ['script', 'script', 'another'],
  );
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
  stage.livesAgain();
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

test('a process that dies in the last call of a turn does not cost the turn its answer', async () => {
  const stage = await Stage.open();
  stage.settings = { ...stage.settings, limits: { ...stage.settings.limits, modelCallsMax: 1 } };
  stage.tools['work'] = { run: () => 'worked' };
  const dies = () => {
    stage.dies();
    throw new Error('down');
  };
  stage.script = [asksFor(['work', '{}']), dies];
  await stage.hears('hello');
  await assert.rejects(stage.run());
  stage.livesAgain();
  stage.script = [says('so far it worked')];
  await stage.store.acquireLease(stage.sessionId, stage.owner, 30_000);
  await stage.run();
  assert.deepEqual((await stage.told()).slice(-3), [
    'assistant: so far it worked',
    'notice: This turn used up its 1 model calls before it was done. Say "go on" to let it continue, or raise agent.max_iterations.',
    'closed: answered',
  ]);
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
