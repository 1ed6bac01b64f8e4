/** What a person allowed for longer than once. */
import assert from 'node:assert/strict';
import type { Declare } from './fake-world.ts';

const what = { kind: 'command', subject: 'git push\ud800', shown: 'git push \ud800' };

export function grantSuite(declare: Declare): void {
  declare(
    'a permission holds for its session alone, one for all everywhere',
    async ({ store, clock, conversation }) => {
      const [chat, other] = [conversation('alpha'), conversation('beta')];
      await chat.say('one');
      await other.say('one');
      const allowed = () =>
        Promise.all([chat, other].map(({ sessionId }) => store.read.isGranted(sessionId, what.kind, what.subject)));
      assert.deepEqual(await allowed(), [false, false]);
      await store.addGrant({ ...what, sessionId: chat.sessionId });
      assert.deepEqual(await allowed(), [true, false]);
      const grantedAt = clock.now();
      await clock.advance(5);
      await store.addGrant({ ...what, sessionId: null });
      assert.deepEqual(await allowed(), [true, true]);
      const [first, second] = await store.read.grants();
      assert.ok(first !== undefined && second !== undefined && first.id < second.id);
      assert.deepEqual(
        [first, second],
        [
          { ...what, id: first.id, sessionId: chat.sessionId, grantedAt },
          { ...what, id: second.id, sessionId: null, grantedAt: grantedAt + 5 },
        ],
      );
      assert.deepEqual(await store.checkIntegrity(), []);
    },
  );

  declare('only exactly what was allowed is', async ({ store, conversation }) => {
    const chat = conversation('alpha');
    await chat.say('one');
    await store.addGrant({ ...what, sessionId: null });
    for (const [kind, subject] of [
      ['command', 'git push'],
      ['command', 'GIT PUSH\ud800'],
      ['command', 'git push%'],
      ['file', what.subject],
      ['command', ''],
    ] as const) {
      assert.equal(await store.read.isGranted(chat.sessionId, kind, subject), false, subject);
    }
  });

  declare('the same permission is there once, and as it was first shown', async ({ store, clock, conversation }) => {
    const chat = conversation('alpha');
    await chat.say('one');
    for (const sessionId of [null, chat.sessionId]) {
      await store.addGrant({ ...what, sessionId });
      await clock.advance(5);
      await store.addGrant({ ...what, shown: 'otherwise', sessionId });
    }
    assert.deepEqual(
      (await store.read.grants()).map(({ sessionId, shown }) => [sessionId, shown]),
      [
        [null, what.shown],
        [chat.sessionId, what.shown],
      ],
    );
  });

  declare('a permission that is taken back holds no more, and its number is not used again', async (world) => {
    const { store, conversation } = world;
    const chat = conversation('alpha');
    await chat.say('one');
    await store.addGrant({ ...what, sessionId: null });
    const [grant] = await store.read.grants();
    assert.ok(grant);
    assert.equal(await store.removeGrant(grant.id), true);
    assert.equal(await store.removeGrant(grant.id), false);
    assert.equal(await store.read.isGranted(chat.sessionId, what.kind, what.subject), false);
    await store.addGrant({ ...what, sessionId: null });
    assert.ok(((await store.read.grants())[0]?.id ?? 0) > grant.id);
  });

  declare('permissions of a session go with it, and none is kept for one that is gone', async (world) => {
    const { store, conversation } = world;
    const chat = conversation('alpha');
    await chat.say('one');
    await store.addGrant({ ...what, sessionId: chat.sessionId });
    await store.addGrant({ ...what, sessionId: null });
    await store.deleteSession(chat.sessionId);
    await store.addGrant({ ...what, sessionId: chat.sessionId });
    assert.deepEqual(
      (await store.read.grants()).map(({ sessionId }) => sessionId),
      [null],
    );
    assert.deepEqual(await store.checkIntegrity(), []);
  });

  declare('permissions outlive the process', async ({ store, ids, reopen, conversation }, context) => {
    if (reopen === null) return context.skip('nothing outlives this store');
    const chat = conversation('alpha');
    await chat.say('one');
    await store.addGrant({ ...what, sessionId: chat.sessionId });
    const again = await reopen(ids.next('nod'));
    assert.equal(await again.read.isGranted(chat.sessionId, what.kind, what.subject), true);
  });
}
