import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { AssertionFailure } from './assert.ts';
import type { Clock } from './clock.ts';
import { FakeClock } from './fake-clock.ts';
import { countingIdSource, createIdSource, isId } from './ids.ts';
import { seededRandom, type RandomSource } from './random.ts';

const sourceAt = (now: () => number, random: RandomSource = seededRandom(1)) => {
  const clock: Clock = { now, setTimer: () => () => {} };
  return createIdSource({ clock, random });
};

describe('createIdSource', () => {
  test('an id is its prefix and 26 characters, and the time comes first', () => {
    const zeros: RandomSource = { float: () => 0, bytes: (count) => new Uint8Array(count) };
    const at = (ms: number) => sourceAt(() => ms, zeros).next('ses');
    assert.equal(at(0), 'ses_00000000000000000000000000');
    assert.equal(at(1), 'ses_00000000010000000000000000');
    assert.equal(at(2 ** 48 - 1), 'ses_7zzzzzzzzz0000000000000000');
  });

  test('ids sort in the order of their creation, within a millisecond and when the clock goes back', () => {
    const times = fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 2, maxLength: 40 });
    fc.assert(
      fc.property(times, fc.integer(), (offsets, seed) => {
        let index = 0;
        const source = sourceAt(() => 1_790_000_000_000 + (offsets[index++] ?? 0), seededRandom(seed));
        const ids = offsets.map(() => source.next('msg'));
        assert.deepEqual([...ids].sort(), ids);
        assert.equal(new Set(ids).size, ids.length);
      }),
    );
  });

  test('counts upwards from the highest random start without running into the time', () => {
    const ones: RandomSource = { float: () => 0, bytes: (count) => new Uint8Array(count).fill(255) };
    const source = sourceAt(() => 1, ones);
    assert.deepEqual(
      [source.next('ses'), source.next('ses')],
      ['ses_0000000001fzzzzzzzzzzzzzzz', 'ses_0000000001g000000000000000'],
    );
  });

  test('two sources at the same time do not give the same id', () => {
    const clock = new FakeClock();
    const one = createIdSource({ clock, random: seededRandom(1) });
    const two = createIdSource({ clock, random: seededRandom(2) });
    assert.notEqual(one.next('ses'), two.next('ses'));
  });

  test('a prefix is two to eight lower-case letters', () => {
    const source = sourceAt(() => 1);
    for (const prefix of ['', 'a', 'abcdefghi', 'Ses', 's1', 'a_b', 'ses\n']) {
      assert.throws(() => source.next(prefix), AssertionFailure);
    }
  });
});

describe('isId', () => {
  test('knows its own', () => {
    const source = sourceAt(() => 1_790_000_000_000);
    assert.ok(isId('ses', source.next('ses')));
    assert.ok(isId('ses', countingIdSource().next('ses')));
  });

  test('refuses another prefix, another length, other letters and anything around it', () => {
    const id = sourceAt(() => 1_790_000_000_000).next('ses');
    const wrong = ['', 'ses_', id.slice(0, -1), `${id}0`, `${id}\n`, ` ${id}`, id.toUpperCase(), `${id.slice(0, -1)}u`];
    assert.deepEqual(
      wrong.filter((text) => isId('ses', text)),
      [],
    );
    assert.equal(isId('msg', id), false);
    assert.equal(isId('se', id), false);
  });
});

test('countingIdSource gives ids that a test can predict, in order', () => {
  const source = countingIdSource();
  assert.deepEqual(
    [source.next('ses'), source.next('msg'), source.next('ses')],
    ['ses_00000000000000000000000001', 'msg_00000000000000000000000002', 'ses_00000000000000000000000003'],
  );
});
