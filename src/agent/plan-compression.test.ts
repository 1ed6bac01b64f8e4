import assert from 'node:assert/strict';
import { test } from 'node:test';
import { textOf } from '../protocol/messages.ts';
import { JournalBuilder } from './journal-builder.ts';
import { planCompression, type CompressionBounds } from './plan-compression.ts';

const bounds: CompressionBounds = { thresholdTokens: 1_000, targetRatio: 0.9, protectLastN: 20, isPressed: false };
const long = 'word '.repeat(80);

function exchanges(count: number, words: string): JournalBuilder {
  const builder = new JournalBuilder();
  for (let index = 1; index <= count; index += 1) {
    builder.arrives(`${index}? ${words}`).opens().answers(`${index}! ${words}`).closes();
  }
  return builder;
}

function told(builder: JournalBuilder, more: Partial<CompressionBounds>): string[] {
  const plan = planCompression(builder.build().entries, 'threshold', { ...bounds, ...more });
  assert.ok(plan.kind === 'summarise', plan.kind);
  return plan.middle.map(({ message }) => textOf(message).slice(0, 2));
}

test('the newest messages stay, by their number and by their size, whichever is less', () => {
  const eight = exchanges(4, long);
  assert.deepEqual(told(eight, { protectLastN: 3 }), ['1?', '1!', '2?', '2!', '3?']);
  assert.deepEqual(told(eight, { targetRatio: 0.25 }), ['1?', '1!', '2?', '2!', '3?', '3!']);
  assert.deepEqual(told(eight, { isPressed: true }), ['1?', '1!', '2?', '2!', '3?', '3!', '4?']);
});

test('if all that could be told shortly is less than a tenth, nobody is asked to', () => {
  const huge = exchanges(1, 'hi').arrives(long.repeat(20)).opens().build();
  assert.equal(planCompression(huge.entries, 'threshold', bounds).kind, 'too-little');
});
