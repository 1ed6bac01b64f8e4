import assert from 'node:assert/strict';
import { test } from 'node:test';
import { JournalBuilder } from './journal-builder.ts';
import { modelRequest } from './model-request.ts';

const manner = { effort: null, cachePace: 'short', contents: new Map() } as const;

test('results stand in the order of their calls, whatever was stored first', () => {
  const journal = new JournalBuilder()
    .arrives('q')
    .opens()
    .answers('', [{ state: 'finished' }, { state: 'failed' }, { state: 'finished' }])
    .build();
  const { messages } = modelRequest(journal, manner);
  const asked = messages.flatMap((message) =>
    message.role === 'assistant'
      ? message.parts.flatMap((part) => (part.kind === 'tool-call' ? [part.callId] : []))
      : [],
  );
  const answered = messages.flatMap((message) => (message.role === 'tool' ? [message.parts[0].callId] : []));
  assert.deepEqual(answered, asked);
  assert.deepEqual(
    messages.map((message) => message.role),
    ['user', 'assistant', 'tool', 'tool', 'tool'],
  );
});

test('a longer log only adds to the request: what was sent before is a prefix of what is sent now', () => {
  const builder = new JournalBuilder()
    .arrives('q')
    .opens()
    .answers('', [{ state: 'finished' }]);
  const before = modelRequest({ ...builder.build(), entries: [...builder.build().entries] }, manner);
  const after = modelRequest(builder.answers('a').closes().arrives('more').opens().build(), manner);
  assert.equal(after.systemPrompt, before.systemPrompt);
  assert.equal(JSON.stringify(after.messages.slice(0, before.messages.length)), JSON.stringify(before.messages));
});

test('an answer without words and calls is not sent back', () => {
  const journal = new JournalBuilder().arrives('q').opens().answers('').closes().arrives('again').opens().build();
  const { messages } = modelRequest(journal, manner);
  assert.deepEqual(
    messages.map((message) => message.role),
    ['user', 'user'],
  );
});
