import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countingIdSource } from '../lib/ids.ts';
import { questionButtons, questionText, readPressedChoice } from './questions.ts';
import { Stage, asksFor, says } from './test-stage.ts';

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

test('a question is asked where the newest message came from, with a button for each choice', async () => {
  const stage = await stageThatAsks();
  const [asked] = await stage.store.claimDeliveries(stage.owner, 9);
  const journal = await stage.store.read.journal(stage.sessionId, 0);
  const callId = journal?.unsettledCalls[0]?.id;
  assert.ok(asked !== undefined && callId !== undefined);
  assert.deepEqual([asked.channel, asked.target, asked.text], ['cli', 'x', 'Shall I?']);
  assert.deepEqual(
    asked.buttons.map(({ label, value }) => [label, readPressedChoice(value)]),
    [
      ['yes', { callId, index: 0 }],
      ['no', { callId, index: 1 }],
    ],
  );
});

test('a button carries at most 64 bytes, and what is no choice is not read as one', () => {
  const callId = countingIdSource().next('cal');
  const choices = Array.from({ length: 999 }, (_, index) => `${index} ${'🙂'.repeat(100)}`);
  const buttons = questionButtons(callId, { text: '?', choices, deadline: 0 });
  for (const { value, label } of buttons) {
    assert.ok(Buffer.byteLength(value) <= 64);
    assert.ok(label.length <= 60 && label.isWellFormed() && !label.includes('\ufffd'), label);
  }
  for (const value of [
    '',
    '/new yes',
    callId,
    `${callId}:`,
    `${callId}:x`,
    `${callId}:-1`,
    'cal_short:1',
    `${callId}:1:1`,
  ])
    assert.equal(readPressedChoice(value), null, value);
});

test('choices that no button shows whole stand in the text', () => {
  const [short, long] = ['Yes', 'No, '.repeat(30)];
  assert.equal(questionText({ text: 'Now?', choices: [short], deadline: 0 }), 'Now?');
  assert.equal(questionText({ text: 'Now?', choices: [short, long], deadline: 0 }), `Now?\n\n1. Yes\n2. ${long}`);
});

test('a question without choices says how to answer it', () => {
  assert.match(questionText({ text: 'Where to?', choices: null, deadline: 0 }), /^Where to\?\n\nWrite your answer\.$/);
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
  stage.livesAgain();
  await stage.run();
  const told = await stage.told();
  assert.equal(told.filter((line) => line.startsWith('notice')).length, 1);
  assert.match(told.at(-3) ?? '', /^result: unknown/);
});
