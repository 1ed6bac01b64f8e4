/** Parked turns: tried again or given up by people, never while somebody is at work on the session. */
import assert from 'node:assert/strict';
import { present } from '../lib/assert.ts';
import type { InboxId, TurnId } from '../protocol/ids.ts';
import { assistantText, leaseTtlMs, type FakeConversation } from './fake-conversation.ts';
import type { Declare, SuiteWorld } from './fake-world.ts';

/** A turn that somebody asked to stop and that was parked, its owner gone in good order. */
async function park(
  chat: FakeConversation,
  text = 'one',
  meanwhile: () => Promise<void> = () => Promise.resolve(),
): Promise<{ turnId: TurnId; inboxId: InboxId }> {
  const turnId = await chat.openTurn(text);
  await meanwhile();
  await chat.store.requestStop(chat.sessionId);
  await chat.commit({ verb: 'close-turn', turnId, outcome: 'parked', reply: null });
  await chat.store.releaseLease(chat.lease);
  const asked = (await chat.journal()).entries.findLast((entry) => 'inboxId' in entry);
  assert.ok(asked !== undefined && 'inboxId' in asked && asked.inboxId !== null);
  return { turnId, inboxId: asked.inboxId };
}

/** The owner is not heard of any more, and another one comes and goes. */
async function crash({ store, clock, ids }: SuiteWorld, chat: FakeConversation): Promise<void> {
  await clock.advance(leaseTtlMs);
  const lease = present(await store.acquireLease(chat.sessionId, ids.next('nod'), leaseTtlMs), 'the lease');
  assert.equal((await chat.journal()).openTurn?.crashes, 1);
  await store.releaseLease(lease);
  await chat.own();
}

export function parkedSuite(declare: Declare): void {
  declare('C90 a parked turn that is tried again is open as if nothing had happened to it', async (world) => {
    const { store, clock, conversation } = world;
    const chat = conversation('alpha');
    const openedAt = clock.now();
    const { turnId, inboxId } = await park(chat, 'one', () => crash(world, chat));
    const before = await chat.journal();
    await clock.advance(5);
    assert.equal(await store.retryParked(chat.sessionId), true);

    const at = clock.now();
    const journal = await chat.journal();
    assert.deepEqual(journal, {
      session: { ...before.session, turn: 'open', lastSeq: 5, updatedAt: at },
      entries: [
        ...before.entries,
        { seq: 4, at, turnId, kind: 'turn-opened' },
        { seq: 5, at, turnId, kind: 'notice', text: 'The parked turn is tried again.' },
      ],
      openTurn: {
        id: turnId,
        sessionId: chat.sessionId,
        state: 'open',
        openedAt,
        crashes: 0,
        modelCalls: 0,
        stopRequested: false,
        firstSeq: 1,
      },
      unsettledCalls: [],
      waiting: [],
    });
    assert.equal((await store.read.inbox(inboxId))?.state, 'promoted');
    assert.deepEqual(await store.read.sessionsWithWork(10), [chat.sessionId]);
    const { turnsOpen, turnsParked } = await store.read.totals();
    assert.deepEqual([turnsOpen, turnsParked], [1, 0]);
    assert.equal(await store.retryParked(chat.sessionId), false);
    assert.deepEqual(await store.checkIntegrity(), []);

    await chat.own();
    const modelCallId = await chat.startModelCall(turnId);
    await chat.commit(
      { verb: 'append-answer', turnId, modelCallId, message: assistantText('done'), calls: [] },
      { verb: 'close-turn', turnId, outcome: 'answered', reply: null },
    );
    assert.equal((await store.read.inbox(inboxId))?.state, 'answered');
    assert.equal((await chat.journal()).session.turn, 'none');
    assert.deepEqual(await store.checkIntegrity(), []);
  });

  declare('a parked turn that is given up has failed', async ({ store, clock, conversation }) => {
    const chat = conversation('alpha');
    const { turnId, inboxId } = await park(chat);
    const before = await chat.journal();
    assert.equal(await store.dropParked(chat.sessionId), true);
    assert.deepEqual(await chat.journal(), {
      ...before,
      session: { ...before.session, turn: 'none', lastSeq: 4 },
      entries: [
        ...before.entries,
        { seq: 4, at: clock.now(), turnId, kind: 'notice', text: 'The parked turn was given up.' },
      ],
    });
    assert.equal((await store.read.inbox(inboxId))?.state, 'answered');
    const { turnsFailed, turnsParked } = await store.read.totals();
    assert.deepEqual([turnsFailed, turnsParked], [1, 0]);
    for (const verb of [store.retryParked, store.dropParked]) assert.equal(await verb(chat.sessionId), false);
    assert.deepEqual(await store.checkIntegrity(), []);
    assert.equal((await chat.exchange('two', 'fine')).startsWith('trn_'), true);
  });

  declare('nothing parked, nothing done', async ({ store, ids, conversation }) => {
    const chat = conversation('alpha');
    await chat.exchange('one', 'two');
    const before = await chat.journal();
    for (const verb of [store.retryParked, store.dropParked]) {
      assert.equal(await verb(chat.sessionId), false);
      assert.equal(await verb(ids.next('ses')), false);
    }
    assert.deepEqual(await chat.journal(), before);
  });

  declare('C91 nobody touches a parked turn while the session has an owner', async ({ store, clock, conversation }) => {
    const chat = conversation('alpha');
    await park(chat);
    await chat.own();
    const before = await chat.journal();
    for (const verb of [store.retryParked, store.dropParked]) {
      await assert.rejects(verb(chat.sessionId), { name: 'StoreError', reason: 'conflict' });
    }
    assert.deepEqual(await chat.journal(), before);
    await clock.advance(leaseTtlMs);
    assert.equal(await store.retryParked(chat.sessionId), true);
    // The stalled owner wakes up: it knows nothing of the turn that is open again.
    await assert.rejects(chat.commit({ verb: 'notice', turnId: null, text: 'late' }), { reason: 'lease-lost' });
    await chat.own();
    assert.equal((await chat.journal()).openTurn?.crashes, 0);
  });

  declare('a parked turn that the session left behind can only be given up', async ({ store, conversation }) => {
    const chat = conversation('alpha');
    const { turnId } = await park(chat);
    const next = await chat.openTurn('two');
    await store.releaseLease(chat.lease);
    const refused = async () =>
      assert.rejects(store.retryParked(chat.sessionId), { name: 'StoreError', reason: 'conflict' });
    await refused();
    await chat.own();
    await chat.commit({ verb: 'close-turn', turnId: next, outcome: 'answered', reply: null });
    await store.releaseLease(chat.lease);
    await refused();
    assert.equal(await store.dropParked(chat.sessionId), true);
    const { entries, session } = await chat.journal();
    assert.deepEqual([entries.at(-1)?.turnId, session.turn], [turnId, 'none']);
  });

  declare('giving up an older turn leaves the open one alone', async ({ store, conversation }) => {
    const chat = conversation('alpha');
    await park(chat);
    const next = await chat.openTurn('two');
    await store.releaseLease(chat.lease);
    assert.equal(await store.dropParked(chat.sessionId), true);
    const { session, openTurn } = await chat.journal();
    assert.deepEqual([session.turn, openTurn?.id], ['open', next]);
    assert.deepEqual(await store.checkIntegrity(), []);
  });

  declare('of two parked turns the newer one is meant', async ({ store, conversation }) => {
    const chat = conversation('alpha');
    await park(chat, 'one');
    const { turnId } = await park(chat, 'two');
    assert.equal(await store.retryParked(chat.sessionId), true);
    assert.equal((await chat.journal()).openTurn?.id, turnId);
    assert.equal((await store.read.totals()).turnsParked, 1);
  });

  declare('what is tried again is under way, so an import leaves it out', async ({ store, ids, conversation }) => {
    const chat = conversation('alpha');
    await chat.exchange('one', 'two');
    await park(chat, 'three');
    await store.retryParked(chat.sessionId);
    const { session, entries } = await chat.journal();
    const copy = await store.importSession(ids.next('ses'), 'web:direct:copy', 'owner', {
      ...session,
      name: 'copy',
      entries,
    });
    assert.deepEqual([copy.lastSeq, copy.turn], [4, 'none']);
  });
}
