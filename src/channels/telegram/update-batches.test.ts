import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Update } from 'grammy/types';
import type { Taken } from './receive-updates.ts';
import { UpdateBatches } from './update-batches.ts';

const batchMax = 100;
const batchOf = (first: number): Update[] =>
  Array.from({ length: batchMax }, (_, index) => ({ update_id: first + index }));

test('where something is always under way it is confirmed all the same, and what is confirmed is forgotten', async () => {
  const batches = new UpdateBatches();
  const offsets: number[] = [];
  let end = (_taken: Taken) => {};
  // More than a call can have arguments.
  for (let first = 1; first < 200_000; first += batchMax) {
    const endBefore = end;
    const { promise, resolve } = Promise.withResolvers<Taken>();
    end = resolve;
    batches.begin(batches.fresh(batchOf(first)), promise);
    endBefore({ confirmedBelow: first, complete: true });
    await Promise.resolve();
    assert.equal(batches.settle(), true);
    offsets.push(batches.offset - first);
  }
  assert.deepEqual(new Set(offsets), new Set([0]));
  assert.equal(batches.fresh(batchOf(1)).length, batchMax);
});
