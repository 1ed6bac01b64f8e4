/** The outbox: in order per session, one at a time, every attempt counted. */
import assert from 'node:assert/strict';
import type { Declare } from './fake-world.ts';

export function deliverySuite(declare: Declare): void {
  declare('C89 a delivery is claimed once, and its attempt is on record before it begins', async (world) => {
    const { store, owner, conversation } = world;
    const chat = conversation('alpha');
    const turnId = await chat.exchange('one', 'two \ud800');
    const claims = await Promise.all(Array.from({ length: 20 }, () => store.claimDeliveries(owner, 10)));
    const [claimed, ...others] = claims.flat();
    assert.ok(claimed !== undefined);
    assert.deepEqual(others, []);
    assert.deepEqual(claimed, {
      id: claimed.id,
      sessionId: chat.sessionId,
      turnId,
      channel: 'web',
      target: 'to alpha',
      text: 'two \ud800',
      buttons: [],
      file: null,
      draftId: null,
      state: 'attempting',
      attempts: 1,
      partsSent: 0,
      maybeSent: false,
    });
    await store.settleDelivery(claimed.id, { kind: 'sent', platformId: 'message 7' });
    assert.deepEqual(await store.claimDeliveries(owner, 10), []);
    assert.equal((await store.read.totals()).outboxPending, 0);
  });

  declare('oldest first, and one per session at a time', async ({ store, owner, conversation }) => {
    const [alpha, beta] = [conversation('alpha'), conversation('beta')];
    await alpha.exchange('q', 'a1');
    await alpha.exchange('q again', 'a2');
    await beta.exchange('q', 'b1');
    const claim = async (limit: number) => store.claimDeliveries(owner, limit);
    const [a1] = await claim(1);
    const [b1, ...more] = await claim(10);
    assert.deepEqual([a1?.text, b1?.text, more], ['a1', 'b1', []]);
    assert.ok(a1 !== undefined && b1 !== undefined);
    await store.settleDelivery(a1.id, { kind: 'failed', error: 'chat not found' });
    const next = await claim(10);
    assert.deepEqual(
      next.map((delivery) => delivery.text),
      ['a2'],
    );
  });

  declare(
    'a retry waits for its time and is not overtaken by a later reply',
    async ({ store, clock, owner, conversation }) => {
      const chat = conversation('alpha');
      await chat.exchange('q', 'a1');
      await chat.exchange('q again', 'a2');
      const [first] = await store.claimDeliveries(owner, 10);
      assert.ok(first !== undefined);
      await store.settleDelivery(first.id, {
        kind: 'retry',
        notBefore: clock.now() + 500,
        maybeSent: false,
        error: 'too many requests',
      });
      await clock.advance(499);
      assert.deepEqual(await store.claimDeliveries(owner, 10), []);
      await clock.advance(1);
      const again = await store.claimDeliveries(owner, 10);
      assert.deepEqual(
        again.map((delivery) => [delivery.text, delivery.attempts]),
        [['a1', 2]],
      );
    },
  );

  declare('what belongs to a channel that is not there waits until it is', async ({ store, owner, conversation }) => {
    await conversation('alpha').exchange('q', 'a');
    assert.deepEqual(await store.claimDeliveries(owner, 10, ['telegram']), []);
    assert.deepEqual(await store.claimDeliveries(owner, 10, []), []);
    const claimed = await store.claimDeliveries(owner, 10, ['telegram', 'web']);
    assert.deepEqual(
      claimed.map(({ text, attempts }) => [text, attempts]),
      [['a', 1]],
    );
  });

  declare('C89 parts that arrived stay sent; only the next one is counted anew', async (world) => {
    const { store, clock, owner, conversation } = world;
    const chat = conversation('alpha');
    await chat.exchange('q', 'a1');
    await chat.exchange('q again', 'a2');
    const claim = async () => {
      const claimed = await store.claimDeliveries(owner, 10);
      return claimed.map(({ text, attempts, partsSent }) => ({ text, attempts, partsSent }));
    };
    const [first] = await store.claimDeliveries(owner, 10);
    assert.ok(first !== undefined);
    const later = { kind: 'retry', notBefore: clock.now(), maybeSent: false, error: 'try later' } as const;
    await store.settleDelivery(first.id, later);
    assert.deepEqual(await claim(), [{ text: 'a1', attempts: 2, partsSent: 0 }]);
    await store.recordPartSent(first.id, 'message 7');
    await store.recordPartSent(first.id, null);
    await store.settleDelivery(first.id, later);
    assert.deepEqual(await claim(), [{ text: 'a1', attempts: 2, partsSent: 2 }]);
    await store.settleDelivery(first.id, later);
    assert.deepEqual(await claim(), [{ text: 'a1', attempts: 3, partsSent: 2 }]);
    await store.settleDelivery(first.id, { kind: 'sent', platformId: 'message 9' });
    assert.deepEqual(await claim(), [{ text: 'a2', attempts: 1, partsSent: 0 }]);
  });

  declare('C89 doubt about a part stays until that part has arrived', async ({ store, clock, owner, conversation }) => {
    const chat = conversation('alpha');
    await chat.exchange('q', 'a');
    const attempt = async () => {
      const [claimed] = await store.claimDeliveries(owner, 1);
      assert.ok(claimed !== undefined);
      return claimed;
    };
    const again = async (maybeSent: boolean) => {
      const { id } = await attempt();
      await store.settleDelivery(id, { kind: 'retry', notBefore: clock.now(), maybeSent, error: 'x' });
    };
    await again(false);
    await again(true);
    await again(false);
    const doubtful = await attempt();
    assert.equal(doubtful.maybeSent, true);
    await store.recordPartSent(doubtful.id, null);
    await store.settleDelivery(doubtful.id, { kind: 'retry', notBefore: clock.now(), maybeSent: false, error: 'x' });
    assert.deepEqual(await attempt(), { ...doubtful, attempts: 2, partsSent: 1, maybeSent: false });
  });

  declare('only of a delivery under way can a part arrive', async ({ store, clock, owner, ids, conversation }) => {
    const chat = conversation('alpha');
    await chat.exchange('q', 'a');
    const [claimed] = await store.claimDeliveries(owner, 1);
    assert.ok(claimed !== undefined);
    const refused = () => assert.rejects(store.recordPartSent(claimed.id, 'x'), { reason: 'conflict' });
    await store.settleDelivery(claimed.id, {
      kind: 'retry',
      notBefore: clock.now(),
      maybeSent: false,
      error: 'pending again',
    });
    await refused();
    const [again] = await store.claimDeliveries(owner, 1);
    assert.equal(again?.partsSent, 0);
    await store.settleDelivery(claimed.id, { kind: 'failed', error: 'no such chat' });
    await refused();
    await store.recordPartSent(ids.next('out'), 'of a session that was removed');
  });

  declare('only a delivery under way can be settled, and only once', async ({ store, owner, conversation }) => {
    const chat = conversation('alpha');
    const turnId = await chat.openTurn();
    const reply = chat.reply('answer');
    await chat.commit({ verb: 'close-turn', turnId, outcome: 'answered', reply });
    const sent = { kind: 'sent', platformId: null } as const;
    await assert.rejects(store.settleDelivery(reply.outboxId, sent), { reason: 'conflict' });
    await store.claimDeliveries(owner, 1);
    await store.settleDelivery(reply.outboxId, sent);
    await assert.rejects(store.settleDelivery(reply.outboxId, { kind: 'failed', error: 'late' }), {
      reason: 'conflict',
    });
  });

  declare(
    'a delivery whose session was removed meanwhile settles without a word',
    async ({ store, owner, conversation }) => {
      const chat = conversation('alpha');
      await chat.exchange('one', 'two');
      const [claimed] = await store.claimDeliveries(owner, 1);
      assert.ok(claimed !== undefined);
      await store.deleteSession(chat.sessionId);
      await store.settleDelivery(claimed.id, { kind: 'sent', platformId: null });
    },
  );
}
