/** The judge of what stands on Telegram must be able to fail: each kind of harm, done to a good chat by hand, is seen. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { repetitionMark } from '../../src/gateway/delivery/deliver.ts';
import { countingIdSource } from '../../src/lib/ids.ts';
import type { Entry, EntryBody } from '../../src/protocol/messages.ts';
import { judgeTelegram, type TelegramFindings } from './judge-telegram.ts';
import type { TelegramPost } from './scripted-telegram.ts';
import type { TelegramCommand } from './telegram-chat.ts';

const ids = countingIdSource();
const chat = 42;
const diedAt = 10_000;
const none = { findings: [], markedCopies: 0, orphanedDrafts: 0, commandsAnswered: 0 };

/** A session in which these words were answered with these. */
function session(...turns: readonly (readonly [words: string, answer: string])[]): Entry[] {
  const bodies = turns.flatMap(([words, answer]): EntryBody[] => [
    { kind: 'turn-opened' },
    { kind: 'message', message: { role: 'user', parts: [{ kind: 'text', text: words }] }, inboxId: ids.next('inb') },
    {
      kind: 'message',
      message: { role: 'assistant', parts: [{ kind: 'text', text: answer }] },
      modelCallId: ids.next('mdl'),
    },
    { kind: 'turn-closed', outcome: 'answered' },
  ]);
  return bodies.map((body, index) => ({ ...body, seq: index + 1, at: 0, turnId: ids.next('trn') }));
}

const talk = session(['say one', 'one'], ['say two', 'two **strong** words']);

function post(text: string, change: Partial<TelegramPost> = {}): TelegramPost {
  return { chat, id: 1, text, isEdited: false, isMarkedUp: true, at: 0, isUnheard: false, ...change };
}

function judged(
  posts: readonly TelegramPost[],
  commands: readonly TelegramCommand[] = [],
  entries: readonly Entry[] = talk,
): TelegramFindings {
  return judgeTelegram({ chat, sessions: ['x'], commands, posts, deaths: [diedAt] }, new Map([['x', entries]]));
}

function columns(...input: Parameters<typeof judged>): string[] {
  return judged(...input).findings.map(({ column }) => column);
}

const [one, two] = [post('one'), post('two strong words')];

test('what was said stands there, as Telegram shows it, also in place of a draft', () => {
  assert.deepEqual(judged([one, two]), none);
  assert.deepEqual(judged([one, { ...two, isEdited: true, isMarkedUp: false }]), none);
});

test('a draft that shows the whole answer is the answer, or an orphan if the answer came as well', () => {
  const draft = post('two strong words', { isMarkedUp: false, at: diedAt - 20 });
  assert.deepEqual(judged([one, draft]), none);
  assert.deepEqual(judged([one, draft, two]), { ...none, orphanedDrafts: 1 });
  assert.deepEqual(columns([one, { ...draft, at: 0 }, two]), ['doubled']);
});

test('an answer that is missing, cut or in the wrong place is seen', () => {
  assert.deepEqual(columns([one]), ['lost']);
  assert.deepEqual(columns([one, post('two strong')]), ['doubled', 'lost']);
  assert.deepEqual(columns([two, one]), ['outOfOrder']);
});

test('an answer that stands there twice is seen, unless the copy says so', () => {
  assert.deepEqual(columns([one, one, two]), ['doubled']);
  const copy = post(`${repetitionMark}one`);
  assert.deepEqual(judged([one, copy, copy, two]), { ...none, markedCopies: 2 });
  assert.deepEqual(judged([copy, two]), none, 'the first attempt never arrived');
});

test('a message that was taken twice is seen', () => {
  const twice = session(['say one', 'one'], ['say one', 'two']);
  assert.deepEqual(columns([one, post('two')], [], twice), ['doubled']);
});

test('each command has one answer', () => {
  const answers = [post('Stopping.'), post('Conversation: chat-1 (2 messages)')];
  assert.deepEqual(judged([one, ...answers, two], ['/status', '/stop']), { ...none, commandsAnswered: 2 });
  assert.deepEqual(columns([one, two], ['/new yes']), ['lost']);
  assert.deepEqual(columns([one, two, post('Stopping.'), post('Stopping.')], ['/stop']), ['doubled']);
  const copy = post(`${repetitionMark}Stopping.`);
  const counted = { ...none, commandsAnswered: 1, markedCopies: 1 };
  assert.deepEqual(judged([one, two, post('Stopping.'), copy], ['/stop']), counted);
});

test('a draft that is left is seen; one whose id was lost is counted apart', () => {
  const draft = post('thinking · 3 s', { isMarkedUp: false, at: diedAt - 5_000 });
  assert.deepEqual(columns([one, draft, two]), ['draftsLeft']);
  const orphan = { ...draft, at: diedAt - 20 };
  assert.deepEqual(judged([one, orphan, two]), { ...none, orphanedDrafts: 1 });
  assert.deepEqual(judged([one, { ...draft, isUnheard: true }, two]), { ...none, orphanedDrafts: 1 });
  assert.deepEqual(
    columns([one, { ...orphan, isEdited: true }, two]),
    ['draftsLeft'],
    'it was noted before it changed',
  );
});

test('what came of a shortening may be told besides, where somebody wished for one', () => {
  const won = post('What came before is told to the model in a summary from now on: about 9 tokens became 3.');
  const asked = post('The conversation is being shortened; you are told what comes of it.');
  assert.deepEqual(judged([one, asked, won, two], ['/compress']), { ...none, commandsAnswered: 1 });
  assert.deepEqual(columns([one, won, two]), ['doubled']);
});
