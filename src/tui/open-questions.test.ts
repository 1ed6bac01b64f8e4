import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FakeApi, FakeHome } from '../../test/support/fake-api.ts';
import { answerIn, isWaiting, openQuestions, questionsAfter, type OpenQuestions } from './open-questions.ts';

const asked = { text: 'Sure?', choices: ['yes', 'no'], deadline: 9_000 };

function setUp() {
  const home = new FakeHome();
  const session = home.create('work');
  const turnId = home.openTurn(session, home.ids.next('inb'));
  const open = () => session.entries.reduce<OpenQuestions>(questionsAfter, []);
  return { home, session, turnId, open };
}

describe('open questions', () => {
  test('wait until their call has a result', () => {
    const { home, session, turnId, open } = setUp();
    const first = home.ask(session, turnId, asked);
    const second = home.ask(session, turnId, { ...asked, choices: null });
    home.append(session, turnId, { kind: 'notice', text: 'only a word' });
    assert.deepEqual(open(), [
      { ...asked, callId: first, turnId },
      { ...asked, callId: second, turnId, choices: null },
    ]);
    home.settle(session, turnId, first, 'done');
    assert.deepEqual(
      open().map(({ callId }) => callId),
      [second],
    );
  });

  test('are replaced by the next question of the same call', () => {
    const { home, session, turnId, open } = setUp();
    const callId = home.ask(session, turnId, asked);
    const question = { callId, choices: null, deadline: 10_000 };
    home.append(session, turnId, { kind: 'notice', text: 'Really?', question });
    assert.deepEqual(open(), [{ ...question, turnId, text: 'Really?' }]);
  });

  test('end with their turn, not with another one', () => {
    const { home, session, turnId, open } = setUp();
    home.ask(session, turnId, asked);
    home.close(session, home.ids.next('trn'), 'answered');
    assert.equal(open().length, 1);
    home.close(session, turnId, 'stopped');
    assert.deepEqual(open(), []);
  });

  test('are found in the log of a running session only', async () => {
    const { home, session, turnId } = setUp();
    home.ask(session, turnId, asked);
    const api = new FakeApi(home);
    const summary = { id: session.id, lastSeq: session.entries.length };
    assert.equal((await openQuestions(api, { ...summary, state: 'running' })).length, 1);
    assert.deepEqual(await openQuestions(api, { ...summary, state: 'idle' }), []);
  });

  test('wait strictly before their deadline', () => {
    const question = { ...asked, callId: new FakeHome().ids.next('cal'), turnId: null };
    assert.deepEqual([isWaiting(question, 8_999), isWaiting(question, 9_000)], [true, false]);
  });

  test('take a choice by its word or number, and nothing else', () => {
    const choices = ['yes', 'No', '1'];
    const answers = ['yes', ' YES ', 'no', '2', '1', '4', '0', 'yep', '', 'yes please'];
    assert.deepEqual(
      answers.map((text) => answerIn({ choices }, text)),
      ['yes', 'yes', 'No', 'No', '1', null, null, null, null, null],
    );
  });

  test('take any text where any will do', () => {
    assert.deepEqual(
      [answerIn({ choices: null }, ' 2 of them '), answerIn({ choices: null }, '  ')],
      ['2 of them', null],
    );
  });
});
