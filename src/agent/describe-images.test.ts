import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ModelError, type ModelRequest, type Runtime } from '../models/model.ts';
import { scriptedRuntime } from '../models/scripted-model.ts';
import { textOf } from '../protocol/messages.ts';
import { asksFor, says, Stage } from './test-stage.ts';

const blind = (more: Partial<Runtime> = {}) => scriptedRuntime({ model: 'blind', seesImages: false, ...more });
const seer = scriptedRuntime({ model: 'seer' });

async function openStage(runtime = blind()): Promise<Stage> {
  const stage = await Stage.open();
  stage.runtimes = [runtime];
  stage.built = { ...stage.agent, seer };
  return stage;
}

function askedOf({ asked }: Stage): (string | undefined)[] {
  return asked.map((line) => line.split(' ')[0]);
}

function messagesOf(body: string | undefined): string[] {
  const { messages } = JSON.parse(body ?? '{}') as Pick<ModelRequest, 'messages'>;
  return messages.map((message) => `${message.role}: ${textOf(message)}`);
}

test('a model that can not see is told what another one saw, once, and that stays in its prompt', async () => {
  const stage = await openStage();
  const shown: ModelRequest[] = [];
  stage.script = [
    async function* (request) {
      shown.push(request);
      yield* says('1. a red square');
    },
    says('It is red.'),
  ];
  await stage.hears('which colour?', ['picture']);
  assert.equal(await stage.run(), 'rested');
  assert.deepEqual(askedOf(stage), ['seer', 'blind']);
  const { messages, contents } = shown[0] ?? assert.fail();
  const [asked] = messages.map(({ parts }) => parts.map(({ kind }) => kind));
  assert.deepEqual(asked, ['text', 'image']);
  assert.deepEqual(
    [...contents.values()].map((bytes) => Buffer.from(bytes).toString()),
    ['picture'],
  );
  const saw = "user: [From Talaria: you can't see pictures. Another model looked at what was attached and says:]\n";
  assert.deepEqual(messagesOf(stage.requests[1]), ['user: which colour?', `${saw}1. a red square`]);

  stage.script = [says('Still red.')];
  await stage.hears('sure?');
  await stage.run();
  assert.deepEqual(askedOf(stage), ['seer', 'blind', 'blind']);
  const calls = await stage.store.read.modelCalls(stage.sessionId);
  assert.deepEqual(
    calls.map(({ purpose, prefixBreak }) => [purpose, prefixBreak]),
    [
      ['vision', 'first-call'],
      ['answer', 'first-call'],
      ['answer', null],
    ],
  );
  assert.deepEqual(await stage.store.checkIntegrity(), []);
});

test('a model that sees is shown the picture itself', async () => {
  const stage = await openStage(blind({ seesImages: true }));
  stage.script = [says('red')];
  await stage.hears('which colour?', ['picture']);
  await stage.run();
  assert.deepEqual(askedOf(stage), ['blind']);
});

test('pictures that a tool brings are looked at before the model goes on', async () => {
  const stage = await openStage();
  const image = { bytes: Buffer.from('screen'), mediaType: 'image/png' };
  stage.tools = { look: { run: () => ({ kind: 'finished', text: 'here', images: [image] }) } };
  stage.script = [asksFor(['look', '{}']), says('1. a page'), says('a page it is')];
  await stage.hears('what is on the screen?');
  await stage.run();
  assert.deepEqual(askedOf(stage), ['blind', 'seer', 'blind']);
  assert.match(messagesOf(stage.requests[2]).at(-1) ?? '', /1\. a page$/);
});

test('one that nobody can describe is said to be there, and is not looked at again', async () => {
  const stage = await openStage();
  const fails = new ModelError('server', 'It can not.', { retryable: false });
  stage.script = [[{ kind: 'failed', error: fails }], says('I can not see it.')];
  await stage.hears('which colour?', ['picture']);
  await stage.run();
  assert.match(messagesOf(stage.requests[1]).at(-1) ?? '', /could not describe this one/);
  assert.equal((await stage.told()).at(-1), 'closed: answered');
});

test('C85 killed at every commit, it is described and answered once', async () => {
  for (let dieAt = 1; ; dieAt += 1) {
    const stage = await openStage();
    await stage.hears('which colour?', ['picture']);
    let commits = 0;
    stage.beforeCommit = () => {
      commits += 1;
      if (commits === dieAt) stage.dies();
      if (commits === dieAt) throw new Error('dead');
    };
    const reply: Stage['script'][number] = async function* (request) {
      yield* says(request.systemPrompt.startsWith('You look') ? '1. red' : 'It is red.');
    };
    stage.script = Array.from({ length: 8 }, () => reply);
    const isKilled = await stage.run().then(
      () => false,
      () => true,
    );
    if (isKilled) {
      stage.livesAgain();
      stage.built = { ...stage.agent, seer };
      const lease = await stage.store.acquireLease(stage.sessionId, stage.owner, 30_000);
      if (lease !== null) await stage.store.releaseLease(lease);
      await stage.run();
    }
    const told = await stage.told();
    assert.equal(told.filter((line) => line.includes('1. red')).length, 1, `killed at ${dieAt}`);
    assert.equal(told.at(-1), 'closed: answered');
    if (!isKilled) return;
  }
});

test('what it was told about pictures is no order to come to an end', async () => {
  const stage = await openStage();
  stage.settings = { ...stage.settings, limits: { ...stage.settings.limits, modelCallsMax: 1 } };
  stage.tools = { look: { run: () => 'seen' } };
  stage.script = [says('1. red'), asksFor(['look', '{}']), says('That is where it stands.')];
  await stage.hears('which colour?', ['picture']);
  await stage.run();
  assert.match(messagesOf(stage.requests[2]).at(-1) ?? '', /has used up its model calls/);
});
