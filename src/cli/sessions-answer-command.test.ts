import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FakeApi, FakeHome } from '../../test/support/fake-api.ts';
import { answerQuestion } from './sessions-answer-command.ts';

const deadline = 9_000;

async function setUp(isTaken = true) {
  const home = new FakeHome();
  const session = home.create('work');
  const turnId = home.openTurn(session, home.ids.next('inb'));
  const api = new FakeApi(home, { onAnswer: () => isTaken });
  const ask = (choices: string[] | null) => home.ask(session, turnId, { text: 'Sure?', choices, deadline });
  const give = async (text: string, callId: string | null = null, now = 0) => {
    const summary = await api.session('work');
    assert.ok(summary);
    return answerQuestion(api, summary, { callId, text }, now);
  };
  return { home, session, turnId, api, ask, give };
}

describe('answering from the command line', () => {
  test('the newest question is meant, unless a call is named', async () => {
    const { api, ask, give } = await setUp();
    const [first, second] = [ask(['yes', 'no']), ask(null)];
    assert.equal(await give('2'), '2');
    assert.equal(await give('2', first), 'no');
    assert.deepEqual(
      api.calls.filter((call) => call.startsWith('answer')),
      [`answer ${second} 2`, `answer ${first} no`],
    );
  });

  test('what is no answer is wrong usage that names the choices', async () => {
    const { ask, give } = await setUp();
    ask(['yes', 'no']);
    await assert.rejects(give('perhaps'), { exitCode: 2, message: 'answer with one of: yes, no' });
  });

  test('a question that does not wait is said so', async () => {
    const { ask, give, home, session, turnId } = await setUp(false);
    const none = { exitCode: 1, message: /^no question waits in "work"; see it with: talaria sessions show "work"$/ };
    await assert.rejects(give('yes'), none);
    const callId = ask(null);
    await assert.rejects(give('too late', null, deadline), none);
    await assert.rejects(give('x', 'cal_other'), { exitCode: 1, message: new RegExp(`those that do: ${callId}$`) });
    await assert.rejects(give('somebody was faster'), none);
    home.close(session, turnId, 'stopped');
    await assert.rejects(give('over'), none);
  });
});
