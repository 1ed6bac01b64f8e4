import assert from 'node:assert/strict';
import test from 'node:test';
import { FakeClock } from '../../lib/fake-clock.ts';
import { createSlots, type SlotResult } from './slots.ts';

const never = new AbortController().signal;

function release(result: SlotResult): void {
  assert.ok(result.kind === 'slot');
  result.release();
}

test('there are as many as there are, and one given back twice is one', async () => {
  const clock = new FakeClock();
  const slots = createSlots(clock, { slotsMax: 1, waitMs: 100 });
  const first = await slots.take(never);
  release(first);
  release(first);
  await slots.take(never);
  const third = slots.take(never);
  await clock.advance(100);
  assert.deepEqual(await third, { kind: 'timed-out' });
  assert.equal(clock.pendingTimers, 0);
});

test('whoever waits longest is next, and nobody overtakes', async () => {
  const slots = createSlots(new FakeClock(), { slotsMax: 1, waitMs: 100 });
  const order: number[] = [];
  const first = await slots.take(never);
  const waiting = [1, 2].map(async (number) => {
    const slot = await slots.take(never);
    order.push(number);
    release(slot);
  });
  release(first);
  const late = slots.take(never).then(() => order.push(3));
  await Promise.all([...waiting, late]);
  assert.deepEqual(order, [1, 2, 3]);
});

test('whoever stops waiting leaves nothing behind', async () => {
  const clock = new FakeClock();
  const slots = createSlots(clock, { slotsMax: 1, waitMs: 100 });
  const first = await slots.take(never);
  const stop = new AbortController();
  const waiting = slots.take(stop.signal);
  stop.abort(new Error('enough'));
  await assert.rejects(waiting, /enough/);
  await assert.rejects(slots.take(stop.signal), /enough/);
  assert.equal(clock.pendingTimers, 0);
  release(first);
  assert.equal((await slots.take(never)).kind, 'slot');
});
