/** Reads: they see everything that was acknowledged, in the order that was promised. */
import assert from 'node:assert/strict';
import { present } from '../lib/assert.ts';
import { noTokens } from '../protocol/usage.ts';
import { someUsage, toolResult, type FakeConversation } from './fake-conversation.ts';
import type { JournalSlice } from './store.ts';
import type { Declare } from './fake-world.ts';

export function readSuite(declare: Declare): void {
  declare('a journal can be read from its end', async ({ conversation }) => {
    const chat = conversation('alpha');
    await chat.exchange('one', 'two');
    const whole = await chat.journal();
    for (const count of [1, 3, whole.entries.length, 1_000]) {
      assert.deepEqual(await chat.journal(-count), { ...whole, entries: whole.entries.slice(-count) });
    }
  });

  declare('a journal read step by step is the journal read at once', async ({ conversation }) => {
    const chat = conversation('alpha');
    await chat.say('one');
    const slices: JournalSlice[] = [];
    let seq = 0;
    const readOn = async () => {
      const slice = await chat.journal(seq);
      seq = slice.session.lastSeq;
      slices.push(slice);
    };
    await readOn();
    await chat.exchange('two', 'yes');
    await readOn();
    const turnId = await chat.openTurn('three');
    await readOn();
    const [callId] = await chat.planCalls(turnId, 2);
    assert.ok(callId !== undefined);
    await chat.commit({ verb: 'settle-call', turnId, callId, message: toolResult(callId, 'failed', 'no') });
    await readOn();
    await readOn();

    const whole = await chat.journal();
    assert.deepEqual(
      slices.flatMap((slice) => slice.entries),
      whole.entries,
    );
    assert.deepEqual({ ...slices.at(-1), entries: whole.entries }, whole);
    assert.deepEqual(slices.at(-1)?.entries, []);
  });

  declare('what does not exist is null or empty, never an error', async ({ store, ids }) => {
    const { read } = store;
    const session = ids.next('ses');
    assert.deepEqual(
      [
        await read.session(session),
        await read.sessionByName('alpha'),
        await read.sessionByKey('web:direct:alpha'),
        await read.sessions({ limit: 10 }),
        await read.entries(session, { after: 0, limit: 10 }),
        await read.journal(session, 0),
        await read.inbox(ids.next('inb')),
        await read.turnOfInbox(ids.next('inb')),
        await read.sessionsWithWork(10),
        await read.modelCalls(session),
        await read.modelCalls(session, ids.next('trn')),
        await read.promptTrail(session, 'runtime'),
        await read.usageSums('2000-01-01'),
        await read.keyRests(0),
        await read.content('none'),
        await read.wasAnswered('web', 'x'),
        await read.people(),
        await read.pairings(0),
        await read.refusals(10),
        await read.apiKeys(),
        await read.drafts('web'),
      ],
      [null, null, null, [], [], null, null, null, [], [], [], null, [], [], null, false, [], [], [], [], []],
    );
  });

  declare('a session is found by id, name and key alike', async ({ store, conversation }) => {
    const chat = conversation('alpha');
    await chat.exchange('one', 'two');
    const session = await store.read.session(chat.sessionId);
    assert.equal(session?.name, 'alpha');
    assert.deepEqual(await store.read.sessionByName('alpha'), session);
    assert.deepEqual(await store.read.sessionByKey('web:direct:alpha'), session);
  });

  declare('entries come in pages', async ({ store, conversation }) => {
    const chat = conversation('alpha');
    await chat.exchange('one', 'two');
    const { entries } = await chat.journal();
    const page = (after: number, limit: number) => store.read.entries(chat.sessionId, { after, limit });
    assert.deepEqual([...(await page(0, 3)), ...(await page(3, 100))], entries);
    assert.deepEqual(await page(entries.length, 10), []);
  });

  declare('sessions are listed newest activity first, in pages', async ({ store, clock, conversation }) => {
    const chats: FakeConversation[] = [];
    for (const name of ['a', 'b', 'c', 'd']) {
      const chat = conversation(name);
      await chat.say('hello');
      chats.push(chat);
      await clock.advance(10);
    }
    const [a] = chats;
    assert.ok(a !== undefined);
    await a.own();
    await a.commit({ verb: 'notice', turnId: null, text: 'again' });
    const first = await store.read.sessions({ limit: 2 });
    const rest = await store.read.sessions({ limit: 10, before: present(first.at(-1), 'a session').updatedAt });
    assert.deepEqual(
      [first, rest].map((page) => page.map((session) => session.name)),
      [
        ['a', 'd'],
        ['c', 'b'],
      ],
    );
  });

  declare(
    'what there is to do: waiting messages and open turns, oldest first',
    async ({ store, clock, conversation }) => {
      const [open, parked, waiting, done] = [
        conversation('a'),
        conversation('b'),
        conversation('c'),
        conversation('d'),
      ];
      const parkedTurn = await parked.openTurn('one');
      await parked.commit({ verb: 'close-turn', turnId: parkedTurn, outcome: 'parked', reply: null });
      await done.exchange('one', 'two');
      await clock.advance(1);
      await waiting.say('first');
      await clock.advance(1);
      await open.openTurn('second');
      await clock.advance(1);
      // Newer messages of a session do not make its oldest one younger.
      await waiting.say('third');
      assert.deepEqual(await store.read.sessionsWithWork(10), [waiting.sessionId, open.sessionId]);
      assert.deepEqual(await store.read.sessionsWithWork(1), [waiting.sessionId]);
      await clock.advance(1);
      await parked.say('go on');
      assert.deepEqual(await store.read.sessionsWithWork(10), [waiting.sessionId, open.sessionId, parked.sessionId]);
    },
  );

  declare('totals count what is there and what was used', async ({ store, conversation }) => {
    const zero = {
      sessions: 0,
      turnsOpen: 0,
      turnsDone: 0,
      turnsFailed: 0,
      turnsParked: 0,
      inboxWaiting: 0,
      outboxPending: 0,
      usage: { ...noTokens, usd: 0 },
      unpricedCalls: 0,
      prefixBreaks: 0,
    };
    assert.deepEqual(await store.read.totals(), zero);

    const [done, failed, open] = [conversation('a'), conversation('b'), conversation('c')];
    await done.exchange('one', 'two');
    await done.exchange('three', 'four');
    const turnId = await failed.openTurn('one');
    await failed.commit({ verb: 'close-turn', turnId, outcome: 'failed', reply: null });
    await open.openTurn('one');
    await open.say('two');
    const [claimed] = await store.claimDeliveries(done.owner, 1);
    assert.ok(claimed !== undefined);
    await store.settleDelivery(claimed.id, { kind: 'sent', platformId: null });
    assert.deepEqual(await store.read.totals(), {
      sessions: 3,
      turnsOpen: 1,
      turnsDone: 2,
      turnsFailed: 1,
      turnsParked: 0,
      inboxWaiting: 1,
      outboxPending: 1,
      usage: {
        inputTokens: 20,
        cachedTokens: 8,
        cacheWriteTokens: 4,
        outputTokens: 6,
        reasoningTokens: 2,
        usd: 1,
      },
      unpricedCalls: 0,
      prefixBreaks: 0,
    });
  });

  declare('a price that is not known is not 0', async ({ store, conversation }) => {
    const chat = conversation('alpha');
    const turnId = await chat.openTurn();
    const money = async () => {
      const { usage, unpricedCalls } = await store.read.totals();
      return [usage.usd, unpricedCalls];
    };
    await chat.callModel(turnId, {}, { usage: { ...someUsage, usd: null } });
    assert.deepEqual(await money(), [null, 1]);
    await chat.callModel(turnId, {}, { usage: { ...someUsage, usd: 0.25 } });
    assert.deepEqual(await money(), [0.25, 1]);
  });
}
