/** What outlives the process. For stores that do. */
import assert from 'node:assert/strict';
import { present } from '../lib/assert.ts';
import { leaseTtlMs, type FakeConversation } from './fake-conversation.ts';
import type { Store } from './store.ts';
import type { Declare, SuiteWorld } from './fake-world.ts';

/** `test` gets the reopened store. */
function afterReopening(
  declare: Declare,
  title: string,
  prepare: (chat: FakeConversation, world: SuiteWorld) => Promise<void>,
  test: (store: Store, chat: FakeConversation, world: SuiteWorld) => Promise<void>,
): void {
  declare(title, async (world, context) => {
    if (world.reopen === null) return context.skip('nothing outlives this store');
    const chat = world.conversation('alpha');
    await prepare(chat, world);
    await test(await world.reopen(world.ids.next('nod')), chat, world);
  });
}

export function reopenSuite(declare: Declare): void {
  declare('everything is there after reopening', async ({ store, ids, reopen, conversation }, context) => {
    if (reopen === null) return context.skip('nothing outlives this store');
    const chat = conversation('alpha');
    await chat.exchange('one', 'two');
    const turnId = await chat.openTurn('three');
    await chat.planCalls(turnId, 2);
    await chat.say('four');
    await store.search('one', 1);
    const [journal, totals] = [await chat.journal(), await store.read.totals()];
    const again = await reopen(ids.next('nod'));
    assert.deepEqual(await again.read.journal(chat.sessionId, 0), journal);
    assert.deepEqual(await again.read.totals(), totals);
    assert.equal((await again.search('one', 10)).length, 1);
    assert.deepEqual(await again.checkIntegrity(), []);
    assert.deepEqual(await again.admit(chat.admission('one')), {
      kind: 'duplicate',
      record: await again.read.inbox(present(journal.entries.find((entry) => 'inboxId' in entry)?.inboxId, 'the id')),
      session: journal.session,
    });
  });

  afterReopening(
    declare,
    'C90 C91 a lease that was not released is free at once, counts a crash, and its owner can write no more',
    async (chat) => void (await chat.openTurn()),
    async (store, chat, { ids }) => {
      const late = store.commit(chat.lease, [{ verb: 'notice', turnId: null, text: 'late' }]);
      await assert.rejects(late, { reason: 'lease-lost' });
      const lease = await store.acquireLease(chat.sessionId, ids.next('nod'), leaseTtlMs);
      assert.equal(lease?.token, 2);
      assert.equal((await store.read.journal(chat.sessionId, 0))?.openTurn?.crashes, 1);
      await assert.rejects(store.commit(chat.lease, []), { reason: 'lease-lost' });
    },
  );

  afterReopening(
    declare,
    'C90 a lease that was released counts no crash',
    async (chat) => {
      await chat.openTurn();
      await chat.store.releaseLease(chat.lease);
    },
    async (store, chat, { ids }) => {
      await store.acquireLease(chat.sessionId, ids.next('nod'), leaseTtlMs);
      assert.equal((await store.read.journal(chat.sessionId, 0))?.openTurn?.crashes, 0);
    },
  );

  afterReopening(
    declare,
    'C89 a delivery that was under way is due again, and says that it may be a repetition',
    async (chat, { store, owner }) => {
      await chat.exchange('one', 'two');
      await chat.exchange('three', 'four');
      await store.claimDeliveries(owner, 10);
    },
    async (store, _chat, { ids }) => {
      const claimed = await store.claimDeliveries(ids.next('nod'), 10);
      assert.deepEqual(
        claimed.map(({ text, attempts, partsSent, maybeSent }) => ({ text, attempts, partsSent, maybeSent })),
        [{ text: 'two', attempts: 2, partsSent: 0, maybeSent: true }],
      );
    },
  );

  afterReopening(
    declare,
    'C89 of a delivery in parts only the one that was under way may be a repetition',
    async (chat, { store, owner }) => {
      await chat.exchange('one', 'two');
      const [claimed] = await store.claimDeliveries(owner, 10);
      await store.recordPartSent(present(claimed, 'the delivery').id, 'message 1');
      await store.recordPartSent(present(claimed, 'the delivery').id, 'message 2');
    },
    async (store, _chat, { ids }) => {
      const claimed = await store.claimDeliveries(ids.next('nod'), 10);
      assert.deepEqual(
        claimed.map(({ attempts, partsSent, maybeSent }) => ({ attempts, partsSent, maybeSent })),
        [{ attempts: 2, partsSent: 2, maybeSent: true }],
      );
    },
  );

  afterReopening(
    declare,
    'C90 a parked turn whose owner died right after parking it is tried again without a crash behind it',
    async (chat) => {
      const turnId = await chat.openTurn();
      await chat.commit({ verb: 'close-turn', turnId, outcome: 'parked', reply: null });
    },
    async (store, chat, { ids }) => {
      assert.equal(await store.retryParked(chat.sessionId), true);
      await store.acquireLease(chat.sessionId, ids.next('nod'), leaseTtlMs);
      assert.equal((await store.read.journal(chat.sessionId, 0))?.openTurn?.crashes, 0);
    },
  );
}
