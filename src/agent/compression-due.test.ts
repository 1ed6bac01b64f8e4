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

test('an attempt by itself that won too little keeps nobody from being helped after a provider found it too long', () => {
  const declined = turn().compression({ kind: 'declined', tokens: 9 });
  assert.equal(mayHelpOverflow(declined.build()), true);
  const both = declined.compression(asked('overflow')).compression({ kind: 'declined', tokens: 9 });
  assert.equal(mayHelpOverflow(both.build()), false);
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

test('an attempt counts no more once what was said then is taken back', () => {
  const long = 'word '.repeat(400);
  const said = () => turn().answers('a').closes().arrives(long).opens();
  const declined = said().compression({ kind: 'declined', tokens: 900 });
  assert.equal(compressionDue(declined.build(), 400), null);
  const later = declined.closes().isRewound(5).arrives(long).opens();
  assert.equal(compressionDue(later.build(), 400), 'threshold');
});
