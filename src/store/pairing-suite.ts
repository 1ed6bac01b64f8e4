/** Pairing: codes by their hash, a few at a time, used once, ended by time; wrong ones counted, also over restarts. */
import assert from 'node:assert/strict';
import type { Declare } from './fake-world.ts';
import type { PairingLimits, PairingRequest, Store } from './store.ts';

const limits: PairingLimits = { pendingMax: 3, wrongMax: 5, lockMs: 3_600_000 };
const goodForMs = 900_000;

function requestOf(userId: string, now: number, changes: Partial<PairingRequest> = {}): PairingRequest {
  return { channel: 'web', userId, name: `name of ${userId}`, createdAt: now, expiresAt: now + goodForMs, ...changes };
}

function ask(store: Store, request: PairingRequest, codeHash = `hash of ${request.userId}`) {
  return store.requestPairing({ ...request, codeHash }, limits);
}

const approve = (store: Store, codeHash: string, role: 'owner' | 'user' = 'user') =>
  store.approvePairing(codeHash, role, limits);

/** So many wrong codes, and what was said to the last of them. */
async function tryWrong(store: Store, times: number) {
  for (let time = 1; time < times; time++) await approve(store, `wrong ${time}`);
  return approve(store, 'wrong');
}

export function pairingSuite(declare: Declare): void {
  declare('whoever is approved by their code is in, once', async ({ store, clock }) => {
    const request = requestOf('ada \ud800', clock.now());
    assert.deepEqual(await ask(store, request, 'a'), { kind: 'requested' });
    assert.deepEqual(await store.read.pairings(clock.now()), [request]);
    await clock.advance(10);
    const { channel, userId, name } = request;
    const person = { channel, userId, name, role: 'user', addedAt: clock.now() };
    assert.deepEqual(await approve(store, 'a'), { kind: 'approved', person });
    assert.deepEqual([await store.read.people(), await store.read.pairings(clock.now())], [[person], []]);
    assert.deepEqual(await approve(store, 'a', 'owner'), { kind: 'wrong', triesLeft: 4 });
    assert.deepEqual(await store.read.people(), [person]);
  });

  declare('of many approvals of one code at once one succeeds', async ({ store, clock }) => {
    await ask(store, requestOf('ada', clock.now()), 'a');
    const many = { ...limits, wrongMax: 100 };
    const results = await Promise.all(Array.from({ length: 20 }, () => store.approvePairing('a', 'user', many)));
    assert.equal(results.filter(({ kind }) => kind === 'approved').length, 1);
    assert.equal((await store.read.people()).length, 1);
  });

  declare('a person has one code at a time, a channel a few', async ({ store, clock }) => {
    const now = clock.now();
    const [ada, bob, cy, dan] = ['ada', 'bob', 'cy', 'dan'].map((userId) => requestOf(userId, now));
    assert.ok(ada && bob && cy && dan);
    for (const request of [ada, bob]) await ask(store, request);
    assert.deepEqual(await ask(store, { ...ada, name: 'other' }, 'another'), { kind: 'pending' });
    assert.deepEqual(await approve(store, 'another'), { kind: 'wrong', triesLeft: 4 });
    assert.deepEqual(await ask(store, cy), { kind: 'requested' });
    assert.deepEqual(await ask(store, dan), { kind: 'full' });
    assert.deepEqual(await ask(store, ada, 'another'), { kind: 'pending' });
    assert.deepEqual(await ask(store, { ...ada, channel: 'telegram' }, 'elsewhere'), { kind: 'requested' });
    assert.deepEqual(await store.read.pairings(now), [ada, bob, cy, { ...ada, channel: 'telegram' }]);
    // One that was used makes room.
    assert.equal((await approve(store, 'hash of bob')).kind, 'approved');
    assert.deepEqual(await ask(store, dan), { kind: 'requested' });
    assert.deepEqual(
      (await store.read.pairings(now)).map(({ userId }) => userId),
      ['ada', 'cy', 'ada', 'dan'],
    );
  });

  declare('many strangers at once do not get more codes than there may be', async ({ store, clock }) => {
    const requests = Array.from({ length: 50 }, (_, index) => requestOf(`stranger ${index}`, clock.now()));
    const results = await Promise.all(requests.map((request) => ask(store, request)));
    assert.equal(results.filter(({ kind }) => kind === 'requested').length, 3);
    assert.equal((await store.read.pairings(clock.now())).length, 3);
  });

  declare('a code is good until its time and not a moment longer', async ({ store, clock }) => {
    const ada = requestOf('ada', clock.now());
    for (const request of [ada, requestOf('bob', clock.now()), requestOf('cy', clock.now())]) await ask(store, request);
    await clock.advance(goodForMs - 1);
    assert.equal((await store.read.pairings(clock.now())).length, 3);
    assert.deepEqual(await ask(store, ada), { kind: 'pending' });
    assert.equal((await approve(store, 'hash of bob')).kind, 'approved');
    await clock.advance(1);
    assert.deepEqual(await store.read.pairings(clock.now()), []);
    assert.deepEqual(await approve(store, 'hash of ada'), { kind: 'wrong', triesLeft: 4 });
    // Neither the person nor the channel is held up by what has expired.
    const again = requestOf('ada', clock.now());
    assert.deepEqual(await ask(store, again, 'new'), { kind: 'requested' });
    for (const userId of ['dan', 'eve'])
      assert.equal((await ask(store, requestOf(userId, clock.now()))).kind, 'requested');
    assert.equal((await approve(store, 'new')).kind, 'approved');
  });

  declare('wrong codes are counted, and after too many nobody gets in for a while', async ({ store, clock }) => {
    await ask(store, { ...requestOf('ada', clock.now()), expiresAt: clock.now() + 10 * limits.lockMs });
    for (const triesLeft of [4, 3, 2, 1, 0]) {
      assert.deepEqual(await approve(store, 'wrong'), { kind: 'wrong', triesLeft });
    }
    const locked = { kind: 'locked', until: clock.now() + limits.lockMs };
    assert.deepEqual(await approve(store, 'hash of ada'), locked);
    await clock.advance(limits.lockMs - 1);
    // Trying does not make it longer.
    assert.deepEqual(await approve(store, 'wrong'), locked);
    assert.deepEqual(await store.read.people(), []);
    await clock.advance(1);
    assert.deepEqual(await approve(store, 'wrong'), { kind: 'wrong', triesLeft: 4 });
    assert.equal((await approve(store, 'hash of ada')).kind, 'approved');
  });

  declare('a right code begins the count anew', async ({ store, clock }) => {
    await ask(store, requestOf('ada', clock.now()));
    assert.deepEqual(await tryWrong(store, 4), { kind: 'wrong', triesLeft: 1 });
    assert.equal((await approve(store, 'hash of ada')).kind, 'approved');
    assert.deepEqual(await tryWrong(store, 5), { kind: 'wrong', triesLeft: 0 });
    assert.equal((await approve(store, 'wrong')).kind, 'locked');
  });

  declare('many wrong codes at once are all counted', async ({ store }) => {
    const results = await Promise.all(Array.from({ length: 20 }, (_, index) => approve(store, `wrong ${index}`)));
    assert.deepEqual(
      results.map(({ kind }) => kind),
      [...Array<string>(5).fill('wrong'), ...Array<string>(15).fill('locked')],
    );
  });

  declare('codes, wrong tries and the lock outlive the process', async ({ store, clock, ids, reopen }, context) => {
    if (reopen === null) return context.skip('nothing outlives this store');
    const ada = requestOf('ada', clock.now());
    await ask(store, ada);
    await tryWrong(store, 3);
    let again = await reopen(ids.next('nod'));
    assert.deepEqual(await again.read.pairings(clock.now()), [ada]);
    assert.deepEqual(await ask(again, ada, 'another'), { kind: 'pending' });
    assert.deepEqual(await tryWrong(again, 2), { kind: 'wrong', triesLeft: 0 });
    again = await reopen(ids.next('nod'));
    assert.deepEqual(await approve(again, 'hash of ada'), { kind: 'locked', until: clock.now() + limits.lockMs });
    await clock.advance(limits.lockMs);
    assert.deepEqual(await approve(again, 'hash of ada'), { kind: 'wrong', triesLeft: 4 });
  });

  declare('a code that another has is not given out', async ({ store, clock }) => {
    await ask(store, requestOf('ada', clock.now()), 'same');
    await assert.rejects(ask(store, requestOf('bob', clock.now()), 'same'), { name: 'StoreError', reason: 'conflict' });
    assert.equal((await store.read.pairings(clock.now())).length, 1);
  });
}
