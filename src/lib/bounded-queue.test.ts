import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { BoundedQueue } from './bounded-queue.ts';

const end = { done: true, value: undefined };
const item = <T>(value: T) => ({ done: false, value });

describe('BoundedQueue', () => {
  test('hands out items in the order they came', async () => {
    const queue = new BoundedQueue<string>(3);
    assert.deepEqual([queue.offer('a'), queue.offer('b')], [true, true]);
    assert.deepEqual([await queue.next(), await queue.next()], [item('a'), item('b')]);
  });

  test('refuses at its limit and accepts again when one was taken', async () => {
    const queue = new BoundedQueue<number>(2);
    assert.deepEqual([queue.offer(1), queue.offer(2), queue.offer(3), queue.size], [true, true, false, 2]);
    await queue.next();
    assert.deepEqual([queue.offer(4), queue.size], [true, 2]);
  });

  test('gives an item to the one who has waited longest, without storing it', async () => {
    const queue = new BoundedQueue<string>(1);
    const [first, second] = [queue.next(), queue.next()];
    assert.deepEqual([queue.offer('a'), queue.offer('b'), queue.size], [true, true, 0]);
    assert.deepEqual([await first, await second], [item('a'), item('b')]);
  });

  test('closing refuses new items, hands out the rest and releases those who wait', async () => {
    const queue = new BoundedQueue<string>(2);
    queue.offer('a');
    queue.close();
    queue.close();
    assert.deepEqual([queue.closed, queue.offer('b')], [true, false]);
    assert.deepEqual([await queue.next(), await queue.next()], [item('a'), end]);

    const empty = new BoundedQueue<string>(2);
    const waiting = [empty.next(), empty.next()];
    empty.close();
    assert.deepEqual(await Promise.all(waiting), [end, end]);
  });

  test('can be iterated until it is closed; leaving the loop closes it and drops the rest', async () => {
    const queue = new BoundedQueue<number>(5);
    for (const value of [1, 2, 3]) queue.offer(value);
    const seen: number[] = [];
    for await (const value of queue) {
      seen.push(value);
      if (value === 2) break;
    }
    assert.deepEqual({ seen, closed: queue.closed, size: queue.size }, { seen: [1, 2], closed: true, size: 0 });
  });

  test('carries undefined and null like any other item', async () => {
    const queue = new BoundedQueue<unknown>(2);
    queue.offer(undefined);
    queue.offer(null);
    assert.deepEqual([await queue.next(), await queue.next()], [item(undefined), item(null)]);
  });

  test('a limit that is no whole number of at least one is refused', () => {
    for (const limit of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      assert.throws(() => new BoundedQueue(limit), RangeError);
    }
  });

  test('whatever the order of offering, taking and closing: nothing accepted is lost, doubled or reordered', async () => {
    const step = fc.oneof(
      { weight: 5, arbitrary: fc.constant('offer' as const) },
      { weight: 4, arbitrary: fc.constant('take' as const) },
      { weight: 1, arbitrary: fc.constant('close' as const) },
    );
    const history = fc.asyncProperty(
      fc.integer({ min: 1, max: 4 }),
      fc.array(step, { maxLength: 60 }),
      async (limit, steps) => {
        const queue = new BoundedQueue<number>(limit);
        const accepted: number[] = [];
        const taken: Promise<IteratorResult<number, undefined>>[] = [];
        for (const [index, action] of steps.entries()) {
          if (action === 'offer' && queue.offer(index)) accepted.push(index);
          if (action === 'take') taken.push(queue.next());
          if (action === 'close') queue.close();
          assert.ok(queue.size <= limit);
        }
        queue.close();
        while (queue.size > 0) taken.push(queue.next());
        const results = await Promise.all(taken);
        assert.deepEqual(
          results.filter((result) => !result.done).map(({ value }) => value),
          accepted,
        );
      },
    );
    await fc.assert(history);
  });
});
