import assert from 'node:assert/strict';
import { test } from 'node:test';

import { ApiError, type SayReceipt, type SendRequest } from '../../src/protocol/api.ts';
import type { InboxId, SessionId } from '../../src/protocol/ids.ts';
import type { Item } from './items.ts';
import { createOutbox, withoutStored, type Outbox, type PendingMessage } from './outbox.ts';

const unreachable = new ApiError('unreachable', 'no answer');

/** A gateway that answers as it is told, once for each message sent, and a page that remembers what it saw. */
function setUp(answers: (ApiError | 'accept' | 'command')[], storedText: string | null = null) {
  const sent: SendRequest[] = [];
  const receipts: SayReceipt[] = [];
  const waits: number[] = [];
  let pending: readonly PendingMessage[] = [];
  let saved = storedText;
  let unauthorized = 0;
  let ids = 0;
  const outbox: Outbox = createOutbox({
    async send(request) {
      sent.push(request);
      const answer = answers.shift() ?? 'accept';
      if (answer === 'command') return { kind: 'command', session: request.session, text: 'done' };
      if (answer !== 'accept') throw answer;
      return {
        kind: 'message',
        sessionId: 'ses_1' as SessionId,
        sessionName: request.session ?? 'new-one',
        inboxId: `inb_${request.externalId}` as InboxId,
        duplicate: false,
        afterSeq: 0,
      };
    },
    newId: () => `id-${++ids}`,
    wait: async (delayMs) => void waits.push(delayMs),
    storage: { read: () => saved, write: (text) => (saved = text) },
    onChange: (next) => (pending = next),
    onReceipt: (_message, receipt) => receipts.push(receipt),
    onUnauthorized: () => (unauthorized += 1),
  });
  return {
    outbox,
    sent,
    receipts,
    waits,
    pending: () => pending,
    saved: () => saved,
    unauthorized: () => unauthorized,
    settle: () => new Promise((resolve) => setImmediate(resolve)),
  };
}

test('a command is done with once it has its receipt', async () => {
  const { outbox, pending, receipts, saved, settle } = setUp(['command']);
  outbox.send('s', '/status', 7);
  assert.equal(pending().length, 1);
  await settle();
  assert.deepEqual([pending(), saved(), receipts], [[], '[]', [{ kind: 'command', session: 's', text: 'done' }]]);
});

test('a message is pending at once and accepted with its receipt', async () => {
  const { outbox, pending, receipts, settle } = setUp([]);
  outbox.send(null, 'hello', 7);
  const message = { externalId: 'id-1', session: null, text: 'hello', afterSeq: 7 };
  assert.deepEqual(pending(), [{ ...message, state: { kind: 'sending' } }]);
  await settle();
  assert.deepEqual(pending(), [{ ...message, session: 'new-one', state: { kind: 'accepted', inboxId: 'inb_id-1' } }]);
  assert.deepEqual(
    receipts.map((receipt) => receipt.kind === 'message' && receipt.sessionName),
    ['new-one'],
  );
});

test('a failing network is tried again with the same id and longer waits', async () => {
  const { outbox, sent, waits, pending, settle } = setUp([unreachable, new ApiError('draining', 'later'), 'accept']);
  outbox.send('s', 'hello', 0);
  await settle();
  assert.deepEqual(
    sent.map(({ externalId }) => externalId),
    ['id-1', 'id-1', 'id-1'],
  );
  assert.deepEqual(waits, [500, 1_000]);
  assert.equal(pending()[0]?.state.kind, 'accepted');
});

test('messages of a session do not overtake each other', async () => {
  const { outbox, sent, settle } = setUp([unreachable, unreachable, 'accept', 'accept']);
  outbox.send('s', 'first', 0);
  outbox.send('s', 'second', 0);
  await settle();
  assert.deepEqual(
    sent.map(({ text }) => text),
    ['first', 'first', 'first', 'second'],
  );
});

test('a refused message says why, is not tried again by itself, and can be sent again under its id', async () => {
  const { outbox, sent, pending, settle } = setUp([new ApiError('busy', 'too many wait')]);
  outbox.send('s', 'hello', 0);
  await settle();
  assert.deepEqual(pending()[0]?.state, { kind: 'failed', problem: 'too many wait' });
  outbox.retry('id-1');
  await settle();
  assert.deepEqual(
    sent.map(({ externalId }) => externalId),
    ['id-1', 'id-1'],
  );
  assert.equal(pending()[0]?.state.kind, 'accepted');
});

test('trying has an end', async () => {
  const { outbox, sent, pending, settle } = setUp(Array.from({ length: 50 }, () => unreachable));
  outbox.send('s', 'hello', 0);
  await settle();
  assert.equal(sent.length, 12);
  assert.deepEqual(pending()[0]?.state, { kind: 'failed', problem: 'no answer' });
});

test('what was not acknowledged is sent by the next page under the same id', async () => {
  const before = setUp([new ApiError('unauthorized', 'a key is wanted')]);
  before.outbox.send('s', 'hello', 0);
  await before.settle();
  const next = setUp([], before.saved());
  await next.settle();
  assert.deepEqual(next.sent, [{ session: 's', text: 'hello', externalId: 'id-1', channel: 'web' }]);
  assert.equal(next.saved(), '[]');
});

test('a message that met a locked door goes out after the login', async () => {
  const { outbox, sent, pending, unauthorized, settle } = setUp([new ApiError('unauthorized', 'a key is wanted')]);
  outbox.send('s', 'hello', 0);
  await settle();
  assert.equal(unauthorized(), 1);
  assert.equal(pending()[0]?.state.kind, 'sending');
  outbox.resume();
  outbox.resume();
  await settle();
  assert.equal(sent.length, 2);
  assert.equal(pending()[0]?.state.kind, 'accepted');
});

test('what is done with can be removed', async () => {
  const { outbox, pending, settle } = setUp([]);
  outbox.send('s', 'hello', 0);
  await settle();
  outbox.remove(['id-1']);
  assert.deepEqual(pending(), []);
});

function message(externalId: string, state: PendingMessage['state'], text = 'hello', afterSeq = 5): PendingMessage {
  return { externalId, session: 's', text, afterSeq, state };
}
const storedItem = (seq: number, inboxId: string, text = 'hello'): Item => ({
  kind: 'user',
  seq,
  at: 0,
  inboxId: inboxId as InboxId,
  text,
  attachments: [],
});
const accepted = (inboxId: string) => ({ kind: 'accepted', inboxId: inboxId as InboxId }) as const;
const sending = { kind: 'sending' } as const;

test('an accepted message gives way to the entry with its inbox id, and only to that', () => {
  const mine = message('a', accepted('inb_a'));
  assert.deepEqual(withoutStored([mine], [storedItem(6, 'inb_other')]), [mine]);
  assert.deepEqual(withoutStored([mine], [storedItem(6, 'inb_a')]), []);
});

test('an entry that overtakes the receipt is known by its text, one entry for one message', () => {
  const twice = [message('a', sending), message('b', sending)];
  assert.deepEqual(withoutStored(twice, [storedItem(6, 'inb_a')]), [twice[1]]);
  assert.deepEqual(withoutStored(twice, [storedItem(6, 'inb_a'), storedItem(7, 'inb_b')]), []);
});

test('an older entry with the same text, or one that belongs to another message, is not taken for it', () => {
  const mine = message('a', sending);
  assert.deepEqual(withoutStored([mine], [storedItem(5, 'inb_old')]), [mine]);
  const other = message('b', accepted('inb_b'));
  assert.deepEqual(withoutStored([mine, other], [storedItem(6, 'inb_b')]), [mine]);
});
