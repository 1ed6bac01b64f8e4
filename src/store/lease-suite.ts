/** Leases: one owner at a time, an older owner can write nothing, and a death inside a turn is counted. */
import assert from 'node:assert/strict';
import { leaseTtlMs } from './fake-conversation.ts';
import { StoreError, type Lease, type Store } from './store.ts';
import type { Declare } from './fake-world.ts';

export function leaseSuite(declare: Declare): void {
  declare(
    'C91 a session has one owner at a time, until its lease runs out',
    async ({ store, clock, ids, conversation }) => {
      const chat = conversation('alpha');
      await chat.say('one');
      const [first, second] = [ids.next('nod'), ids.next('nod')];
      const lease = { sessionId: chat.sessionId, owner: first, token: 1 };
      assert.deepEqual(await store.acquireLease(chat.sessionId, first, 1000), lease);
      await clock.advance(999);
      assert.equal(await store.acquireLease(chat.sessionId, second, 1000), null);
      await clock.advance(1);
      assert.deepEqual(await store.acquireLease(chat.sessionId, second, 1000), { ...lease, owner: second, token: 2 });
      assert.equal(await store.acquireLease(chat.sessionId, first, 1000), null);
    },
  );

  declare('C91 of many that ask at once one becomes the owner', async ({ store, ids, conversation }) => {
    const chat = conversation('alpha');
    await chat.say('one');
    const owners = Array.from({ length: 50 }, () => ids.next('nod'));
    const leases = await Promise.all(owners.map((owner) => store.acquireLease(chat.sessionId, owner, 1000)));
    assert.equal(leases.filter((lease) => lease !== null).length, 1);
  });

  declare('nobody can own a session that is not there', async ({ store, ids, owner }) => {
    assert.equal(await store.acquireLease(ids.next('ses'), owner, 1000), null);
  });

  declare('renewing prolongs what the owner holds and nothing else', async ({ store, clock, ids, conversation }) => {
    const [mine, other] = [conversation('alpha'), conversation('beta')];
    const [me, somebody, third] = [ids.next('nod'), ids.next('nod'), ids.next('nod')];
    await mine.say('one');
    await other.say('one');
    await store.acquireLease(mine.sessionId, me, 1000);
    await store.acquireLease(other.sessionId, somebody, 1000);
    await clock.advance(900);
    await store.renewLeases(me, 1000);
    await clock.advance(200);
    assert.equal(await store.acquireLease(mine.sessionId, third, 1000), null);
    assert.equal((await store.acquireLease(other.sessionId, third, 1000))?.owner, third);
  });

  declare('C91 an owner that was replaced can write nothing, however late it wakes up', async (world) => {
    const { store, clock, ids, conversation } = world;
    const chat = conversation('alpha');
    await chat.say('one');
    const old = await chat.own();
    await clock.advance(leaseTtlMs);
    const next = await store.acquireLease(chat.sessionId, ids.next('nod'), leaseTtlMs);
    assert.ok(next !== null);

    await assertLost(store, old);
    await store.releaseLease(next);
    await assertLost(store, old);
    await assertLost(store, next);
    await assertLost(store, { ...next, token: next.token + 1 });
    await assertLost(store, { ...next, owner: old.owner });
    assert.deepEqual((await chat.journal()).entries, []);
  });

  declare(
    'C91 one stale owner among many writers loses only its own writes',
    async ({ store, clock, ids, conversation }) => {
      const chat = conversation('alpha');
      await chat.say('one');
      const old = await chat.own();
      await clock.advance(leaseTtlMs);
      const next = await store.acquireLease(chat.sessionId, ids.next('nod'), leaseTtlMs);
      assert.ok(next !== null);
      const attempts = Array.from({ length: 60 }, (_, index) =>
        store.commit(index % 3 === 0 ? old : next, [{ verb: 'notice', turnId: null, text: String(index) }]),
      );
      const results = await Promise.allSettled(attempts);
      const lost = results.flatMap((result, index) => (result.status === 'rejected' ? [index] : []));
      assert.deepEqual(
        lost,
        Array.from({ length: 20 }, (_, index) => index * 3),
      );
      const texts = (await chat.journal()).entries.map((entry) => (entry.kind === 'notice' ? Number(entry.text) : -1));
      assert.deepEqual(
        texts,
        Array.from({ length: 60 }, (_, index) => index).filter((index) => index % 3 !== 0),
      );
    },
  );

  declare('a lease that ran out and was not taken still writes', async ({ clock, conversation }) => {
    const chat = conversation('alpha');
    await chat.say('one');
    await chat.own();
    await clock.advance(leaseTtlMs * 10);
    await chat.commit({ verb: 'notice', turnId: null, text: 'late' });
    assert.equal((await chat.journal()).session.lastSeq, 1);
  });

  declare(
    'C90 an owner that vanished in a turn is counted as a crash of it',
    async ({ store, clock, ids, conversation }) => {
      const chat = conversation('alpha');
      await chat.openTurn();
      for (const crashes of [1, 2]) {
        await clock.advance(leaseTtlMs);
        await store.acquireLease(chat.sessionId, ids.next('nod'), leaseTtlMs);
        assert.equal((await chat.journal()).openTurn?.crashes, crashes);
      }
    },
  );

  declare(
    'C90 neither a clean release, nor an owner asking again, nor a rest without a turn is a crash',
    async (world) => {
      const { store, clock, ids, conversation } = world;
      const chat = conversation('alpha');
      await chat.say('zero');
      await chat.own();
      await clock.advance(leaseTtlMs);
      await store.acquireLease(chat.sessionId, ids.next('nod'), 1);
      await clock.advance(1);

      await chat.openTurn('one');
      const first = chat.lease;
      const again = await chat.own();
      assert.equal(again.token, first.token + 1);
      await assertLost(store, first);
      await store.releaseLease(again);
      await store.acquireLease(chat.sessionId, ids.next('nod'), leaseTtlMs);
      assert.equal((await chat.journal()).openTurn?.crashes, 0);
    },
  );

  declare('releasing a lease that is not held any more does nothing', async ({ store, clock, ids, conversation }) => {
    const chat = conversation('alpha');
    await chat.say('one');
    const old = await chat.own();
    await clock.advance(leaseTtlMs);
    await store.acquireLease(chat.sessionId, ids.next('nod'), leaseTtlMs);
    await store.releaseLease(old);
    assert.equal(await store.acquireLease(chat.sessionId, ids.next('nod'), leaseTtlMs), null);
  });
}

async function assertLost(store: Store, lease: Lease): Promise<void> {
  await assert.rejects(store.commit(lease, [{ verb: 'notice', turnId: null, text: 'from the past' }]), (error) => {
    return error instanceof StoreError && error.reason === 'lease-lost';
  });
}
