import assert from 'node:assert/strict';
import { describe, mock, test } from 'node:test';
import { sleep, systemClock } from './clock.ts';
import { FakeClock } from './fake-clock.ts';

describe('systemClock', () => {
  test('tells the time of the system', () => {
    const before = Date.now();
    const now = systemClock.now();
    assert.ok(before <= now && now <= Date.now());
  });

  test('calls back once, and not after being cancelled', async () => {
    const calls: string[] = [];
    await new Promise<void>((resolve) => {
      const cancel = systemClock.setTimer(0, () => calls.push('cancelled'));
      cancel();
      cancel();
      systemClock.setTimer(1, () => calls.push('first'));
      systemClock.setTimer(5, resolve);
    });
    assert.deepEqual(calls, ['first']);
  });

  test('a delay longer than a timer of Node can hold does not fire at once', async () => {
    const calls: string[] = [];
    const cancel = systemClock.setTimer(2 ** 31, () => calls.push('too early'));
    await sleep(systemClock, 20);
    cancel();
    assert.deepEqual(calls, []);
  });

  test('a delay longer than a timer of Node can hold ends on time and can be cancelled on the way', (context) => {
    mock.timers.enable({ apis: ['setTimeout'] });
    context.after(() => mock.timers.reset());
    const calls: string[] = [];
    systemClock.setTimer(2 ** 32, () => calls.push('due'));
    const cancel = systemClock.setTimer(2 ** 32, () => calls.push('cancelled'));
    mock.timers.tick(2 ** 31 - 1);
    cancel();
    mock.timers.tick(2 ** 31 - 1);
    mock.timers.tick(1);
    assert.deepEqual(calls, []);
    mock.timers.tick(1);
    assert.deepEqual(calls, ['due']);
  });
});

describe('sleep', () => {
  test('ends when its time has come, and not before', async () => {
    const clock = new FakeClock();
    let awake = false;
    const sleeping = sleep(clock, 1000).then(() => (awake = true));
    await clock.advance(999);
    assert.equal(awake, false);
    await clock.advance(1);
    await sleeping;
    assert.deepEqual({ awake, pending: clock.pendingTimers }, { awake: true, pending: 0 });
  });

  test('an abort ends it at once with its reason and leaves no timer', async () => {
    const clock = new FakeClock();
    const controller = new AbortController();
    const sleeping = sleep(clock, 1000, controller.signal);
    const reason = new Error('stop');
    controller.abort(reason);
    await assert.rejects(sleeping, reason);
    assert.equal(clock.pendingTimers, 0);
  });

  test('is over before it begins if the signal was aborted already', async () => {
    const clock = new FakeClock();
    const reason = new Error('stop');
    await assert.rejects(sleep(clock, 1000, AbortSignal.abort(reason)), reason);
    assert.equal(clock.pendingTimers, 0);
  });

  test('listens to the signal no longer than it sleeps', async () => {
    const clock = new FakeClock();
    const { signal } = new AbortController();
    let listeners = 0;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...args: Parameters<typeof add>) => {
      listeners += 1;
      add(...args);
    };
    signal.removeEventListener = (...args: Parameters<typeof remove>) => {
      listeners -= 1;
      remove(...args);
    };
    const sleeping = sleep(clock, 10, signal);
    assert.equal(listeners, 1);
    await clock.advance(10);
    await sleeping;
    assert.equal(listeners, 0);
  });
});
