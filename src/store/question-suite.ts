/** Calls that wait for a person: a stored state that anyone may answer, once, and that ends like every other. */
import assert from 'node:assert/strict';
import type { CallId, TurnId } from '../protocol/ids.ts';
import { toolResult, type FakeConversation } from './fake-conversation.ts';
import type { Declare } from './fake-world.ts';

const question = { text: 'Shall I?', choices: ['yes', 'no'], deadline: 99 };

async function ask(chat: FakeConversation): Promise<{ turnId: TurnId; callId: CallId }> {
  const turnId = await chat.openTurn();
  const [callId] = await chat.planCalls(turnId, 1);
  assert.ok(callId);
  await chat.commit({ verb: 'start-call', turnId, callId }, { verb: 'ask', turnId, callId, question, reply: null });
  return { turnId, callId };
}

export function questionSuite(declare: Declare): void {
  declare('a call that asks waits, with its question stored and shown', async ({ conversation }) => {
    const chat = conversation('alpha');
    const { callId } = await ask(chat);
    const { unsettledCalls, entries } = await chat.journal();
    const [call] = unsettledCalls;
    assert.deepEqual([call?.state, call?.question, call?.answer], ['waiting', question, null]);
    const shown = entries.at(-1);
    assert.deepEqual(shown?.kind === 'notice' && [shown.text, shown.question], [
      'Shall I?',
      { callId, choices: ['yes', 'no'], deadline: 99 },
    ]);
  });

  declare(
    'what asks the person is queued with the question, or neither is',
    async ({ store, ids, owner, conversation }) => {
      const chat = conversation('alpha');
      const turnId = await chat.openTurn();
      const [first, second] = await chat.planCalls(turnId, 2);
      assert.ok(first && second);
      const reply = chat.reply('Shall I?', { buttons: [{ label: 'yes', value: `${first}:0` }] });
      await chat.commit({ verb: 'start-call', turnId, callId: first }, { verb: 'start-call', turnId, callId: second });
      await chat.commit({ verb: 'ask', turnId, callId: first, question, reply });
      const [claimed, ...others] = await store.claimDeliveries(owner, 10);
      assert.deepEqual(others, []);
      assert.deepEqual(
        [claimed?.id, claimed?.sessionId, claimed?.turnId, claimed?.text, claimed?.buttons],
        [reply.outboxId, chat.sessionId, turnId, 'Shall I?', reply.buttons],
      );
      const before = await chat.journal();
      await assert.rejects(chat.commit({ verb: 'ask', turnId, callId: second, question, reply }), {
        reason: 'conflict',
      });
      await assert.rejects(
        chat.commit(
          { verb: 'ask', turnId, callId: second, question, reply: chat.reply('And this?') },
          { verb: 'start-call', turnId, callId: ids.next('cal') },
        ),
        { reason: 'conflict' },
      );
      assert.deepEqual(await chat.journal(), before);
      assert.equal((await store.read.totals()).outboxPending, 1);
    },
  );

  declare('the first answer counts, and needs no lease', async ({ store, conversation }) => {
    const chat = conversation('alpha');
    const { callId } = await ask(chat);
    await store.releaseLease(chat.lease);
    const answers = await Promise.all(['a\ud800', 'b'].map((text) => store.answerCall(chat.sessionId, callId, text)));
    assert.deepEqual(answers, [true, false]);
    assert.equal((await chat.journal()).unsettledCalls[0]?.answer, 'a\ud800');
  });

  declare('only a waiting call of this session can be answered', async ({ store, ids, conversation }) => {
    const chat = conversation('alpha');
    const turnId = await chat.openTurn();
    const [planned, started] = await chat.planCalls(turnId, 2);
    assert.ok(planned && started);
    await chat.commit({ verb: 'start-call', turnId, callId: started });
    for (const callId of [planned, started, ids.next('cal')]) {
      assert.equal(await store.answerCall(chat.sessionId, callId, 'yes'), false);
    }
    const other = conversation('beta');
    const { callId } = await ask(other);
    assert.equal(await store.answerCall(chat.sessionId, callId, 'yes'), false);
  });

  declare('only a started call can ask; a waiting one can start again or be settled', async ({ conversation }) => {
    const chat = conversation('alpha');
    const { turnId, callId } = await ask(chat);
    await assert.rejects(chat.commit({ verb: 'ask', turnId, callId, question, reply: null }), { reason: 'conflict' });
    await chat.commit({ verb: 'start-call', turnId, callId });
    assert.equal((await chat.journal()).unsettledCalls[0]?.state, 'started');
    await chat.commit({ verb: 'ask', turnId, callId, question, reply: null });
    await chat.commit({ verb: 'settle-call', turnId, callId, message: toolResult(callId, 'skipped', 'never mind') });
    assert.deepEqual((await chat.journal()).unsettledCalls, []);
    await assert.rejects(chat.commit({ verb: 'ask', turnId, callId, question, reply: null }), { reason: 'conflict' });
  });

  declare('a turn does not close over a call that waits', async ({ conversation }) => {
    const chat = conversation('alpha');
    const { turnId } = await ask(chat);
    const close = { verb: 'close-turn', turnId, outcome: 'answered', reply: null } as const;
    await assert.rejects(chat.commit(close), { reason: 'conflict' });
  });
}
