import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { FakeClock } from './fake-clock.ts';
import { seededRandom, type RandomSource } from './random.ts';
import { retry, retryDelayMs, type RetryPolicy } from './retry.ts';

const policy: RetryPolicy = { attemptsMax: 4, firstDelayMs: 100, delayMaxMs: 300 };
const longest: RandomSource = { float: () => 1 - Number.EPSILON, bytes: (count) => new Uint8Array(count) };
const always = () => true;

function setUp() {
  const clock = new FakeClock(0);
  const controller = new AbortController();
  return { clock, controller, deps: { clock, random: longest, signal: controller.signal } };
}

describe('retry', () => {
  test('gives back the first success and says which attempt it is', async () => {
    const { clock, deps } = setUp();
    const attempts: string[] = [];
    const result = retry(deps, policy, always, (attemptNumber) => {
      attempts.push(`${attemptNumber} at ${clock.now()}`);
      return attemptNumber < 3 ? Promise.reject(new Error('busy')) : Promise.resolve('done');
    });
    await clock.advance(10_000);
    assert.equal(await result, 'done');
    assert.deepEqual(attempts, ['1 at 0', '2 at 100', '3 at 300']);
  });

  test('gives up with the last error after so many attempts', async () => {
    const { clock, deps } = setUp();
    let attempts = 0;
    const result = retry(deps, policy, always, (attemptNumber) => {
      attempts = attemptNumber;
      return Promise.reject(new Error(`failure ${attemptNumber}`));
    });
    const rejected = assert.rejects(result, { message: 'failure 4' });
    await clock.advance(10_000);
    await rejected;
    assert.deepEqual({ attempts, pending: clock.pendingTimers }, { attempts: 4, pending: 0 });
  });

  test('an error that is not worth it ends at once', async () => {
    const { clock, deps } = setUp();
    const failure = new Error('forbidden');
    const seen: unknown[] = [];
    const isWorthRetrying = (error: unknown) => {
      seen.push(error);
      return false;
    };
    await assert.rejects(
      retry(deps, policy, isWorthRetrying, () => Promise.reject(failure)),
      failure,
    );
    assert.deepEqual({ seen, pending: clock.pendingTimers }, { seen: [failure], pending: 0 });
  });

  test('an attempt that throws instead of rejecting is tried again too', async () => {
    const { clock, deps } = setUp();
    const result = retry(deps, policy, always, (attemptNumber) => {
      if (attemptNumber === 1) throw new Error('thrown');
      return Promise.resolve(attemptNumber);
    });
    await clock.advance(1000);
    assert.equal(await result, 2);
  });

  test('an abort ends the wait at once with its reason', async () => {
    const { clock, controller, deps } = setUp();
    const result = retry(deps, policy, always, () => Promise.reject(new Error('busy')));
    await clock.advance(0);
    assert.equal(clock.pendingTimers, 1);
    const reason = new Error('stop');
    controller.abort(reason);
    await assert.rejects(result, reason);
    assert.equal(clock.pendingTimers, 0);
  });

  test('an abort during an attempt lets no further one begin', async () => {
    const { controller, deps } = setUp();
    const reason = new Error('stop');
    let attempts = 0;
    const result = retry(deps, policy, always, () => {
      attempts += 1;
      controller.abort(reason);
      return Promise.reject(new Error('busy'));
    });
    await assert.rejects(result, reason);
    assert.equal(attempts, 1);
  });

  test('with a signal that was aborted before, nothing is tried', async () => {
    const { controller, deps } = setUp();
    const reason = new Error('stop');
    controller.abort(reason);
    let attempts = 0;
    const result = retry(deps, policy, always, () => Promise.resolve((attempts += 1)));
    await assert.rejects(result, reason);
    assert.equal(attempts, 0);
  });
});

describe('retryDelayMs', () => {
  test('doubles up to the cap, of which the upper half is random', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2000 }), fc.integer(), (failedAttempts, seed) => {
        const full = Math.min(300, 100 * 2 ** (failedAttempts - 1));
        const delay = retryDelayMs(policy, failedAttempts, seededRandom(seed));
        assert.ok(delay >= full / 2 && delay <= full, `${delay} is outside of ${full / 2}…${full}`);
      }),
    );
  });

  test('many waiters spread out', () => {
    const random = seededRandom(1);
    const delays = Array.from({ length: 100 }, () => retryDelayMs(policy, 2, random));
    assert.ok(new Set(delays).size > 40);
    assert.ok(Math.min(...delays) < 120 && Math.max(...delays) > 180);
  });
});
