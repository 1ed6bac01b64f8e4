import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRateLimit } from './rate-limit.ts';

function setUp() {
  let now = 1_000_000;
  const limit = createRateLimit({ now: () => now }, { burstMax: 3, perSecond: 2 });
  const takes = (name: string, count: number) => Array.from({ length: count }, () => limit.take(name));
  return { takes, wait: (ms: number) => void (now += ms) };
}

test('a burst is taken at once, then one after the other at the pace', () => {
  const { takes, wait } = setUp();
  assert.deepEqual(takes('a', 5), [0, 0, 0, 500, 500]);
  wait(499);
  assert.deepEqual(takes('a', 1), [1]);
  wait(1);
  assert.deepEqual(takes('a', 2), [0, 500]);
});

test('nobody waits for another, and a long rest is worth no more than a burst', () => {
  const { takes, wait } = setUp();
  takes('a', 3);
  assert.deepEqual(takes('b', 1), [0]);
  wait(3_600_000);
  assert.deepEqual(takes('a', 4), [0, 0, 0, 500]);
});

test('a clock that goes back frees nobody and stops nobody', () => {
  const { takes, wait } = setUp();
  takes('a', 3);
  wait(-10_000);
  assert.deepEqual(takes('a', 1), [500]);
  wait(500);
  assert.deepEqual(takes('a', 1), [0]);
});
