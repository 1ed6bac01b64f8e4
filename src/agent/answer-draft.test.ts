import assert from 'node:assert/strict';
import test from 'node:test';
import { countingIdSource } from '../lib/ids.ts';
import type { ModelEvent } from '../models/model.ts';
import { AnswerDraft } from './answer-draft.ts';

const ids = countingIdSource();
const turnId = ids.next('trn');

function draftOf(...events: Exclude<ModelEvent, { kind: 'end' | 'failed' }>[]): AnswerDraft {
  const draft = new AnswerDraft({ ids, sink: () => {}, turnId, origin: 'p/m' });
  for (const event of events) draft.add(event);
  return draft;
}

test('pieces of one block become one part, and blocks of thought stay apart', () => {
  const { parts } = draftOf(
    { kind: 'reasoning-delta', text: 'first ' },
    { kind: 'reasoning-delta', text: 'thought' },
    { kind: 'reasoning-end', opaque: 'seal 1' },
    { kind: 'reasoning-delta', text: 'second' },
    { kind: 'reasoning-end' },
    { kind: 'reasoning-delta', text: 'third' },
    { kind: 'text-delta', text: 'a' },
    { kind: 'text-delta', text: 'b' },
  ).message();
  assert.deepEqual(parts, [
    { kind: 'reasoning', text: 'first thought', origin: 'p/m', opaque: 'seal 1' },
    { kind: 'reasoning', text: 'second', origin: 'p/m' },
    { kind: 'reasoning', text: 'third', origin: 'p/m' },
    { kind: 'text', text: 'ab' },
  ]);
});

test('a thought without words is kept for whoever sealed it', () => {
  const { parts } = draftOf(
    { kind: 'text-delta', text: 'a' },
    { kind: 'reasoning-end', opaque: 'sealed' },
    { kind: 'reasoning-end' },
  ).message();
  assert.deepEqual(parts, [
    { kind: 'text', text: 'a' },
    { kind: 'reasoning', text: '', origin: 'p/m', opaque: 'sealed' },
  ]);
});

test('only words and calls break the silence, and only words outlive a stop', () => {
  const call = { kind: 'tool-call', providerCallId: 'x', name: 'work', arguments: '{}' } as const;
  assert.equal(draftOf({ kind: 'reasoning-delta', text: 'hm' }, { kind: 'text-delta', text: ' \n' }).isSilent(), true);
  assert.equal(draftOf(call).isSilent(), false);
  assert.equal(draftOf(call, { kind: 'text-delta', text: ' ' }).spokenOnly(), null);
  assert.deepEqual(draftOf({ kind: 'text-delta', text: 'so' }, call).spokenOnly()?.parts, [
    { kind: 'text', text: 'so' },
  ]);
});
