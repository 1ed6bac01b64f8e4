import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compressionDue, mayHelpOverflow } from './compression-due.ts';
import { JournalBuilder } from './journal-builder.ts';

const asked = (why: 'overflow' | 'person') => ({ kind: 'asked', why, topic: '', place: null }) as const;
const turn = () => new JournalBuilder().arrives('q').opens();

test('a provider that finds a prompt too long is helped twice in a turn, and not after an attempt that won nothing', () => {
  assert.equal(mayHelpOverflow(turn().build()), true);
  const helped = turn().compression(asked('overflow')).compression({ kind: 'begun' });
  assert.equal(mayHelpOverflow(helped.build()), true);
  assert.equal(mayHelpOverflow(helped.compression({ kind: 'declined', tokens: 9 }).build()), false);
  assert.equal(mayHelpOverflow(turn().compression(asked('overflow')).compression(asked('overflow')).build()), false);
});

test('what happened in an earlier turn does not count', () => {
  const earlier = turn().compression(asked('overflow')).compression({ kind: 'declined', tokens: 9 });
  assert.equal(mayHelpOverflow(earlier.answers('a').closes().arrives('again').opens().build()), true);
});

test("a person's wish is not forgotten over a provider's", () => {
  for (const [first, second] of [
    ['person', 'overflow'],
    ['overflow', 'person'],
  ] as const) {
    const both = turn().compression(asked(first)).compression(asked(second)).build();
    assert.equal(compressionDue(both, null), 'person', `${first}, then ${second}`);
  }
});
