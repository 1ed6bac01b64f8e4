import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { SessionEvent } from '../../src/protocol/events.ts';
import type { CallId, InboxId, ModelCallId, TurnId } from '../../src/protocol/ids.ts';
import type { AssistantMessage, CallOutcome, Entry, EntryBody } from '../../src/protocol/messages.ts';
import {
  draftOf,
  emptyConversation,
  prependEntries,
  receive,
  unplacedCalls,
  type Conversation,
} from './conversation.ts';
import { openQuestion } from './items.ts';

const turnId = 'trn_1' as TurnId;
const firstCall = 'cal_1' as CallId;
const secondCall = 'cal_2' as CallId;

const entry = (seq: number, body: EntryBody): Entry => ({ ...body, seq, at: seq * 1_000, turnId });
const stored = (seq: number, body: EntryBody): SessionEvent => ({ kind: 'entry', entry: entry(seq, body) });
const user = (text: string): EntryBody => ({
  kind: 'message',
  message: { role: 'user', parts: [{ kind: 'text', text }] },
  inboxId: 'inb_1' as InboxId,
});
const answer = (...parts: AssistantMessage['parts']): EntryBody => ({
  kind: 'message',
  message: { role: 'assistant', parts },
  modelCallId: 'mdl_1' as ModelCallId,
});
const call = (callId: CallId, name = 'terminal') =>
  ({ kind: 'tool-call', callId, name, arguments: '{"command":"ls"}' }) as const;
const result = (callId: CallId, text: string, outcome: CallOutcome = 'finished'): EntryBody => ({
  kind: 'message',
  message: { role: 'tool', parts: [{ kind: 'tool-result', callId, outcome, text }] },
});
const liveState: SessionEvent = { kind: 'live-state', turn: null };
const turnStarted: SessionEvent = { kind: 'turn-started', turnId };
const delta = (text: string): SessionEvent => ({ kind: 'text-delta', turnId, text });
const callStarted = (callId: CallId): SessionEvent => ({
  kind: 'call-started',
  turnId,
  callId,
  name: 'terminal',
  arguments: '{}',
});

function after(events: readonly SessionEvent[], from: Conversation = emptyConversation(0), now = 10_000): Conversation {
  return events.reduce((conversation, event) => receive(conversation, event, now), from);
}

test('a whole turn becomes what is read, and nothing of the machinery around it', () => {
  const conversation = after([
    stored(1, { kind: 'head', reason: 'session-started', head: { systemPrompt: 'be good', tools: [] } }),
    stored(2, { kind: 'turn-opened' }),
    stored(3, user('list it')),
    stored(4, answer({ kind: 'reasoning', text: 'hm' }, { kind: 'text', text: 'I look.' }, call(firstCall))),
    stored(5, result(firstCall, 'README.md')),
    stored(6, answer({ kind: 'text', text: 'One file.' })),
    stored(7, { kind: 'turn-closed', outcome: 'answered' }),
    liveState,
  ]);
  assert.deepEqual(conversation, {
    items: [
      { kind: 'user', seq: 3, at: 3_000, inboxId: 'inb_1', text: 'list it', attachments: [] },
      {
        kind: 'answer',
        seq: 4,
        at: 4_000,
        blocks: [
          { kind: 'reasoning', text: 'hm' },
          { kind: 'text', text: 'I look.' },
          {
            kind: 'call',
            call: {
              callId: firstCall,
              name: 'terminal',
              arguments: '{"command":"ls"}',
              plannedAt: 4_000,
              result: { outcome: 'finished', text: 'README.md', tookMs: 1_000 },
            },
          },
        ],
      },
      { kind: 'answer', seq: 6, at: 6_000, blocks: [{ kind: 'text', text: 'One file.' }] },
    ],
    firstSeq: 1,
    lastSeq: 7,
    turn: null,
    running: new Map(),
    clearedDraft: null,
    trouble: null,
    caughtUp: true,
  });
});

test('an entry that arrives again changes nothing', () => {
  const conversation = after([stored(1, user('once'))]);
  assert.equal(receive(conversation, stored(1, user('once')), 0), conversation);
});

test('turns that did not answer say so, notices stay where they happened', () => {
  const { items } = after([
    stored(1, { kind: 'notice', text: 'the model is slow' }),
    stored(2, { kind: 'turn-closed', outcome: 'failed' }),
    stored(3, { kind: 'turn-closed', outcome: 'stopped' }),
    stored(4, { kind: 'turn-closed', outcome: 'parked' }),
  ]);
  assert.deepEqual(items, [
    { kind: 'notice', seq: 1, at: 1_000, text: 'the model is slow' },
    { kind: 'outcome', seq: 2, at: 2_000, outcome: 'failed' },
    { kind: 'outcome', seq: 3, at: 3_000, outcome: 'stopped' },
    { kind: 'outcome', seq: 4, at: 4_000, outcome: 'parked' },
  ]);
});

test('what comes with a message is named', () => {
  const content = { sha256: '', bytes: 1, mediaType: 'text/plain' };
  const { items } = after([
    stored(1, {
      kind: 'message',
      message: {
        role: 'user',
        parts: [
          { kind: 'text', text: 'look' },
          { kind: 'image', content },
          { kind: 'file', name: 'a.txt', content },
        ],
      },
      inboxId: 'inb_2' as InboxId,
    }),
  ]);
  assert.deepEqual(items, [
    {
      kind: 'user',
      seq: 1,
      at: 1_000,
      inboxId: 'inb_2',
      text: 'look',
      attachments: [
        { name: 'image-1.bin', content, way: 'received' },
        { name: 'a.txt', content, way: 'received' },
      ],
    },
  ]);
});

test('what a call sent and showed stands beside its result', () => {
  const content = { sha256: 'h', bytes: 1, mediaType: 'image/png' };
  const callId = 'cal_1' as CallId;
  const call = { kind: 'tool-call', callId, name: 'send_file', arguments: '{}' } as const;
  const result = { kind: 'tool-result', callId, outcome: 'finished', text: 'Sent.' } as const;
  const { items } = after([
    stored(1, { kind: 'message', message: { role: 'assistant', parts: [call] }, modelCallId: 'mdl_1' as ModelCallId }),
    stored(2, {
      kind: 'message',
      message: { role: 'tool', parts: [{ ...result, images: [content], files: [{ name: 'a.pdf', content }] }] },
    }),
  ]);
  const [answer] = items;
  const [block] = answer?.kind === 'answer' ? answer.blocks : [];
  assert.deepEqual(block?.kind === 'call' && block.call.result, {
    outcome: 'finished',
    text: 'Sent.',
    tookMs: 1_000,
    files: [
      { name: 'image-2.png', content, way: 'seen' },
      { name: 'a.pdf', content, way: 'sent' },
    ],
  });
});

test('what the program told the model is an item of its own, not something the user said', () => {
  const message = { role: 'user', parts: [{ kind: 'text', text: 'sum it up' }] } as const;
  const { items } = after([stored(1, { kind: 'message', message, inboxId: null })]);
  assert.deepEqual(items, [{ kind: 'nudge', seq: 1, at: 1_000, text: 'sum it up' }]);
});

test('the draft grows, and the stored message takes its place without doubling, whichever is told first', () => {
  const writing = after([liveState, turnStarted, delta('Hel'), delta('lo')]);
  assert.equal(draftOf(writing)?.text, 'Hello');

  const entryFirst = after([stored(1, answer({ kind: 'text', text: 'Hello' }))], writing);
  assert.equal(draftOf(entryFirst), null);
  assert.equal(draftOf(after([{ kind: 'draft-cleared', turnId }], entryFirst)), null);

  const clearedFirst = after([{ kind: 'draft-cleared', turnId }], writing);
  assert.equal(draftOf(clearedFirst)?.text, 'Hello', 'stays until the message arrives');
  assert.equal(draftOf(after([stored(1, answer({ kind: 'text', text: 'Hello' }))], clearedFirst)), null);
});

test('a draft whose attempt failed gives way to the next attempt, and to the end of the turn', () => {
  const cleared = after([liveState, turnStarted, delta('half a'), { kind: 'draft-cleared', turnId }]);
  assert.equal(draftOf(after([delta('anew')], cleared))?.text, 'anew');
  assert.equal(draftOf(after([stored(1, { kind: 'turn-closed', outcome: 'failed' })], cleared)), null);
});

test('a message that joins a running turn leaves the draft alone', () => {
  const joined = after([liveState, turnStarted, delta('writing'), stored(1, user('one more thing'))]);
  assert.equal(draftOf(joined)?.text, 'writing');
});

test('while text is written, what is stored keeps its identity', () => {
  const before = after([stored(1, user('hello')), liveState, turnStarted, delta('a')]);
  const later = after([delta('b')], before);
  assert.equal(later.items, before.items);
  assert.equal(later.running, before.running);
});

test('a running call shows its output, keeps it when it ends, and hands over to the stored result', () => {
  const planned = after([liveState, turnStarted, stored(1, answer(call(firstCall)))]);
  const started = after([callStarted(firstCall)], planned, 20_000);
  const printing = after([{ kind: 'call-output', turnId, callId: firstCall, text: 'line' }], started, 21_000);
  const shown = { callId: firstCall, name: 'terminal', arguments: '{}', output: 'line', startedAt: 20_000 };
  assert.deepEqual([...printing.running.values()], [{ ...shown, ended: null }]);
  assert.deepEqual(unplacedCalls(printing), []);

  const ended = after([{ kind: 'call-ended', turnId, callId: firstCall, outcome: 'finished' }], printing);
  assert.deepEqual([...ended.running.values()], [{ ...shown, ended: 'finished' }]);

  const settled = after([stored(2, result(firstCall, 'line'))], ended, 23_500);
  assert.equal(settled.running.size, 0);
  const [item] = settled.items;
  assert.deepEqual(item?.kind === 'answer' && item.blocks[0], {
    kind: 'call',
    call: {
      callId: firstCall,
      name: 'terminal',
      arguments: '{"command":"ls"}',
      plannedAt: 1_000,
      result: { outcome: 'finished', text: 'line', tookMs: 3_500 },
    },
  });
});

test('results find their calls by id, in whatever order they come', () => {
  const { items } = after([
    stored(1, answer(call(firstCall), call(secondCall))),
    stored(2, result(secondCall, 'two', 'failed')),
    stored(3, result(firstCall, 'one', 'skipped')),
  ]);
  const [item] = items;
  const results = item?.kind === 'answer' ? item.blocks.map((block) => block.kind === 'call' && block.call.result) : [];
  // Two calls shared the message and neither was watched: how long each took is not known.
  assert.deepEqual(results, [
    { outcome: 'skipped', text: 'one', tookMs: null },
    { outcome: 'failed', text: 'two', tookMs: null },
  ]);
  assert.equal(items.length, 1);
});

test('after a reload in the middle of a turn the turn goes on where it is', () => {
  const conversation = after(
    [
      stored(1, answer(call(firstCall))),
      {
        kind: 'live-state',
        turn: {
          turnId,
          text: '',
          reasoning: '',
          calls: [{ callId: firstCall, name: 'terminal', arguments: '{}', output: 'so far' }],
          status: '',
        },
      },
      { kind: 'call-output', turnId, callId: firstCall, text: ', and on' },
    ],
    emptyConversation(0),
    9_000,
  );
  assert.equal(conversation.turn?.turnId, turnId);
  assert.deepEqual(conversation.running.get(firstCall), {
    callId: firstCall,
    name: 'terminal',
    arguments: '{}',
    output: 'so far, and on',
    startedAt: 1_000,
    ended: null,
  });
});

test('a reconnect replaces what was live by what is live now', () => {
  const before = after([liveState, turnStarted, delta('lost'), callStarted(firstCall)]);
  const { turn, running, clearedDraft } = after([liveState], before);
  assert.deepEqual({ turn, running, clearedDraft }, { turn: null, running: new Map(), clearedDraft: null });
});

test('a running call that no loaded message mentions is shown all the same', () => {
  const conversation = after([liveState, turnStarted, callStarted(secondCall)]);
  assert.deepEqual(
    unplacedCalls(conversation).map(({ callId }) => callId),
    [secondCall],
  );
});

test('an opened turn counts as running before its first sign of life, but not while the past is being read', () => {
  const opened = stored(1, { kind: 'turn-opened' });
  assert.equal(after([liveState, opened]).turn?.turnId, turnId);
  assert.equal(after([opened]).turn, null);
});

test('the end of a turn ends everything live', () => {
  const conversation = after([
    liveState,
    turnStarted,
    delta('x'),
    callStarted(firstCall),
    stored(1, { kind: 'turn-closed', outcome: 'stopped' }),
  ]);
  const { turn, running, clearedDraft } = conversation;
  assert.deepEqual({ turn, running, clearedDraft }, { turn: null, running: new Map(), clearedDraft: null });
});

test('trouble is told until the session goes on', () => {
  const troubled = after([liveState, turnStarted, { kind: 'trouble', text: 'the disk is full' }]);
  assert.equal(troubled.trouble, 'the disk is full');
  assert.equal(after([delta('again')], troubled).trouble, null);
  assert.equal(after([stored(1, user('hello'))], troubled).trouble, null);
});

test('earlier entries go in front, and a result that waited for its call joins it', () => {
  const opened = after(
    [stored(3, result(firstCall, 'out')), stored(4, user('later')), liveState],
    emptyConversation(2),
  );
  assert.deepEqual(
    opened.items.map(({ kind }) => kind),
    ['stray-result', 'user'],
  );
  const whole = prependEntries(opened, [entry(1, user('first')), entry(2, answer(call(firstCall)))]);
  const atOnce = after([
    stored(1, user('first')),
    stored(2, answer(call(firstCall))),
    stored(3, result(firstCall, 'out')),
    stored(4, user('later')),
    liveState,
  ]);
  assert.deepEqual(whole, atOnce);
});

test('earlier entries that are loaded already are not put in front again', () => {
  const conversation = after([stored(1, user('first')), stored(2, user('second'))]);
  assert.deepEqual(prependEntries(conversation, [entry(1, user('first')), entry(2, user('second'))]), conversation);
});

const ask = (callId: CallId, text = 'Sure?'): EntryBody => ({
  kind: 'notice',
  text,
  question: { callId, choices: ['yes', 'no'], deadline: 99_000 },
});
const questionsOf = ({ items }: Conversation) =>
  items.flatMap((item) => (item.kind === 'question' ? [`${item.text} ${item.isSettled ? 'settled' : 'open'}`] : []));

test('a question is open until its call has a result', () => {
  const asked = after([stored(1, answer(call(firstCall), call(secondCall))), stored(2, ask(firstCall))]);
  assert.deepEqual(questionsOf(asked), ['Sure? open']);
  assert.deepEqual(openQuestion(asked.items), {
    kind: 'question',
    seq: 2,
    at: 2_000,
    text: 'Sure?',
    turnId,
    question: { callId: firstCall, choices: ['yes', 'no'], deadline: 99_000 },
    isSettled: false,
  });
  assert.deepEqual(questionsOf(after([stored(3, result(secondCall, 'x'))], asked)), ['Sure? open']);
  const settled = after([stored(3, result(firstCall, 'x'))], asked);
  assert.deepEqual([questionsOf(settled), openQuestion(settled.items)], [['Sure? settled'], null]);
});

test('a question ends with its turn, and with the next question of its call', () => {
  const asked = after([stored(1, ask(firstCall)), stored(2, ask(secondCall, 'And this?'))]);
  assert.deepEqual(questionsOf(after([stored(3, ask(firstCall, 'Really?'))], asked)), [
    'Sure? settled',
    'And this? open',
    'Really? open',
  ]);
  const closed = after([stored(3, { kind: 'turn-closed', outcome: 'answered' })], asked);
  assert.deepEqual(questionsOf(closed), ['Sure? settled', 'And this? settled']);
  const other = entry(3, { kind: 'turn-closed', outcome: 'stopped' });
  const elsewhere = after([{ kind: 'entry', entry: { ...other, turnId: 'trn_2' as TurnId } }], asked);
  assert.deepEqual(questionsOf(elsewhere), ['Sure? open', 'And this? open']);
});

test('a question that is loaded later than its answer is settled', () => {
  const newer = after([stored(3, result(firstCall, 'x'))], emptyConversation(2));
  const older = [entry(1, answer(call(firstCall))), entry(2, ask(firstCall))];
  assert.deepEqual(questionsOf(prependEntries(newer, older)), ['Sure? settled']);
});

test('what a turn waits for is shown until it is over, and takes a failed draft away', () => {
  const status = (text: string): SessionEvent => ({ kind: 'status', turnId, text });
  const waiting = after([turnStarted, delta('half'), { kind: 'draft-cleared', turnId }, status('trying again in 4 s')]);
  assert.deepEqual([waiting.turn?.status, draftOf(waiting)], ['trying again in 4 s', null]);
  assert.equal(after([status('')], waiting).turn?.status, '');
});
