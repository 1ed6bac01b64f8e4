/** Shortening: the log keeps everything, and says how a prompt tells it; it fits what is there, or nothing is written. */
import assert from 'node:assert/strict';
import { present } from '../lib/assert.ts';
import type { CompressionStep } from '../protocol/messages.ts';
import type { Declare } from './fake-world.ts';

const misfit = { name: 'StoreError', reason: 'conflict' };
type Done = Extract<CompressionStep, { kind: 'done' }>;
const done: Done = {
  kind: 'done',
  why: 'person',
  headSeq: 1,
  toSeq: 4,
  preface: 'said before it',
  summary: 'told',
  by: 'model',
  keeps: [2],
  digests: [],
  tokensBefore: 100,
  tokensAfter: 10,
};

export function compressSuite(declare: Declare): void {
  declare('a step of shortening is appended, and takes nothing away', async ({ store, clock, conversation }) => {
    const chat = conversation('alpha');
    await chat.exchange('one', 'two');
    await chat.own();
    const before = await chat.journal();
    await chat.commit({ verb: 'compress', step: { kind: 'begun' } }, { verb: 'compress', step: done });
    const after = await chat.journal();
    const seq = before.session.lastSeq;
    const place = { at: clock.now(), turnId: null };
    assert.deepEqual(after.entries, [
      ...before.entries,
      { kind: 'compression', step: { kind: 'begun' }, seq: seq + 1, ...place },
      { kind: 'compression', step: done, seq: seq + 2, ...place },
    ]);
    assert.equal((await store.search('one', 10)).length, 1);
    assert.deepEqual(await store.checkIntegrity(), []);
  });

  declare('what a person asked for is work to be done, until something came of it', async ({ store, conversation }) => {
    const chat = conversation('alpha');
    await chat.exchange('one', 'two');
    await chat.own();
    const asked = { kind: 'asked', topic: '', place: null } as const;
    await chat.commit({ verb: 'compress', step: { ...asked, why: 'overflow' } });
    assert.deepEqual(await store.read.sessionsWithWork(10), []);
    for (const end of [done, { kind: 'declined', tokens: 1 } as const]) {
      await chat.commit({ verb: 'compress', step: { ...asked, why: 'person' } });
      await chat.commit({ verb: 'compress', step: { kind: 'begun' } });
      assert.deepEqual(await store.read.sessionsWithWork(10), [chat.sessionId]);
      await chat.commit({ verb: 'compress', step: end });
      assert.deepEqual(await store.read.sessionsWithWork(10), []);
    }
  });

  declare('what tells the person who asked is of no session, and comes with the step or not at all', async (world) => {
    const { store, ids, owner, conversation } = world;
    const chat = conversation('alpha');
    await chat.exchange('one', 'two');
    await chat.own();
    for (const record of await store.claimDeliveries(owner, 9)) void record;
    const reply = { outboxId: ids.next('out'), channel: 'cli', target: 'x', text: 'won', buttons: [] };
    await assert.rejects(chat.commit({ verb: 'compress', step: { ...done, toSeq: 99 }, reply }), misfit);
    assert.deepEqual(await store.claimDeliveries(owner, 9), []);
    await chat.commit({ verb: 'compress', step: done, reply });
    const [sent] = await store.claimDeliveries(owner, 9);
    assert.deepEqual([sent?.text, sent?.sessionId, sent?.turnId], ['won', null, null]);
  });

  declare(
    'a word to the people may be sent as well: it is of its session, which a reader of the log knows',
    async (world) => {
      const { store, ids, owner, conversation } = world;
      const chat = conversation('alpha');
      await chat.exchange('one', 'two');
      await chat.own();
      for (const record of await store.claimDeliveries(owner, 9))
        await store.settleDelivery(record.id, { kind: 'sent', platformId: null });
      const reply = { outboxId: ids.next('out'), channel: 'cli', target: 'x', text: 'a word', buttons: [] };
      await chat.commit({ verb: 'notice', turnId: null, text: 'a word', reply });
      const [sent] = await store.claimDeliveries(owner, 9);
      assert.deepEqual([sent?.text, sent?.sessionId, sent?.turnId], ['a word', chat.sessionId, null]);
      const { seq, at, ...newest } = present((await chat.journal()).entries.at(-1), 'an entry');
      assert.deepEqual(newest, { turnId: null, kind: 'notice', text: 'a word' }, `${seq} ${at}`);
    },
  );

  declare('places that the log does not have are refused', async ({ conversation }) => {
    const chat = conversation('alpha');
    await chat.exchange('one', 'two');
    await chat.own();
    const before = await chat.journal();
    const wrong: Partial<Done>[] = [
      { toSeq: before.session.lastSeq + 1 },
      { toSeq: -1 },
      { toSeq: 1.5 },
      { headSeq: 0 },
      { keeps: [5] },
      { summary: '' },
      { toSeq: 0, keeps: [] },
    ];
    for (const change of wrong) {
      await assert.rejects(chat.commit({ verb: 'compress', step: { ...done, ...change } }), misfit);
    }
    assert.deepEqual(await chat.journal(), before);
  });

  declare('an import keeps what it is about, under the new numbers', async ({ store, ids, conversation }) => {
    const chat = conversation('alpha');
    await chat.exchange('one', 'two');
    await chat.own();
    await chat.commit({ verb: 'compress', step: done });
    await store.releaseLease(chat.lease);
    const { session, entries } = await chat.journal();
    const stretched = entries.map((entry) => {
      const seq = entry.seq * 10;
      if (entry.kind !== 'compression' || entry.step.kind !== 'done') return { ...entry, seq };
      return { ...entry, seq, step: { ...entry.step, headSeq: 10, toSeq: 40, keeps: [20] } };
    });
    const id = ids.next('ses');
    await store.importSession(id, 'web:direct:copy', 'owner', { ...session, name: 'copy', entries: stretched });
    assert.deepEqual(present(await store.read.journal(id, 0), 'the copy').entries, entries);
  });
}
