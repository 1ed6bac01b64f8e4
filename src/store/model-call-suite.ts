/** Model calls: each is on record from before it starts, with how it ended and what it used. */
import assert from 'node:assert/strict';
import { noTokens, type ModelCallRecord } from '../protocol/usage.ts';
import {
  firstPrompt,
  modelCallEnded,
  modelCallStarted,
  someUsage,
  type FakeConversation,
} from './fake-conversation.ts';
import type { Declare } from './fake-world.ts';

export function modelCallSuite(declare: Declare): void {
  declare('a model call is on record when it starts and when it ends', async ({ store, clock, conversation }) => {
    const chat = conversation('alpha');
    const turnId = await chat.openTurn();
    const startedAt = clock.now();
    const id = await chat.startModelCall(turnId, {
      provider: 'anthropic',
      model: 'opus',
      keyId: 'key 7',
      purpose: 'summarise',
      prompt: firstPrompt('opus', 'a', 'b', 'c'),
      reservedUsd: 0.75,
    });
    const started: ModelCallRecord = {
      id,
      turnId,
      purpose: 'summarise',
      provider: 'anthropic',
      model: 'opus',
      keyId: 'key 7',
      state: 'started',
      startedAt,
      endedAt: null,
      usage: null,
      error: null,
      promptUnits: 3,
      promptUnitsKept: 0,
      prefixBreak: 'first-call',
    };
    assert.deepEqual(await store.read.modelCalls(chat.sessionId), [started]);
    await clock.advance(5);
    await chat.commit(modelCallEnded(id));
    const ended = { ...started, state: 'completed', endedAt: startedAt + 5, usage: someUsage };
    assert.deepEqual(await store.read.modelCalls(chat.sessionId), [ended]);

    const error = 'broken \ud800 off';
    const failed = await chat.callModel(
      turnId,
      { prompt: { ...firstPrompt('opus', 'd'), kept: 3, prefixBreak: null } },
      { outcome: 'failed', usage: null, error },
    );
    const [, second] = await store.read.modelCalls(chat.sessionId);
    assert.deepEqual(second, {
      ...started,
      id: failed,
      purpose: 'answer',
      provider: 'offline',
      model: 'rehearsal',
      keyId: 'key 1',
      state: 'failed',
      startedAt: startedAt + 5,
      endedAt: startedAt + 5,
      error,
      promptUnits: 4,
      promptUnitsKept: 3,
      prefixBreak: null,
    });
  });

  declare('calls are listed oldest first, all or of one turn, or of none', async ({ store, conversation }) => {
    const [chat, other] = [conversation('alpha'), conversation('beta')];
    const first = await chat.openTurn('one');
    const calls = [await chat.callModel(first), await chat.callModel(first)];
    await chat.closeTurn(first);
    calls.push(await chat.callModel(null, { purpose: 'title' }));
    await other.callModel(await other.openTurn('there'));
    const second = await chat.openTurn('two');
    calls.push(await chat.callModel(second));
    const idsOf = async (...args: Parameters<typeof store.read.modelCalls>) =>
      (await store.read.modelCalls(...args)).map((call) => [call.id, call.turnId]);
    const all = [first, first, null, second].map((turnId, index) => [calls[index], turnId]);
    assert.deepEqual(await idsOf(chat.sessionId), all);
    assert.deepEqual(await idsOf(chat.sessionId, first), all.slice(0, 2));
    assert.deepEqual(await idsOf(chat.sessionId, second), all.slice(3));
    assert.deepEqual(await idsOf(other.sessionId, first), []);
  });

  declare('a turn counts its calls without those that came to nothing', async ({ conversation }) => {
    const chat = conversation('alpha');
    const turnId = await chat.openTurn();
    const count = async () => (await chat.journal()).openTurn?.modelCalls;
    await chat.callModel(turnId);
    await chat.callModel(turnId, {}, { outcome: 'cancelled' });
    assert.equal(await count(), 1);
    await chat.startModelCall(turnId);
    assert.equal(await count(), 2);
    const failing = await chat.startModelCall(turnId);
    assert.equal(await count(), 2, 'the one before it was lost');
    await chat.commit(modelCallEnded(failing, { outcome: 'failed', usage: null, error: 'no' }));
    await chat.callModel(null, {}, { outcome: 'failed', usage: null, error: 'no' });
    assert.equal(await count(), 1);
  });

  declare('a call that is still under way when the next one starts is lost', async ({ store, clock, conversation }) => {
    const [chat, other] = [conversation('alpha'), conversation('beta')];
    const turnId = await chat.openTurn();
    await chat.startModelCall(null, { reservedUsd: 0.25 });
    await other.startModelCall(await other.openTurn('there'));
    await clock.advance(7);
    await chat.startModelCall(turnId);
    await chat.startModelCall(turnId);
    assert.deepEqual(
      (await store.read.modelCalls(chat.sessionId)).map(({ state, endedAt, usage }) => ({ state, endedAt, usage })),
      [
        { state: 'lost', endedAt: clock.now(), usage: { ...noTokens, usd: 0.25 } },
        { state: 'lost', endedAt: clock.now(), usage: { ...noTokens, usd: null } },
        { state: 'started', endedAt: null, usage: null },
      ],
    );
    assert.equal((await store.read.modelCalls(other.sessionId))[0]?.state, 'started');
  });

  declare('a turn that ends leaves no call of it under way', async ({ store, conversation }) => {
    for (const outcome of ['answered', 'stopped', 'failed', 'parked'] as const) {
      const chat = conversation(outcome);
      const turnId = await chat.openTurn();
      await chat.startModelCall(turnId, { reservedUsd: 0.5 });
      await chat.commit({ verb: 'close-turn', turnId, outcome, reply: null });
      const [call] = await store.read.modelCalls(chat.sessionId);
      assert.deepEqual([call?.state, call?.usage], ['lost', { ...noTokens, usd: 0.5 }]);
    }
    assert.deepEqual(await store.checkIntegrity(), []);
  });

  declare('a call is lost with the lease that it was started under', async ({ store, conversation }) => {
    const [released, replaced, beside] = [conversation('alpha'), conversation('beta'), conversation('gamma')];
    for (const chat of [released, replaced, beside]) {
      await chat.openTurn();
      await chat.startModelCall(null, { reservedUsd: 0.5 });
    }
    const stateOf = async (chat: FakeConversation) => (await store.read.modelCalls(chat.sessionId))[0]?.state;
    await store.releaseLease({ ...released.lease, token: released.lease.token + 1 });
    assert.equal(await stateOf(released), 'started');
    await store.releaseLease(released.lease);
    await replaced.own();
    assert.deepEqual(
      [await stateOf(released), await stateOf(replaced), await stateOf(beside)],
      ['lost', 'lost', 'started'],
    );
    assert.equal((await store.read.totals()).usage.usd, 1);
  });

  declare('a side job is not of the turn that ends meanwhile', async ({ store, conversation }) => {
    const chat = conversation('alpha');
    const turnId = await chat.openTurn();
    const title = await chat.startModelCall(null, { purpose: 'title' });
    await chat.closeTurn(turnId);
    await chat.commit(modelCallEnded(title));
    assert.equal((await store.read.modelCalls(chat.sessionId))[0]?.state, 'completed');
  });

  declare('a commit that fails leaves the call before it under way', async ({ store, ids, conversation }) => {
    const chat = conversation('alpha');
    const turnId = await chat.openTurn();
    await chat.startModelCall(turnId, { reservedUsd: 0.5 });
    const before = [await store.read.modelCalls(chat.sessionId), await store.read.totals()];
    const next = modelCallStarted(turnId, ids.next('mdl'), { prompt: { ...firstPrompt('new', 'a'), kept: 4 } });
    await assert.rejects(chat.commit(next), { reason: 'conflict' });
    assert.deepEqual([await store.read.modelCalls(chat.sessionId), await store.read.totals()], before);
  });

  declare('a session brought in from outside has no model calls', async ({ store, ids, conversation }) => {
    const chat = conversation('alpha');
    await chat.exchange('one', 'two');
    const { session, entries } = await chat.journal();
    const id = ids.next('ses');
    await store.importSession(id, 'web:direct:copy', 'owner', { ...session, name: 'copy', entries });
    assert.deepEqual(await store.read.modelCalls(id), []);
    assert.equal((await store.read.modelCalls(chat.sessionId)).length, 1);
  });

  declare('after reopening no call is under way', async ({ store, clock, ids, reopen, conversation }, context) => {
    if (reopen === null) return context.skip('nothing outlives this store');
    const chat = conversation('alpha');
    const turnId = await chat.openTurn();
    await chat.callModel(turnId);
    await chat.closeTurn(turnId);
    await chat.startModelCall(null, { purpose: 'title', reservedUsd: 0.125 });
    const before = await store.read.modelCalls(chat.sessionId);
    await clock.advance(9);
    const again = await reopen(ids.next('nod'));
    const [done, title] = before;
    assert.deepEqual(await again.read.modelCalls(chat.sessionId), [
      done,
      { ...title, state: 'lost', endedAt: clock.now(), usage: { ...noTokens, usd: 0.125 } },
    ]);
    assert.equal((await again.read.totals()).usage.usd, 0.625);
    assert.deepEqual(await again.checkIntegrity(), []);
  });
}
