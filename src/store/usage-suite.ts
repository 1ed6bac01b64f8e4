/** What models used, by day, channel, user, model and purpose. */
import assert from 'node:assert/strict';
import { noTokens, type UsageSum } from '../protocol/usage.ts';
import { modelCallEnded, someUsage } from './fake-conversation.ts';
import type { Declare } from './fake-world.ts';

const { usd: _usd, ...someTokens } = someUsage;

/** One call with `someUsage`, as most of these tests make it. */
const one: UsageSum = {
  day: '2026-01-01',
  channel: 'web',
  user: 'ada',
  provider: 'offline',
  model: 'rehearsal',
  purpose: 'answer',
  calls: 1,
  ...someTokens,
  usd: 0.5,
  unpricedCalls: 0,
};

const twice: UsageSum = {
  ...one,
  calls: 2,
  inputTokens: 20,
  cachedTokens: 8,
  cacheWriteTokens: 4,
  outputTokens: 6,
  reasoningTokens: 2,
  usd: 1,
};

export function usageSuite(declare: Declare): void {
  declare('calls add up by day, channel, user, model and purpose', async ({ store, conversation }) => {
    const [chat, other] = [conversation('alpha'), conversation('beta')];
    const turnId = await chat.openTurn('one', { sender: 'ada' });
    const elsewhere = await other.openTurn('two', { sender: 'ada' });
    await chat.callModel(turnId);
    await other.callModel(elsewhere);
    for (const changes of [
      { day: '2026-01-02' },
      { provider: 'openai' },
      { model: 'other' },
      { purpose: 'vision' },
    ] as const) {
      await chat.callModel(turnId, changes);
    }
    await chat.closeTurn(turnId);
    await chat.callModel(await chat.openTurn('three', { sender: 'bob', channel: 'telegram' }));
    assert.deepEqual(await store.read.usageSums('2026-01-01'), [
      { ...one, day: '2026-01-02' },
      { ...one, channel: 'telegram', user: 'bob' },
      { ...one, model: 'other' },
      twice,
      { ...one, purpose: 'vision' },
      { ...one, provider: 'openai' },
    ]);
    assert.deepEqual(await store.read.usageSums('2026-01-02'), [{ ...one, day: '2026-01-02' }]);
    assert.deepEqual(await store.read.usageSums('2026-01-03'), []);
    assert.deepEqual(await store.checkIntegrity(), []);
  });

  declare('a call is of whoever wrote the first message of its turn', async ({ store, ids, conversation }) => {
    const chat = conversation('alpha');
    const first = await chat.say('one', { sender: 'ada \ud800' });
    const second = await chat.say('two', { sender: 'bob', channel: 'telegram' });
    const third = await chat.say('three', { sender: 'cy', channel: 'slack' });
    await chat.own();
    const turnId = ids.next('trn');
    await chat.commit({ verb: 'open-turn', turnId, promote: [first, second] });
    await chat.commit({ verb: 'join-turn', turnId, promote: [third] });
    await chat.callModel(turnId);
    assert.deepEqual(await store.read.usageSums(''), [{ ...one, user: 'ada \ud800' }]);
  });

  declare('a side job is of whoever spoke last; of nobody if nobody did', async ({ store, ids, conversation }) => {
    const chat = conversation('alpha');
    for (const sender of ['ada', 'bob']) await chat.closeTurn(await chat.openTurn(sender, { sender }));
    await chat.callModel(null);
    const silent = conversation('beta');
    await silent.say('not yet');
    await silent.own();
    await silent.callModel(null);
    await silent.commit({ verb: 'open-turn', turnId: ids.next('trn'), promote: [] });
    await silent.callModel(null);
    assert.deepEqual(await store.read.usageSums(''), [
      { ...twice, channel: '', user: '' },
      { ...one, user: 'bob' },
    ]);
  });

  declare('only what was used counts, at its price if it has one', async ({ store, conversation }) => {
    const chat = conversation('alpha');
    const turnId = await chat.openTurn('one', { sender: 'ada' });
    await chat.startModelCall(turnId, { reservedUsd: 8 });
    assert.deepEqual(await store.read.usageSums(''), []);
    await chat.callModel(turnId, {}, { outcome: 'failed', usage: null, error: 'no' });
    await chat.callModel(turnId, {}, { outcome: 'cancelled', usage: { ...someUsage, usd: null } });
    await chat.callModel(turnId, {}, { outcome: 'failed', usage: someUsage, error: 'late' });
    await chat.startModelCall(turnId);
    await chat.closeTurn(turnId);
    // The two lost ones: one at what was reserved for it, one at nobody knows what.
    assert.deepEqual(await store.read.usageSums(''), [{ ...twice, calls: 4, usd: 8.5, unpricedCalls: 2 }]);
    const { usage, unpricedCalls } = await store.read.totals();
    const { inputTokens, cachedTokens, cacheWriteTokens, outputTokens, reasoningTokens } = twice;
    assert.deepEqual(
      [usage, unpricedCalls],
      [{ inputTokens, cachedTokens, cacheWriteTokens, outputTokens, reasoningTokens, usd: 8.5 }, 2],
    );
    assert.deepEqual(await store.checkIntegrity(), []);
  });

  declare('removing a session takes nothing away, and what it had under way is counted', async (world) => {
    const { store, conversation } = world;
    const chat = conversation('alpha');
    const turnId = await chat.openTurn('one', { sender: 'ada' });
    await chat.callModel(turnId);
    await chat.closeTurn(turnId);
    await chat.startModelCall(null, { reservedUsd: 0.25 });
    await store.deleteSession(chat.sessionId);
    assert.deepEqual(await store.read.usageSums(''), [{ ...one, calls: 2, usd: 0.75 }]);
    assert.deepEqual(await store.read.modelCalls(chat.sessionId), []);
    assert.equal((await store.read.totals()).usage.usd, 0.75);
    assert.deepEqual(await store.checkIntegrity(), []);
  });

  declare('sums outlive the process', async ({ store, ids, reopen, conversation }, context) => {
    if (reopen === null) return context.skip('nothing outlives this store');
    const chat = conversation('alpha');
    const turnId = await chat.openTurn('one', { sender: 'ada' });
    await chat.callModel(turnId);
    const underWay = await chat.startModelCall(turnId, { reservedUsd: 0.25, day: '2026-01-02' });
    assert.deepEqual(await store.read.usageSums(''), [one]);
    const again = await reopen(ids.next('nod'));
    assert.deepEqual(await again.read.usageSums(''), [{ ...one, ...noTokens, day: '2026-01-02', usd: 0.25 }, one]);
    await assert.rejects(again.commit(chat.lease, [modelCallEnded(underWay)]), { reason: 'lease-lost' });
  });
}
