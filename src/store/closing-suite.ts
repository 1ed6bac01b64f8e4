/** Sessions that are closed and opened again: who has a key, what a closed one has left to do, and whose it is. */
import assert from 'node:assert/strict';
import { present } from '../lib/assert.ts';
import type { SessionId } from '../protocol/ids.ts';
import type { FakeConversation } from './fake-conversation.ts';
import type { Declare } from './fake-world.ts';

/** Admits a message of this chat's key, which creates a session under this id if no open one has the key. */
async function admitAs(chat: FakeConversation, id: SessionId, text: string, owner = 'owner') {
  const session = { kind: 'by-key', key: chat.key, id, name: chat.name, owner } as const;
  const result = await chat.admit(text, { session });
  assert.ok(result.kind === 'admitted');
  return result;
}

export function closingSuite(declare: Declare): void {
  declare('a closed session keeps everything but its key', async ({ store, clock, ids, conversation }) => {
    const chat = conversation('alpha');
    await chat.exchange('one', 'two');
    const before = await chat.journal();
    await clock.advance(5);
    assert.equal(await store.closeSession(chat.sessionId), true);
    assert.equal(await store.closeSession(chat.sessionId), false);
    assert.equal(await store.closeSession(ids.next('ses')), false);
    const session = { ...before.session, isClosed: true };
    assert.deepEqual(await chat.journal(), { ...before, session });
    assert.deepEqual(await store.read.session(chat.sessionId), session);
    assert.deepEqual(await store.read.sessionByName('alpha'), session);
    assert.equal(await store.read.sessionByKey(chat.key), null);
    assert.deepEqual(await store.read.sessions({ limit: 10 }), [session]);
    assert.equal((await store.search('one', 10)).length, 1);
    assert.deepEqual(await store.checkIntegrity(), []);
  });

  declare('the next message of its key creates another session, under another name', async (world) => {
    const { store, ids, conversation } = world;
    const chat = conversation('alpha');
    await chat.say('one');
    await store.closeSession(chat.sessionId);
    const id = ids.next('ses');
    const { session, created } = await admitAs(chat, id, 'two', 'telegram:7');
    assert.deepEqual(
      [created, session.id, session.key, session.name, session.title, session.owner, session.isClosed],
      [true, id, chat.key, `alpha-${id.slice(-4)}`, 'about two', 'telegram:7', false],
    );
    assert.deepEqual(await store.read.sessionByKey(chat.key), session);
    const again = await admitAs(chat, ids.next('ses'), 'three');
    assert.deepEqual([again.created, again.session.id], [false, id]);
    assert.equal((await chat.journal()).waiting.length, 1);
    // The old message, delivered again, is still the old one's.
    const repeated = await chat.admit('one');
    assert.ok(repeated.kind === 'duplicate');
    assert.equal(repeated.session.id, chat.sessionId);
    // And many may have had the key before.
    await store.closeSession(id);
    assert.equal((await admitAs(chat, ids.next('ses'), 'four')).created, true);
    assert.deepEqual(await store.checkIntegrity(), []);
  });

  declare('of many first messages after a close one creates the session', async ({ store, ids, conversation }) => {
    const chat = conversation('alpha');
    await chat.say('one');
    await store.closeSession(chat.sessionId);
    const texts = Array.from({ length: 50 }, (_, index) => `later ${index}`);
    const results = await Promise.all(texts.map((text) => admitAs(chat, ids.next('ses'), text)));
    assert.equal(results.filter(({ created }) => created).length, 1);
    assert.equal(new Set(results.map(({ session }) => session.id)).size, 1);
  });

  declare('what a closed session has left to do is still done', async ({ store, owner, ids, conversation }) => {
    const [chat, other] = [conversation('alpha'), conversation('beta')];
    await chat.exchange('one', 'two');
    const turnId = await chat.openTurn('three');
    const waiting = await chat.say('four');
    await other.say('five');
    assert.equal(await store.closeSession(chat.sessionId), true);
    assert.deepEqual(await store.read.sessionsWithWork(10), [chat.sessionId, other.sessionId].sort());
    // Its turn goes on under its lease, its messages are promoted, its replies go out.
    await chat.commit({ verb: 'join-turn', turnId, promote: [waiting] });
    const reply = chat.reply('six');
    await chat.commit({ verb: 'close-turn', turnId, outcome: 'answered', reply });
    await store.releaseLease(chat.lease);
    const [first] = await store.claimDeliveries(owner, 10);
    await store.settleDelivery(present(first, 'a delivery').id, { kind: 'sent', platformId: null });
    const [second] = await store.claimDeliveries(owner, 10);
    assert.deepEqual([first?.text, second?.id], ['two', reply.outboxId]);
    assert.ok(await store.acquireLease(chat.sessionId, ids.next('nod'), 1));
    // Whoever means this very session can write to it.
    assert.equal((await chat.admit('six', { session: { kind: 'existing', id: chat.sessionId } })).kind, 'admitted');
    assert.equal((await chat.journal()).session.isClosed, true);
  });

  declare('opening a session again takes the key from the one that has it', async ({ store, ids, conversation }) => {
    const chat = conversation('alpha');
    await chat.say('one');
    await store.closeSession(chat.sessionId);
    const next = ids.next('ses');
    await admitAs(chat, next, 'two');
    const before = await chat.journal();

    assert.equal(await store.reopenSession(chat.sessionId, chat.key), true);
    assert.deepEqual(await chat.journal(), { ...before, session: { ...before.session, isClosed: false } });
    assert.equal((await store.read.sessionByKey(chat.key))?.id, chat.sessionId);
    assert.equal((await store.read.session(next))?.isClosed, true);
    assert.equal((await admitAs(chat, ids.next('ses'), 'three')).session.id, chat.sessionId);
    assert.deepEqual(await store.checkIntegrity(), []);
  });

  declare('a session moves to another key, and its own becomes free', async ({ store, ids, conversation }) => {
    const [moved, there] = [conversation('alpha'), conversation('beta')];
    await moved.say('one');
    await there.say('two');
    assert.equal(await store.reopenSession(moved.sessionId, there.key), true);
    assert.deepEqual(
      [(await moved.journal()).session.key, (await moved.journal()).session.isClosed],
      [there.key, false],
    );
    assert.deepEqual(
      [(await there.journal()).session.key, (await there.journal()).session.isClosed],
      [there.key, true],
    );
    assert.equal(await store.read.sessionByKey(moved.key), null);
    assert.equal((await admitAs(moved, ids.next('ses'), 'three')).created, true);
    // Again, and for one that is not there: nothing changes.
    const before = await moved.journal();
    assert.equal(await store.reopenSession(moved.sessionId, there.key), true);
    assert.equal(await store.reopenSession(ids.next('ses'), there.key), false);
    assert.deepEqual(await moved.journal(), before);
    assert.equal((await store.read.sessionByKey(there.key))?.id, moved.sessionId);
  });

  declare('a closed session is removed like any other', async ({ store, conversation }) => {
    const chat = conversation('alpha');
    await chat.exchange('one', 'two');
    await chat.showDraft('message 1');
    await store.closeSession(chat.sessionId);
    assert.equal(await store.deleteSession(chat.sessionId), true);
    assert.deepEqual([await store.read.sessions({ limit: 10 }), await store.read.drafts('web')], [[], []]);
    assert.deepEqual(await store.checkIntegrity(), []);
  });

  declare(
    'who asks for an owner sees that owner, newest first and in pages',
    async ({ store, clock, ids, conversation }) => {
      const owners = ['web:ada', 'web:bob', 'web:ada', 'web:\ud800', 'web:ada', 'web:\ud801'];
      const sessions: SessionId[] = [];
      for (const [index, owner] of owners.entries()) {
        const id = ids.next('ses');
        await admitAs(conversation(`chat ${index}`), id, 'hello', owner);
        sessions.push(id);
        await clock.advance(10);
      }
      const of = async (owner: string, limit = 10, before?: number) => {
        const page = await store.read.sessions({ limit, owner, ...(before === undefined ? {} : { before }) });
        return page.map((session) => [session.id, session.owner]);
      };
      const ada = [4, 2, 0].map((index) => [sessions[index], 'web:ada']);
      assert.deepEqual(await of('web:ada'), ada);
      assert.deepEqual(await of('web:ada', 2), ada.slice(0, 2));
      const second = present(await store.read.session(present(sessions[2], 'a session')), 'the session');
      assert.deepEqual(await of('web:ada', 10, second.updatedAt), ada.slice(2));
      assert.deepEqual(await of('web:bob'), [[sessions[1], 'web:bob']]);
      // Two that print the same are two.
      assert.deepEqual(await of('web:\ud800'), [[sessions[3], 'web:\ud800']]);
      assert.deepEqual(await of('web:'), []);
      assert.equal((await store.read.sessions({ limit: 10 })).length, 6);
    },
  );

  declare(
    'closed or open, and whose: it outlives the process',
    async ({ store, ids, reopen, conversation }, context) => {
      if (reopen === null) return context.skip('nothing outlives this store');
      const [chat, other] = [conversation('alpha'), conversation('beta')];
      await chat.say('one');
      await admitAs(other, other.sessionId, 'two', 'telegram:7');
      await store.closeSession(chat.sessionId);
      await store.reopenSession(other.sessionId, chat.key);
      const before = [(await chat.journal()).session, (await other.journal()).session];
      const again = await reopen(ids.next('nod'));
      assert.deepEqual([await again.read.session(chat.sessionId), await again.read.session(other.sessionId)], before);
      assert.deepEqual(await again.read.sessionByKey(chat.key), before[1]);
    },
  );
}
