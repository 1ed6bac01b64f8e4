import assert from 'node:assert/strict';
import { test } from 'node:test';
import { textOf } from '../protocol/messages.ts';
import { callHistory } from './call-history.ts';
import { lastAnswerOfTurn, lastMessageOfTurn } from './journal.ts';
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

const spoken = (journal: ReturnType<JournalBuilder['build']>) =>
  modelRequest(journal, manner).messages.map((message) => `${message.role}: ${textOf(message)}`);

test('what was rewound is no part of the prompt any more, with its calls and results', () => {
  const builder = new JournalBuilder().arrives('one').opens().answers('1').closes();
  const kept = builder.build().entries.length;
  const journal = builder
    .arrives('two')
    .opens()
    .answers('', [{ state: 'finished' }])
    .answers('2')
    .closes()
    .isRewound(kept)
    .arrives('three')
    .opens()
    .build();
  assert.deepEqual(spoken(journal), ['user: one', 'assistant: 1', 'user: three']);
});

test('rewinding further back takes what an earlier rewind had left, and what was said in between', () => {
  const builder = new JournalBuilder().arrives('one').opens().answers('1').closes();
  const first = builder.build().entries.length;
  builder.arrives('two').opens().answers('2').closes();
  const second = builder.build().entries.length;
  builder.arrives('three').opens().answers('3').closes().isRewound(second);
  builder.arrives('four').opens().answers('4').closes();
  assert.deepEqual(spoken(builder.build()).slice(2), ['user: two', 'assistant: 2', 'user: four', 'assistant: 4']);
  builder.isRewound(first).arrives('five').opens();
  assert.deepEqual(spoken(builder.build()), ['user: one', 'assistant: 1', 'user: five']);
  builder.closes().isRewound(0).arrives('six').opens();
  assert.deepEqual(spoken(builder.build()), ['user: six'], 'the head stays');
});

test('the helpers of a turn see nothing of what was rewound, even if the turn is opened again', () => {
  const builder = new JournalBuilder()
    .arrives('one')
    .opens()
    .answers('a', [{ state: 'failed' }]);
  const parked = builder.build();
  const before = parked.openTurn?.firstSeq ?? 0;
  const journal = { ...builder.isRewound(before - 1).build(), openTurn: parked.openTurn };
  assert.equal(lastMessageOfTurn(journal), null);
  assert.equal(lastAnswerOfTurn(journal), null);
  assert.equal(callHistory(journal).mostFailures, 0);
});
