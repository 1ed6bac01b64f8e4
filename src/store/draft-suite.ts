/** Drafts: where one stands, whose place the first part of a reply takes, and when it is forgotten. */
import assert from 'node:assert/strict';
import { present } from '../lib/assert.ts';
import type { NodeId } from '../protocol/ids.ts';
import type { Declare } from './fake-world.ts';
import type { OutboxRecord, Store } from './store.ts';

async function claimOne(store: Store, owner: NodeId): Promise<OutboxRecord> {
  const [claimed, ...others] = await store.claimDeliveries(owner, 10);
  assert.deepEqual(others, []);
  return present(claimed, 'a delivery');
}

export function draftSuite(declare: Declare): void {
  declare('a session has one draft: the newest, until there is none', async ({ store, ids, conversation }) => {
    const [chat, other] = [conversation('alpha'), conversation('beta')];
    await chat.say('hello');
    await other.say('hello');
    const standing = (sessionId: string, target: string, platformId: string) => ({
      sessionId,
      channel: 'web',
      target,
      platformId,
    });
    await chat.showDraft('1 \ud800');
    await other.showDraft('2');
    assert.deepEqual(await store.read.drafts('web'), [
      standing(chat.sessionId, 'to alpha', '1 \ud800'),
      standing(other.sessionId, 'to beta', '2'),
    ]);
    assert.deepEqual(await store.read.drafts('telegram'), []);
    await store.noteDraft(chat.sessionId, { channel: 'telegram', target: 'x', platformId: '3' });
    assert.deepEqual(await store.read.drafts('web'), [standing(other.sessionId, 'to beta', '2')]);
    assert.deepEqual(
      (await store.read.drafts('telegram')).map((draft) => draft.platformId),
      ['3'],
    );
    await store.noteDraft(chat.sessionId, null);
    await store.noteDraft(chat.sessionId, null);
    assert.deepEqual(await store.read.drafts('telegram'), []);
    // A session that is not there has none, and nobody minds.
    await store.noteDraft(ids.next('ses'), { channel: 'web', target: 'x', platformId: '4' });
    assert.equal((await store.read.drafts('web')).length, 1);
  });

  declare(
    'a reply takes the place of the draft, which is forgotten when it is there',
    async ({ store, owner, conversation }) => {
      const chat = conversation('alpha');
      await chat.exchange('one', 'two');
      await chat.showDraft('7');
      const claimed = await claimOne(store, owner);
      assert.equal(claimed.draftId, '7');
      assert.equal((await store.read.drafts('web')).length, 1);
      await store.settleDelivery(claimed.id, { kind: 'sent', platformId: '7' });
      assert.deepEqual(await store.read.drafts('web'), []);
    },
  );

  declare('of several parts only the first takes its place', async ({ store, owner, clock, conversation }) => {
    const chat = conversation('alpha');
    await chat.exchange('one', 'two');
    await chat.showDraft('7');
    const later = { kind: 'retry', notBefore: clock.now(), maybeSent: true, error: 'x' } as const;
    const first = await claimOne(store, owner);
    // Until it has arrived, every attempt has the same place.
    await store.settleDelivery(first.id, later);
    assert.equal((await claimOne(store, owner)).draftId, '7');
    await store.recordPartSent(first.id, '7');
    assert.deepEqual(await store.read.drafts('web'), []);
    // The draft of the next turn is not touched by the rest of this reply.
    await chat.showDraft('8');
    await store.settleDelivery(first.id, later);
    assert.deepEqual([(await claimOne(store, owner)).draftId, (await store.read.drafts('web')).length], [null, 1]);
    await store.recordPartSent(first.id, '9');
    await store.settleDelivery(first.id, { kind: 'sent', platformId: '10' });
    assert.equal((await store.read.drafts('web')).length, 1);
  });

  declare('a draft elsewhere, or of another session, is left alone', async ({ store, owner, conversation }) => {
    const [chat, other] = [conversation('alpha'), conversation('beta')];
    await other.say('hello');
    await other.showDraft('6');
    await chat.exchange('one', 'two');
    for (const place of [
      { channel: 'web', target: 'elsewhere' },
      { channel: 'telegram', target: 'to alpha' },
    ]) {
      await store.noteDraft(chat.sessionId, { ...place, platformId: '7' });
      await chat.exchange(`to ${place.target} on ${place.channel}`, 'more');
      const claimed = await claimOne(store, owner);
      assert.equal(claimed.draftId, null);
      await store.settleDelivery(claimed.id, { kind: 'sent', platformId: null });
      assert.equal(
        (await store.read.drafts(place.channel)).some(({ platformId }) => platformId === '7'),
        true,
      );
    }
    assert.equal(
      (await store.read.drafts('web')).some(({ platformId }) => platformId === '6'),
      true,
    );
  });

  declare('what no turn wrote does not take its place: the work goes on', async ({ store, owner, conversation }) => {
    const chat = conversation('alpha');
    await chat.openTurn();
    await chat.showDraft('7');
    await store.queueMessage(chat.direct('status: working'));
    const claimed = await claimOne(store, owner);
    assert.equal(claimed.draftId, null);
    await store.settleDelivery(claimed.id, { kind: 'sent', platformId: '8' });
    assert.equal((await store.read.drafts('web')).length, 1);
  });

  declare('a delivery that failed leaves the draft standing', async ({ store, owner, conversation }) => {
    const chat = conversation('alpha');
    await chat.exchange('one', 'two');
    await chat.showDraft('7');
    await store.settleDelivery((await claimOne(store, owner)).id, { kind: 'failed', error: 'x' });
    assert.equal((await store.read.drafts('web')).length, 1);
  });

  declare(
    'drafts go with their session, and outlive the process',
    async ({ store, owner, ids, reopen, conversation }, context) => {
      if (reopen === null) return context.skip('nothing outlives this store');
      const [chat, gone] = [conversation('alpha'), conversation('beta')];
      await chat.exchange('one', 'two');
      await gone.say('hello');
      await chat.showDraft('7');
      await gone.showDraft('8');
      await store.deleteSession(gone.sessionId);
      const before = await store.read.drafts('web');
      assert.deepEqual(
        before.map((draft) => draft.platformId),
        ['7'],
      );
      const again = await reopen(ids.next('nod'));
      assert.deepEqual(await again.read.drafts('web'), before);
      assert.equal((await claimOne(again, owner)).draftId, '7');
    },
  );
}
