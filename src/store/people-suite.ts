/** Who may write because a person said so, who was turned away, and the keys of the API. */
import assert from 'node:assert/strict';
import type { Declare } from './fake-world.ts';
import type { Person } from './store.ts';

const ada = { channel: 'web', userId: 'ada', name: 'Ada \ud800', role: 'user' } as const;
const limits = { pendingMax: 3, wrongMax: 5, lockMs: 1000 };

export function peopleSuite(declare: Declare): void {
  declare('people are added, changed and removed, each on their channel', async ({ store, clock }) => {
    const addedAt = clock.now();
    await store.addPerson(ada);
    await clock.advance(5);
    await store.addPerson({ ...ada, channel: 'telegram' });
    const elsewhere: Person = { ...ada, channel: 'telegram', addedAt: clock.now() };
    assert.deepEqual(await store.read.people(), [{ ...ada, addedAt }, elsewhere]);
    // The same person again has another name and role, and came when they came.
    await store.addPerson({ ...ada, name: 'Countess', role: 'owner' });
    assert.deepEqual(await store.read.people(), [{ ...ada, name: 'Countess', role: 'owner', addedAt }, elsewhere]);
    assert.equal(await store.removePerson('web', 'ada'), true);
    assert.equal(await store.removePerson('web', 'ada'), false);
    assert.equal(await store.removePerson('web', 'ADA'), false);
    assert.deepEqual(await store.read.people(), [elsewhere]);
    await store.addPerson(ada);
    assert.deepEqual(await store.read.people(), [elsewhere, { ...ada, addedAt: clock.now() }]);
  });

  declare('whoever is added needs no code any more', async ({ store, clock }) => {
    const now = clock.now();
    const { role: _role, ...who } = ada;
    await store.requestPairing({ ...who, createdAt: now, expiresAt: now + 10, codeHash: 'a' }, limits);
    await store.addPerson({ ...ada, channel: 'telegram' });
    assert.equal((await store.read.pairings(now)).length, 1);
    await store.addPerson(ada);
    assert.deepEqual(await store.read.pairings(now), []);
    assert.deepEqual(await store.approvePairing('a', 'owner', limits), { kind: 'wrong', triesLeft: 4 });
  });

  declare('somebody who is known already is approved with the new role', async ({ store, clock }) => {
    const addedAt = clock.now();
    await store.addPerson(ada);
    await clock.advance(5);
    const now = clock.now();
    const request = { channel: 'web', userId: 'ada', name: 'Countess', createdAt: now, expiresAt: now + 10 };
    await store.requestPairing({ ...request, codeHash: 'a' }, limits);
    const person = { ...ada, name: 'Countess', role: 'owner', addedAt };
    assert.deepEqual(await store.approvePairing('a', 'owner', limits), { kind: 'approved', person });
    assert.deepEqual(await store.read.people(), [person]);
  });

  declare('refusals are counted by person, newest first', async ({ store, clock }) => {
    const at = clock.now();
    const bob = { channel: 'web', userId: 'bob', name: 'Bob' };
    const stranger = { channel: 'web', userId: 'ada \ud800', name: 'Ada' };
    await store.recordRefusal(stranger);
    await store.recordRefusal(bob);
    await clock.advance(5);
    await store.recordRefusal({ ...stranger, name: 'Ada again' });
    await store.recordRefusal({ ...stranger, channel: 'telegram' });
    const all = [
      { ...stranger, channel: 'telegram', count: 1, lastAt: clock.now() },
      { ...stranger, name: 'Ada again', count: 2, lastAt: clock.now() },
      { ...bob, count: 1, lastAt: at },
    ];
    assert.deepEqual(await store.read.refusals(10), all);
    assert.deepEqual(await store.read.refusals(2), all.slice(0, 2));
  });

  declare('of more than a thousand strangers the oldest are forgotten', async ({ store }) => {
    const refuse = (number: number) => store.recordRefusal({ channel: 'web', userId: `u${number}`, name: 'x' });
    await Promise.all(Array.from({ length: 1000 }, (_, index) => refuse(index)));
    // One who comes back is not the oldest any more, and takes nobody's place.
    await refuse(0);
    assert.equal((await store.read.refusals(2000)).length, 1000);
    await refuse(1000);
    await refuse(1001);
    const kept = await store.read.refusals(2000);
    assert.equal(kept.length, 1000);
    assert.deepEqual(
      [kept[0], kept[2], kept.at(-1)].map((refusal) => [refusal?.userId, refusal?.count]),
      [
        ['u1001', 1],
        ['u0', 2],
        ['u3', 1],
      ],
    );
  });

  declare('keys of the API are found in the order they were made, and have one name each', async ({ store, clock }) => {
    const first = { name: 'phone \ud800', sha256: 'a', createdAt: clock.now() };
    await store.addApiKey({ name: first.name, sha256: 'a' });
    await clock.advance(5);
    const second = { name: 'laptop', sha256: 'b', createdAt: clock.now() };
    await store.addApiKey({ name: 'laptop', sha256: 'b' });
    await assert.rejects(store.addApiKey({ name: 'laptop', sha256: 'c' }), { name: 'StoreError', reason: 'conflict' });
    assert.deepEqual(await store.read.apiKeys(), [first, second]);
    assert.equal(await store.removeApiKey(first.name), true);
    assert.equal(await store.removeApiKey(first.name), false);
    assert.deepEqual(await store.read.apiKeys(), [second]);
    await store.addApiKey({ name: first.name, sha256: 'd' });
    assert.deepEqual(await store.read.apiKeys(), [second, { ...first, sha256: 'd', createdAt: clock.now() }]);
  });

  declare('people, refusals and keys outlive the process', async ({ store, ids, reopen }, context) => {
    if (reopen === null) return context.skip('nothing outlives this store');
    await store.addPerson(ada);
    await store.recordRefusal({ channel: 'web', userId: 'bob', name: 'Bob' });
    await store.addApiKey({ name: 'phone', sha256: 'a' });
    const all = async ({ read }: typeof store) => [await read.people(), await read.refusals(10), await read.apiKeys()];
    const before = await all(store);
    assert.deepEqual(await all(await reopen(ids.next('nod'))), before);
  });
}
