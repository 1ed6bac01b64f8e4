import assert from 'node:assert/strict';
import test from 'node:test';
import { ModelError, type ModelEvent } from '../models/model.ts';
import { scriptedRuntime } from '../models/scripted-model.ts';
import { says, Stage } from './test-stage.ts';

const titler = scriptedRuntime({ provider: 'cheap', model: 'small' });
const fails: ModelEvent[] = [{ kind: 'failed', error: new ModelError('server', 'It failed.') }];

async function staged(...script: Stage['script']): Promise<Stage> {
  const stage = await Stage.open();
  stage.settings = { ...stage.settings, limits: { ...stage.settings.limits, namesSessions: true } };
  stage.built = { ...stage.agent, titler };
  stage.script = script;
  await stage.hears('how do I bake bread?');
  return stage;
}

const titleOf = async (stage: Stage) => (await stage.store.read.session(stage.sessionId))?.title;

test('a session is named once, after its first answer, and what that cost is on record', async () => {
  const stage = await staged(says('With flour.'), says('"Baking bread"\nas asked'), says('With water.'));
  await stage.run();
  assert.equal(await titleOf(stage), 'Baking bread');
  await stage.hears('and then?');
  await stage.run();
  const calls = await stage.store.read.modelCalls(stage.sessionId);
  assert.deepEqual(
    calls.map(({ purpose, model, turnId, state }) => [purpose, model, turnId !== null, state]),
    [
      ['answer', 'script', true, 'completed'],
      ['title', 'small', false, 'completed'],
      ['answer', 'script', true, 'completed'],
    ],
  );
});

test('a session whose naming fails keeps the words it began with, and it is not tried again', async () => {
  const stage = await staged(says('With flour.'), fails, says('With water.'));
  await stage.run();
  await stage.hears('and then?');
  await stage.run();
  assert.equal(await titleOf(stage), 'how do I bake bread?');
  assert.equal((await stage.told()).at(-1), 'closed: answered');
});

test('naming that takes the process down is not tried again', async () => {
  const stage = await staged(says('With flour.'));
  stage.script.push(() => {
    stage.dies();
    throw new Error('down');
  });
  await assert.rejects(stage.run());
  stage.livesAgain();
  stage.built = { ...stage.agent, titler };
  stage.script = [];
  const next = await stage.store.acquireLease(stage.sessionId, stage.owner, 1);
  assert.ok(next);
  await stage.store.releaseLease(next);
  assert.equal(await stage.run(), 'rested');
});

test('a session that began with a greeting is called by the first words that say more, with no call', async () => {
  const stage = await Stage.open();
  stage.script = [says('Hello.'), says('Flour.'), says('Water.')];
  for (const text of ['hi there!', 'how do I bake bread?', 'and what about cake?']) {
    await stage.hears(text);
    await stage.run();
  }
  assert.equal(await titleOf(stage), 'how do I bake bread?');
  assert.equal(stage.requests.length, 3);
  const titled = (await stage.entries()).filter(({ kind }) => kind === 'titled');
  assert.deepEqual(
    titled.map((entry) => entry.kind === 'titled' && [entry.title, entry.by]),
    [['how do I bake bread?', 'words']],
  );
});

test('a title that somebody chose stays, however little it says', async () => {
  const stage = await Stage.open();
  stage.script = [says('Hello.'), says('Flour.')];
  await stage.hears('hi');
  await stage.run();
  const lease = await stage.store.acquireLease(stage.sessionId, stage.owner, 1_000);
  assert.ok(lease);
  await stage.store.commit(lease, [{ verb: 'set-title', title: 'hello', by: 'person' }]);
  await stage.store.releaseLease(lease);
  await stage.hears('how do I bake bread?');
  await stage.run();
  assert.equal(await titleOf(stage), 'hello');
});

test('naming is in nobody’s way: it is cut short by a message, and done after the next answer', async () => {
  const arrival = new AbortController();
  const stage = await staged(
    says('With flour.'),
    async function* (_request, signal) {
      await stage.hears('and then?');
      arrival.abort();
      assert.equal(signal.aborted, true);
      yield { kind: 'failed', error: new ModelError('cancelled', 'It was cut short.') };
    },
    says('With water.'),
    says('Baking bread'),
  );
  stage.arrivals = [arrival.signal, arrival.signal, arrival.signal, arrival.signal];
  await stage.run();
  assert.equal(await titleOf(stage), 'Baking bread');
  const calls = await stage.store.read.modelCalls(stage.sessionId);
  assert.deepEqual(
    calls.map(({ purpose, state }) => [purpose, state]),
    [
      ['answer', 'completed'],
      ['title', 'cancelled'],
      ['answer', 'completed'],
      ['title', 'completed'],
    ],
  );
});
