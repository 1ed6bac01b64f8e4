import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { seededRandom, systemRandom, type RandomSource } from './random.ts';

const draw = (random: RandomSource) => ({
  floats: Array.from({ length: 20 }, () => random.float()),
  bytes: [...random.bytes(20)],
});

describe('seededRandom', () => {
  test('is the same for the same seed and another for another one', () => {
    assert.deepEqual(draw(seededRandom(7)), draw(seededRandom(7)));
    assert.notDeepEqual(draw(seededRandom(7)), draw(seededRandom(8)));
  });

  test('never changes between versions: a failing seed must stay one', () => {
    assert.equal(seededRandom(1).float(), 0.6270739405881613);
    assert.deepEqual([...seededRandom(1).bytes(8)], [243, 201, 235, 253, 43, 48, 240, 92]);
  });

  test('spreads over the whole range', () => {
    const random = seededRandom(1);
    const tenths = new Set(Array.from({ length: 1000 }, () => Math.floor(random.float() * 10)));
    assert.deepEqual(tenths, new Set([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]));
  });
});

test('systemRandom stays in [0, 1), gives as many bytes as asked for, and does not repeat itself', () => {
  const { floats } = draw(systemRandom);
  assert.ok(floats.every((value) => value >= 0 && value < 1));
  assert.equal(systemRandom.bytes(0).length, 0);
  assert.notDeepEqual(systemRandom.bytes(32), systemRandom.bytes(32));
});
