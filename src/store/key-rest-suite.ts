/** Keys that rest: until when, why, and who wakes them. */
import assert from 'node:assert/strict';
import type { Declare } from './fake-world.ts';
import type { KeyRest } from './store.ts';

const first: KeyRest = { provider: 'anthropic', keyId: 'a', reason: 'rate-limit', until: 1000 };
const second: KeyRest = { provider: 'anthropic', keyId: 'b', reason: 'billing', until: 2000 };
const third: KeyRest = { provider: 'openai', keyId: 'a', reason: 'auth \ud800', until: 3000 };

export function keyRestSuite(declare: Declare): void {
  declare('a key rests until its time, apart from every other', async ({ store }) => {
    for (const rest of [third, second, first]) await store.restKey(rest);
    assert.deepEqual(await store.read.keyRests(999), [first, second, third]);
    assert.deepEqual(await store.read.keyRests(1000), [second, third]);
    assert.deepEqual(await store.read.keyRests(3000), []);
  });

  declare('of two rests of one key the later end wins, with its reason', async ({ store }) => {
    await store.restKey(second);
    await store.restKey({ ...second, reason: 'earlier', until: 1500 });
    await store.restKey({ ...second, reason: 'the same', until: 2000 });
    assert.deepEqual(await store.read.keyRests(0), [second]);
    const later = { ...second, reason: 'later', until: 2001 };
    await store.restKey(later);
    assert.deepEqual(await store.read.keyRests(0), [later]);
  });

  declare('a key that works again rests no more, and may rest for a shorter time then', async ({ store }) => {
    for (const rest of [first, second, third]) await store.restKey(rest);
    await store.wakeKey('anthropic', 'b');
    await store.wakeKey('anthropic', 'nobody');
    assert.deepEqual(await store.read.keyRests(0), [first, third]);
    await store.restKey({ ...second, until: 10 });
    assert.deepEqual(await store.read.keyRests(0), [first, { ...second, until: 10 }, third]);
  });

  declare('rests outlive the process', async ({ store, ids, reopen }, context) => {
    if (reopen === null) return context.skip('nothing outlives this store');
    for (const rest of [first, third]) await store.restKey(rest);
    const again = await reopen(ids.next('nod'));
    assert.deepEqual(await again.read.keyRests(0), [first, third]);
  });
}
