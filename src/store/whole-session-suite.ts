/** Removing a session, taking one out, bringing one in; and the end of the store itself. */
import assert from 'node:assert/strict';
import { present } from '../lib/assert.ts';
import { leaseTtlMs, type FakeConversation } from './fake-conversation.ts';
import type { PortableSession } from './store.ts';
import type { Declare } from './fake-world.ts';

async function exported(chat: FakeConversation): Promise<PortableSession> {
  const { session, entries } = await chat.journal();
  return { name: session.name, title: session.title, createdAt: session.createdAt, entries };
}

export function wholeSessionSuite(declare: Declare): void {
  declare('a removed session leaves nothing, and others keep everything', async ({ store, owner, conversation }) => {
    const [gone, kept] = [conversation('gone'), conversation('kept')];
    await gone.exchange('one', 'two');
    const turnId = await gone.openTurn('three');
    await gone.planCalls(turnId, 2);
    const waiting = await gone.say('four');
    await store.releaseLease(gone.lease);
    await kept.exchange('one', 'two');
    const before = await kept.journal();

    assert.equal(await store.deleteSession(gone.sessionId), true);
    assert.equal(await store.deleteSession(gone.sessionId), false);
    assert.deepEqual(
      [
        await store.read.session(gone.sessionId),
        await store.read.sessionByName('gone'),
        await store.read.journal(gone.sessionId, 0),
        await store.read.inbox(waiting),
        await store.read.sessionsWithWork(10),
      ],
      [null, null, null, null, []],
    );
    assert.deepEqual(await kept.journal(), before);
    assert.deepEqual(
      (await store.claimDeliveries(owner, 10)).map((delivery) => delivery.sessionId),
      [kept.sessionId],
    );
    assert.deepEqual(await store.checkIntegrity(), []);
    assert.equal((await store.read.totals()).usage.inputTokens, 20);
  });

  declare('a session at work is not removed; its owner gone, it is', async ({ store, clock, conversation }) => {
    const chat = conversation('alpha');
    const turnId = await chat.openTurn();
    const before = await chat.journal();
    await assert.rejects(store.deleteSession(chat.sessionId), { name: 'StoreError', reason: 'conflict' });
    assert.deepEqual(await chat.journal(), before);
    await clock.advance(leaseTtlMs);
    assert.equal(await store.deleteSession(chat.sessionId), true);
    await assert.rejects(chat.commit({ verb: 'close-turn', turnId, outcome: 'answered', reply: null }), {
      reason: 'lease-lost',
    });
  });

  declare('a session at rest is removed although somebody owns it', async ({ store, conversation }) => {
    const chat = conversation('alpha');
    await chat.say('one');
    await chat.own();
    assert.equal(await store.deleteSession(chat.sessionId), true);
    await assert.rejects(chat.commit(), { reason: 'lease-lost' });
  });

  declare('what is exported and imported is the same conversation', async ({ store, clock, ids, conversation }) => {
    const chat = conversation('alpha');
    await chat.exchange('one', 'two');
    await clock.advance(60_000);
    await chat.exchange('three', 'four');
    const portable = await exported(chat);
    await clock.advance(60_000);

    const id = ids.next('ses');
    await store.closeSession(chat.sessionId);
    const session = await store.importSession(id, 'web:direct:copy', 'telegram:7', { ...portable, name: 'copy' });
    const original = await chat.journal();
    assert.deepEqual(session, {
      ...original.session,
      id,
      key: 'web:direct:copy',
      name: 'copy',
      owner: 'telegram:7',
      isClosed: false,
    });
    const copy = present(await store.read.journal(id, 0), 'the copy');
    assert.deepEqual(copy, { ...original, session });
    assert.deepEqual(await store.checkIntegrity(), []);
  });

  declare('an imported session goes on like any other', async ({ store, ids, conversation }) => {
    const chat = conversation('alpha');
    await chat.exchange('one', 'two');
    const id = ids.next('ses');
    const { lastSeq } = await store.importSession(id, 'web:direct:copy', 'owner', {
      ...(await exported(chat)),
      name: 'copy',
    });
    const inbound = chat.admission('more', { session: { kind: 'existing', id } });
    await store.admit(inbound);
    const lease = present(await store.acquireLease(id, chat.owner, leaseTtlMs), 'the lease');
    await store.commit(lease, [{ verb: 'open-turn', turnId: ids.next('trn'), promote: [inbound.inboxId] }]);
    const { entries } = present(await store.read.journal(id, lastSeq), 'the journal');
    assert.deepEqual(
      entries.map((entry) => [entry.seq, entry.kind]),
      [
        [lastSeq + 1, 'turn-opened'],
        [lastSeq + 2, 'message'],
      ],
    );
  });

  declare(
    'an import is numbered anew and leaves out a turn that was under way',
    async ({ store, ids, conversation }) => {
      const chat = conversation('alpha');
      await chat.exchange('one', 'two');
      await chat.openTurn('three');
      const portable = await exported(chat);
      const entries = portable.entries.map((entry) => ({ ...entry, seq: entry.seq * 10 }));
      const id = ids.next('ses');
      const session = await store.importSession(id, 'web:direct:copy', 'owner', { ...portable, name: 'copy', entries });
      assert.deepEqual([session.lastSeq, session.messages, session.turn], [4, 2, 'none']);
      const copy = present(await store.read.journal(id, 0), 'the copy');
      assert.deepEqual(copy.entries, portable.entries.slice(0, 4));
    },
  );

  declare('an import under a taken name or key is refused and stores nothing', async ({ store, ids, conversation }) => {
    const chat = conversation('alpha');
    await chat.exchange('one', 'two');
    const portable = await exported(chat);
    const taken = { name: 'StoreError', reason: 'conflict' };
    await assert.rejects(store.importSession(ids.next('ses'), 'web:direct:copy', 'owner', portable), taken);
    await assert.rejects(
      store.importSession(ids.next('ses'), 'web:direct:alpha', 'owner', { ...portable, name: 'copy' }),
      taken,
    );
    assert.equal((await store.read.totals()).sessions, 1);
    // The key of a closed one is free; its name is not.
    await store.closeSession(chat.sessionId);
    await assert.rejects(store.importSession(ids.next('ses'), 'web:direct:alpha', 'owner', portable), taken);
    await store.importSession(ids.next('ses'), 'web:direct:alpha', 'owner', { ...portable, name: 'copy' });
    assert.equal((await store.read.sessionByKey('web:direct:alpha'))?.name, 'copy');
  });

  declare('a closed store refuses every verb, and closing again does nothing', async ({ store, conversation }) => {
    const chat = conversation('alpha');
    await chat.exchange('one', 'two');
    const underWay = chat.say('at the last moment');
    await store.close();
    await store.close();
    await underWay;
    const gone = { name: 'StoreError', reason: 'unavailable' };
    await assert.rejects(chat.say('too late'), gone);
    await assert.rejects(chat.journal(), gone);
    await assert.rejects(store.search('one', 1), gone);
  });
}
