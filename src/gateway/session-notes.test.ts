import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeId, SessionId } from '../protocol/ids.ts';
import type { Store } from '../store/store.ts';
import { TestChat } from './commands/test-chat.ts';
import { createLiveHub } from './live-hub.ts';
import { createSessionNotes } from './session-notes.ts';

const note = { id: 'out_1/1', text: 'a word', buttons: [{ label: 'Yes', value: '/undo yes 1' }] };

async function stage() {
  const chat = await TestChat.open();
  const { store, clock, drain } = chat.gateway;
  const hub = createLiveHub();
  const write = createSessionNotes({ store, clock, hub, drain, holder: 'nod_notes' as NodeId });
  const notices = async (id: SessionId) =>
    (await store.read.entries(id, { after: 0, limit: 100 })).filter(({ kind }) => kind === 'notice');
  return { chat, hub, write, notices };
}

test('a note is in the log with its buttons, once for the same delivery, and whoever looks sees it', async () => {
  const { chat, hub, write, notices } = await stage();
  await chat.says('one');
  const session = await chat.session();
  assert.ok(session);
  const { events } = hub.subscribe(session.id);
  const seqs = [await write(session.id, note), await write(session.id, note)];
  const written = await notices(session.id);
  assert.deepEqual(
    written.map((entry) => ({ ...entry, at: 0 })),
    [
      {
        kind: 'notice',
        seq: session.lastSeq + 1,
        at: 0,
        turnId: null,
        text: 'a word',
        delivery: { id: note.id, buttons: note.buttons },
      },
    ],
  );
  assert.deepEqual(seqs, [session.lastSeq + 1, session.lastSeq + 1]);
  const seen = await events[Symbol.asyncIterator]().next();
  assert.deepEqual(seen.value, { kind: 'entry', entry: written[0] });
  await chat.says('two');
  assert.deepEqual(chat.prompts.at(-1), ['one', 'answer 1', 'two'], 'no model sees it');
  await chat.close();
});

test('a note is written in the middle of a turn, which goes on', async () => {
  const { chat, write, notices } = await stage();
  const release = chat.holds();
  await chat.says('one');
  const session = await chat.session();
  assert.ok(session?.turn === 'open');
  assert.equal(typeof (await write(session.id, note)), 'number');
  assert.equal((await notices(session.id)).length, 1);
  release();
  assert.deepEqual(await chat.hears(), ['answer 1']);
  await chat.close();
});

test('for a session that is not there a note is not written, and one that is used elsewhere is busy', async () => {
  const { chat, write, notices } = await stage();
  assert.equal(await write('ses_none' as SessionId, note), null);
  await chat.says('one');
  const session = await chat.session();
  assert.ok(session);
  const { store, clock }: { store: Store; clock: typeof chat.gateway.clock } = chat.gateway;
  const lease = await store.acquireLease(session.id, 'nod_other' as NodeId, 60_000);
  assert.ok(lease);
  const state = { outcome: undefined as Awaited<ReturnType<typeof write>> | undefined };
  const writing = write(session.id, note).then((outcome) => (state.outcome = outcome));
  while (state.outcome === undefined) await clock.advance(100);
  await writing;
  assert.deepEqual([state.outcome, await notices(session.id)], ['busy', []]);
  await store.releaseLease(lease);
  await chat.close();
});
