import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sleep } from './clock.ts';
import { FakeClock } from './fake-clock.ts';

describe('FakeClock', () => {
  test('stands still until it is told to move', async () => {
    const clock = new FakeClock(5);
    assert.equal(clock.now(), 5);
    await clock.advance(37);
    assert.equal(clock.now(), 42);
  });

  test('fires timers by their time, then by their creation, each at its own time', async () => {
    const clock = new FakeClock(0);
    const fired: string[] = [];
    const note = (name: string) => () => fired.push(`${name} at ${clock.now()}`);
    clock.setTimer(30, note('late'));
    clock.setTimer(10, note('early'));
    clock.setTimer(10, note('early too'));
    clock.setTimer(-5, note('past'));
    clock.setTimer(31, note('not yet'));
    await clock.advance(30);
    assert.deepEqual(fired, ['past at 0', 'early at 10', 'early too at 10', 'late at 30']);
    assert.equal(clock.pendingTimers, 1);
  });

  test('a cancelled timer does not fire, and cancelling twice is harmless', async () => {
    const clock = new FakeClock();
    const fired: string[] = [];
    const cancel = clock.setTimer(10, () => fired.push('cancelled'));
    clock.setTimer(10, () => fired.push('other'));
    cancel();
    cancel();
    await clock.advance(10);
    cancel();
    assert.deepEqual(fired, ['other']);
  });

  test('fires within one advance what was set up on the way, also by promises', async () => {
    const clock = new FakeClock(0);
    const wakes: number[] = [];
    const walk = async () => {
      for (let step = 0; step < 3; step++) {
        await sleep(clock, 10);
        wakes.push(clock.now());
      }
    };
    const walking = walk();
    await clock.advance(100);
    await walking;
    assert.deepEqual({ wakes, now: clock.now() }, { wakes: [10, 20, 30], now: 100 });
  });
});
