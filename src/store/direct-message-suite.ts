/** Messages that no turn wrote: queued at once, answered once, in order where they belong. */
import assert from 'node:assert/strict';
import { present } from '../lib/assert.ts';
import type { NodeId, OutboxId } from '../protocol/ids.ts';
import type { Declare } from './fake-world.ts';
import type { DirectMessage, Store } from './store.ts';

const dayMs = 24 * 60 * 60 * 1000;

async function claimedTexts(store: Store, owner: NodeId): Promise<string[]> {
  return (await store.claimDeliveries(owner, 20)).map((delivery) => delivery.text);
}

function alone(id: OutboxId, text: string, changes: Partial<DirectMessage> = {}): DirectMessage {
  return {
    outboxId: id,
    sessionId: null,
    channel: 'web',
    target: 'here',
    text,
    buttons: [],
    answers: null,
    ...changes,
  };
}

export function directMessageSuite(declare: Declare): void {
  declare('a message of no session goes out as it was queued, buttons and all', async ({ store, ids, owner }) => {
    const buttons = [
      { label: 'Yes \ud800', value: '/new yes' },
      { label: 'No', value: '/new no' },
    ];
    const message = alone(ids.next('out'), 'Sure? \ud800', { target: 'there \ud800', buttons });
    assert.equal(await store.queueMessage(message), true);
    assert.equal((await store.read.totals()).outboxPending, 1);
    const [claimed, ...others] = await store.claimDeliveries(owner, 10);
    assert.deepEqual(others, []);
    assert.deepEqual(claimed, {
      id: message.outboxId,
      sessionId: null,
      turnId: null,
      channel: 'web',
      target: 'there \ud800',
      text: 'Sure? \ud800',
      buttons,
      file: null,
      draftId: null,
      state: 'attempting',
      attempts: 1,
      partsSent: 0,
      maybeSent: false,
    });
    await store.recordPartSent(message.outboxId, 'message 1');
    await store.settleDelivery(message.outboxId, { kind: 'sent', platformId: 'message 2' });
    assert.deepEqual([await claimedTexts(store, owner), (await store.read.totals()).outboxPending], [[], 0]);
    assert.deepEqual(await store.checkIntegrity(), []);
  });

  declare(
    'without a session, one at a time per channel and target, oldest first',
    async ({ store, ids, clock, owner }) => {
      const queue = async (text: string, changes: Partial<DirectMessage>) => {
        const message = alone(ids.next('out'), text, changes);
        await store.queueMessage(message);
        return message.outboxId;
      };
      const first = await queue('a1', { target: 'a' });
      await queue('a2', { target: 'a' });
      await queue('b1', { target: 'b' });
      await queue('other a1', { target: 'a', channel: 'telegram' });
      assert.deepEqual(await claimedTexts(store, owner), ['a1', 'b1', 'other a1']);
      assert.deepEqual(await claimedTexts(store, owner), []);
      await store.settleDelivery(first, { kind: 'retry', notBefore: clock.now() + 5, maybeSent: false, error: 'x' });
      assert.deepEqual(await claimedTexts(store, owner), []);
      await clock.advance(5);
      assert.deepEqual(await claimedTexts(store, owner), ['a1']);
      await store.settleDelivery(first, { kind: 'failed', error: 'x' });
      assert.deepEqual(await claimedTexts(store, owner), ['a2']);
    },
  );

  declare('in a session, in the order of its replies', async ({ store, owner, conversation }) => {
    const [chat, other] = [conversation('alpha'), conversation('beta')];
    await chat.exchange('q', 'reply');
    await other.say('hello');
    await store.queueMessage(chat.direct('status'));
    // Another session, and no session at all, are not held up by it, although the place is the same.
    await store.queueMessage(other.direct('beside', { target: 'to alpha' }));
    await store.queueMessage(chat.direct('alone', { sessionId: null }));
    assert.deepEqual(await claimedTexts(store, owner), ['reply', 'beside', 'alone']);
  });

  declare('the same message is answered once, whoever asks, however often', async ({ store, ids, conversation }) => {
    const chat = conversation('alpha');
    await chat.say('hello');
    const answers = { channel: 'web', externalId: 'update \ud800' };
    const wasAnswered = () => store.read.wasAnswered('web', 'update \ud800');
    assert.equal(await wasAnswered(), false);
    const attempts = Array.from({ length: 20 }, (_, index) =>
      store.queueMessage(
        index % 2 === 0 ? chat.direct('yes', { answers }) : alone(ids.next('out'), 'yes', { answers }),
      ),
    );
    assert.deepEqual((await Promise.all(attempts)).filter(Boolean), [true]);
    assert.equal((await store.read.totals()).outboxPending, 1);
    assert.equal(await wasAnswered(), true);
    for (const other of [
      { channel: 'telegram', externalId: 'update \ud800' },
      { channel: 'web', externalId: 'update \ud801' },
    ]) {
      assert.equal(await store.read.wasAnswered(other.channel, other.externalId), false);
      assert.equal(await store.queueMessage(chat.direct('yes', { answers: other })), true);
    }
    // What answers nothing may be said again and again.
    for (const text of ['news', 'news']) assert.equal(await store.queueMessage(chat.direct(text)), true);
    assert.equal((await store.read.totals()).outboxPending, 5);
  });

  declare('a message that was answered stays so for 30 days, also without its session', async (world) => {
    const { store, clock, conversation } = world;
    const [chat, other] = [conversation('alpha'), conversation('beta')];
    await chat.say('hello');
    await other.say('hello');
    const answers = { channel: 'web', externalId: 'x' };
    await store.queueMessage(chat.direct('yes', { answers }));
    await store.deleteSession(chat.sessionId);
    await clock.advance(30 * dayMs - 1);
    assert.equal(await store.queueMessage(other.direct('yes', { answers })), false);
    await clock.advance(1);
    assert.equal(await store.queueMessage(other.direct('yes', { answers })), true);
    assert.equal(await store.queueMessage(other.direct('yes', { answers })), false);
  });

  declare('what can not be queued answers nothing', async ({ store, ids, conversation }) => {
    const chat = conversation('alpha');
    await chat.say('hello');
    const answers = { channel: 'web', externalId: 'x' };
    const misfit = { name: 'StoreError', reason: 'conflict' };
    await assert.rejects(store.queueMessage(chat.direct('lost', { answers, sessionId: ids.next('ses') })), misfit);
    assert.equal(await store.read.wasAnswered('web', 'x'), false);
    const message = chat.direct('yes', { answers });
    assert.equal(await store.queueMessage(message), true);
    const again = { ...message, answers: { channel: 'web', externalId: 'y' } };
    await assert.rejects(store.queueMessage(again), misfit);
    assert.equal(await store.queueMessage({ ...again, outboxId: ids.next('out') }), true);
    assert.equal((await store.read.totals()).outboxPending, 2);
  });

  declare(
    'what was delivered to no session is forgotten after 30 days',
    async ({ store, ids, clock, owner, conversation }) => {
      const chat = conversation('alpha');
      await chat.say('hello');
      const old = [alone(ids.next('out'), 'a', { target: 'a' }), chat.direct('b')] as const;
      const waiting = alone(ids.next('out'), 'c', { target: 'c' });
      for (const message of old) await store.queueMessage(message);
      for (const { id } of await store.claimDeliveries(owner, 10)) {
        await store.settleDelivery(id, { kind: 'failed', error: 'x' });
      }
      await store.queueMessage(waiting);
      await clock.advance(30 * dayMs);
      await store.queueMessage(alone(ids.next('out'), 'd', { target: 'd' }));
      // The one of no session is gone, the session's is not, and what was never sent still is to be.
      await store.settleDelivery(old[0].outboxId, { kind: 'failed', error: 'x' });
      await assert.rejects(store.settleDelivery(old[1].outboxId, { kind: 'failed', error: 'x' }), {
        reason: 'conflict',
      });
      assert.deepEqual(await claimedTexts(store, owner), ['c', 'd']);
    },
  );

  declare('queued and answered outlive the process', async ({ store, ids, owner, reopen }, context) => {
    if (reopen === null) return context.skip('nothing outlives this store');
    const answers = { channel: 'web', externalId: 'x' };
    await store.queueMessage(alone(ids.next('out'), 'yes', { answers }));
    await store.queueMessage(alone(ids.next('out'), 'more'));
    const [claimed] = await store.claimDeliveries(owner, 10);
    const again = await reopen(ids.next('nod'));
    assert.equal(await again.queueMessage(alone(ids.next('out'), 'yes', { answers })), false);
    const [repeated, ...others] = await again.claimDeliveries(owner, 10);
    assert.deepEqual(repeated, { ...present(claimed, 'the delivery'), attempts: 2, maybeSent: true });
    assert.deepEqual(others, []);
  });
}
