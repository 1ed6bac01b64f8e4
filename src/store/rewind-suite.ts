/** Going back: the log keeps everything and says from where the conversation goes on; turns are undone whole. */
import assert from 'node:assert/strict';
import { present } from '../lib/assert.ts';
import type { FakeConversation } from './fake-conversation.ts';
import type { Declare } from './fake-world.ts';

const misfit = { name: 'StoreError', reason: 'conflict' };

/** Two turns of four entries each, and nobody at work; the session is owned. */
async function twoTurns(chat: FakeConversation): Promise<void> {
  await chat.exchange('one', 'two');
  await chat.exchange('three', 'four');
  await chat.own();
}

export function rewindSuite(declare: Declare): void {
  declare('going back appends where to, and takes nothing away', async ({ store, clock, conversation }) => {
    const chat = conversation('alpha');
    await twoTurns(chat);
    await clock.advance(5);
    const before = await chat.journal();
    await chat.commit({ verb: 'rewind', toSeq: 4 });
    const after = await chat.journal();
    const rewound = { kind: 'rewound', toSeq: 4, seq: 9, at: clock.now(), turnId: null };
    assert.deepEqual(after, {
      ...before,
      session: { ...before.session, lastSeq: 9, updatedAt: clock.now() },
      entries: [...before.entries, rewound],
    });
    assert.equal((await store.search('three', 10)).length, 1);
    assert.deepEqual(await store.checkIntegrity(), []);
    // And on: the next turn follows, and the one before can be undone too.
    await store.releaseLease(chat.lease);
    await chat.exchange('five', 'six');
    await chat.own();
    await chat.commit({ verb: 'rewind', toSeq: 9 });
    await chat.commit({ verb: 'rewind', toSeq: 0 });
    assert.deepEqual(
      (await chat.journal()).entries.flatMap((entry) => (entry.kind === 'rewound' ? [entry.toSeq] : [])),
      [4, 9, 0],
    );
    assert.deepEqual(await store.checkIntegrity(), []);
  });

  declare('no turn is cut in half, and there is nothing beyond the log', async ({ conversation }) => {
    const chat = conversation('alpha');
    await twoTurns(chat);
    await chat.commit({ verb: 'notice', turnId: null, text: 'between' });
    const before = await chat.journal();
    for (const toSeq of [1, 2, 3, 5, 6, 7, 10, 1000, -1, 4.5, NaN]) {
      await assert.rejects(chat.commit({ verb: 'rewind', toSeq }), misfit, String(toSeq));
    }
    assert.deepEqual(await chat.journal(), before);
    for (const toSeq of [9, 8, 4, 0]) await chat.commit({ verb: 'rewind', toSeq });
  });

  declare('a late word about a turn does not make it longer', async ({ conversation }) => {
    const chat = conversation('alpha');
    const turnId = await chat.exchange('one', 'two');
    await chat.exchange('three', 'four');
    await chat.own();
    await chat.commit({ verb: 'notice', turnId, text: 'by the way' });
    await chat.commit({ verb: 'rewind', toSeq: 4 });
  });

  declare('while a turn is open nothing is undone', async ({ conversation }) => {
    const chat = conversation('alpha');
    await chat.exchange('one', 'two');
    const turnId = await chat.openTurn('three');
    for (const toSeq of [0, 4]) await assert.rejects(chat.commit({ verb: 'rewind', toSeq }), misfit);
    await chat.commit(
      { verb: 'close-turn', turnId, outcome: 'stopped', reply: null },
      { verb: 'rewind', toSeq: 4 },
      { verb: 'set-title', title: 'again', by: 'person' },
    );
  });

  declare('a parked turn that was undone is not tried again; it can be given up', async ({ store, conversation }) => {
    const chat = conversation('alpha');
    await chat.exchange('one', 'two');
    const turnId = await chat.openTurn('three');
    await chat.commit({ verb: 'close-turn', turnId, outcome: 'parked', reply: null });
    await chat.commit({ verb: 'rewind', toSeq: (await chat.journal()).session.lastSeq });
    assert.equal((await chat.journal()).session.turn, 'parked');
    await chat.commit({ verb: 'rewind', toSeq: 4 });
    assert.equal((await chat.journal()).session.turn, 'none');
    await store.releaseLease(chat.lease);
    await assert.rejects(store.retryParked(chat.sessionId), misfit);
    assert.equal(await store.dropParked(chat.sessionId), true);
    assert.deepEqual(await store.checkIntegrity(), []);
  });

  declare('one that is tried again goes on until its last end', async ({ store, conversation }) => {
    const chat = conversation('alpha');
    const turnId = await chat.openTurn('one');
    await chat.commit({ verb: 'close-turn', turnId, outcome: 'parked', reply: null });
    const parkedAt = (await chat.journal()).session.lastSeq;
    await store.releaseLease(chat.lease);
    await store.retryParked(chat.sessionId);
    await chat.own();
    await chat.commit({ verb: 'close-turn', turnId, outcome: 'answered', reply: null });
    await assert.rejects(chat.commit({ verb: 'rewind', toSeq: parkedAt }), misfit);
    await chat.commit({ verb: 'rewind', toSeq: 0 });
  });

  declare('an import keeps where it went back to, under the new numbers', async ({ store, ids, conversation }) => {
    const chat = conversation('alpha');
    await twoTurns(chat);
    await chat.commit({ verb: 'rewind', toSeq: 4 }, { verb: 'rewind', toSeq: 0 });
    await store.releaseLease(chat.lease);
    const { session, entries } = await chat.journal();
    const stretched = entries.map((entry) => ({
      ...entry,
      seq: entry.seq * 10,
      ...(entry.kind === 'rewound' ? { toSeq: entry.toSeq * 10 } : {}),
    }));
    for (const portable of [entries, stretched]) {
      const id = ids.next('ses');
      await store.importSession(id, `web:direct:${id}`, 'owner', { ...session, name: id, entries: portable });
      const copy = present(await store.read.journal(id, 0), 'the copy');
      assert.deepEqual(copy.entries, entries);
    }
    // Without the turn in between, that was under way somewhere else.
    const first = entries[0]?.turnId;
    const open = entries.filter((entry) => entry.turnId !== first || entry.kind !== 'turn-closed');
    const id = ids.next('ses');
    await store.importSession(id, 'web:direct:cut', 'owner', { ...session, name: 'cut', entries: open });
    const cut = present(await store.read.journal(id, 0), 'the copy');
    assert.deepEqual(
      cut.entries.flatMap((entry) => (entry.kind === 'rewound' ? [[entry.seq, entry.toSeq]] : [])),
      [
        [5, 0],
        [6, 0],
      ],
    );
    assert.deepEqual(await store.checkIntegrity(), []);
  });
}
