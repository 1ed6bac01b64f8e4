import assert from 'node:assert/strict';
import test from 'node:test';
import { FakeClock } from '../lib/fake-clock.ts';
import { createLiveOutput } from './live-output.ts';

function start() {
  const clock = new FakeClock();
  const shown: string[] = [];
  return { clock, shown, live: createLiveOutput({ clock, onOutput: (text) => shown.push(text) }) };
}

test('the first piece is shown at once, those after it together', async () => {
  const { clock, shown, live } = start();
  live.push('a');
  assert.deepEqual(shown, ['a']);
  live.push('b');
  live.push('c');
  assert.deepEqual(shown, ['a']);
  await clock.advance(100);
  assert.deepEqual(shown, ['a', 'bc']);
});

test('after a pause the next piece is shown at once again', async () => {
  const { clock, shown, live } = start();
  live.push('a');
  await clock.advance(1_000);
  live.push('b');
  assert.deepEqual(shown, ['a', 'b']);
});

test('the end shows what is held back, and nothing after it', async () => {
  const { clock, shown, live } = start();
  live.push('a');
  live.push('b');
  live.end();
  live.push('c');
  await clock.advance(1_000);
  assert.deepEqual(shown, ['a', 'b']);
  assert.equal(clock.pendingTimers, 0);
});

test('of a flood only the newest part is shown, at the same pace', async () => {
  const { clock, shown, live } = start();
  live.push('start');
  for (let index = 0; index < 10_000; index++) live.push(`${index}`.padStart(100, '.'));
  await clock.advance(100);
  assert.equal(shown.length, 2);
  assert.equal(shown[1]?.length, 16_384);
  assert.ok(shown[1]?.endsWith('9999'));
});

test('when nothing is printed no timer runs', async () => {
  const { clock, live } = start();
  live.push('a');
  await clock.advance(500);
  assert.equal(clock.pendingTimers, 0);
  live.end();
});
