import assert from 'node:assert/strict';
import test from 'node:test';
import { FakeClock } from '../../lib/fake-clock.ts';
import { createStallWatch } from './stall-watch.ts';

function watched(stallMs: number) {
  const clock = new FakeClock();
  let stalls = 0;
  const watch = createStallWatch(clock, stallMs, () => stalls++);
  return { clock, watch, stalls: () => stalls };
}

test('what is waited for too long has stalled, once', async () => {
  const { clock, watch, stalls } = watched(100);
  watch.waiting();
  await clock.advance(99);
  assert.equal(stalls(), 0);
  await clock.advance(1);
  assert.equal(stalls(), 1);
  watch.waiting();
  await clock.advance(1_000);
  assert.equal(stalls(), 1);
});

test('whatever comes starts the wait anew, with one timer', async () => {
  const { clock, watch, stalls } = watched(100);
  for (let round = 0; round < 10; round++) {
    watch.waiting();
    await clock.advance(60);
    assert.equal(clock.pendingTimers, 1);
  }
  assert.equal(stalls(), 0);
  await clock.advance(40);
  assert.equal(stalls(), 1);
});

test('time in which nobody waits does not count', async () => {
  const { clock, watch, stalls } = watched(100);
  watch.waiting();
  watch.resting();
  await clock.advance(1_000);
  watch.waiting();
  await clock.advance(99);
  assert.equal(stalls(), 0);
  await clock.advance(1);
  assert.equal(stalls(), 1);
});

test('ended, it leaves no timer', () => {
  const { clock, watch } = watched(100);
  watch.waiting();
  watch.end();
  watch.end();
  watch.waiting();
  assert.equal(clock.pendingTimers, 0);
});
