import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '../lib/fake-clock.ts';
import { createWrongKeyLimit } from './wrong-key-limit.ts';

function setUp() {
  const clock = new FakeClock();
  const limit = createWrongKeyLimit(clock);
  const wrong = (address: string, times: number) => {
    for (let time = 0; time < times; time++) limit.note(address);
  };
  return { clock, limit, wrong };
}

test('the tenth wrong key within a minute makes the address wait for the rest of it', async () => {
  const { clock, limit, wrong } = setUp();
  wrong('192.0.2.1', 9);
  assert.equal(limit.waitMs('192.0.2.1'), 0);
  await clock.advance(20_000);
  wrong('192.0.2.1', 1);
  assert.equal(limit.waitMs('192.0.2.1'), 40_000);
  assert.equal(limit.waitMs('192.0.2.2'), 0);
  await clock.advance(40_000);
  assert.equal(limit.waitMs('192.0.2.1'), 0);
  wrong('192.0.2.1', 9);
  assert.equal(limit.waitMs('192.0.2.1'), 0);
});

test('addresses of one network of IPv6 count together, other networks and IPv4 apart', () => {
  const { limit, wrong } = setUp();
  wrong('2001:db8::1', 5);
  wrong('2001:db8:0:0:9:8:7:6', 5);
  assert.ok(limit.waitMs('2001:db8::ffff') > 0);
  assert.equal(limit.waitMs('2001:db8:0:1::1'), 0);
  wrong('::ffff:192.0.2.1', 10);
  assert.ok(limit.waitMs('192.0.2.1') > 0);
  assert.equal(limit.waitMs('192.0.2.2'), 0);
});

test('very many addresses are not kept for ever', () => {
  const { limit, wrong } = setUp();
  wrong('192.0.2.1', 10);
  for (let index = 0; index < 10_000; index++) limit.note(`10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`);
  assert.equal(limit.waitMs('192.0.2.1'), 0);
});
