/** Commits: what is written, in which order, all of it or nothing. */
import assert from 'node:assert/strict';
import type { Head } from '../protocol/messages.ts';
import {
  assistantCalls,
  assistantText,
  modelCallStarted,
  someUsage,
  toolResult,
  userText,
} from './fake-conversation.ts';
import type { SessionWrite } from './store.ts';
import type { Declare } from './fake-world.ts';

const head: Head = {
  systemPrompt: 'You are helpful.',
  tools: [{ name: 'terminal', description: 'Runs it.', parameters: { type: 'object', b: 1, a: [2] } }],
};

export function commitSuite(declare: Declare): void {
  declare('C81 C82 a turn with tools leaves every fact once, in order, without gaps', async (world) => {
    const { clock, ids, conversation } = world;
    const chat = conversation('alpha');
    const [first, second] = [await chat.say('one'), await chat.say('two')];
    await chat.own();
    const at = clock.now();
    const turnId = ids.next('trn');
    const [asking, answering] = [ids.next('mdl'), ids.next('mdl')];
    const call = chat.plannedCall('{"command":"ls"}');
    const unasked = { question: null, answer: null };
    await chat.commit(
      { verb: 'freeze-head', reason: 'session-started', head },
      { verb: 'open-turn', turnId, promote: [first] },
      modelCallStarted(turnId, asking),
    );
    await chat.commit(
      { verb: 'append-answer', turnId, modelCallId: asking, message: assistantCalls([call]), calls: [call] },
      { verb: 'end-model-call', modelCallId: asking, outcome: 'completed', usage: someUsage, error: null },
    );
    assert.deepEqual((await chat.journal()).unsettledCalls, [
      { ...unasked, ...call, turnId, position: 0, state: 'planned' },
    ]);
    await chat.commit({ verb: 'start-call', turnId, callId: call.id });
    assert.deepEqual((await chat.journal()).unsettledCalls, [
      { ...unasked, ...call, turnId, position: 0, state: 'started' },
    ]);
    await chat.commit(
      { verb: 'settle-call', turnId, callId: call.id, message: toolResult(call.id, 'finished', 'a b') },
      { verb: 'join-turn', turnId, promote: [second] },
      modelCallStarted(turnId, answering),
    );
    assert.deepEqual((await chat.journal()).openTurn, {
      id: turnId,
      sessionId: chat.sessionId,
      state: 'open',
      openedAt: at,
      crashes: 0,
      modelCalls: 2,
      stopRequested: false,
      firstSeq: 2,
    });
    await chat.commit(
      { verb: 'append-answer', turnId, modelCallId: answering, message: assistantText('done'), calls: [] },
      { verb: 'notice', turnId, text: 'a word aside' },
      { verb: 'close-turn', turnId, outcome: 'answered', reply: null },
    );

    const journal = await chat.journal();
    assert.deepEqual(journal.entries, [
      { seq: 1, at, turnId: null, kind: 'head', reason: 'session-started', head },
      { seq: 2, at, turnId, kind: 'turn-opened' },
      { seq: 3, at, turnId, kind: 'message', message: userText('one'), inboxId: first },
      { seq: 4, at, turnId, kind: 'message', message: assistantCalls([call]), modelCallId: asking },
      { seq: 5, at, turnId, kind: 'message', message: toolResult(call.id, 'finished', 'a b') },
      { seq: 6, at, turnId, kind: 'message', message: userText('two'), inboxId: second },
      { seq: 7, at, turnId, kind: 'message', message: assistantText('done'), modelCallId: answering },
      { seq: 8, at, turnId, kind: 'notice', text: 'a word aside' },
      { seq: 9, at, turnId, kind: 'turn-closed', outcome: 'answered' },
    ]);
    assert.deepEqual(
      [journal.session.lastSeq, journal.session.messages, journal.session.turn, journal.openTurn, journal.waiting],
      [9, 4, 'none', null, []],
    );
    assert.deepEqual(await world.store.checkIntegrity(), []);
  });

  declare('C85 what is read back is byte for byte what was stored', async ({ conversation }) => {
    const chat = conversation('alpha');
    const turnId = await chat.openTurn();
    const modelCallId = await chat.startModelCall(turnId);
    const wild = '\ud800\0"\\\u{1f600}\n';
    const call = chat.plannedCall(`{"broken": ${wild}`);
    const message = {
      role: 'assistant',
      parts: [
        { kind: 'reasoning', text: wild, opaque: wild },
        { kind: 'text', text: wild },
        { kind: 'tool-call', callId: call.id, providerCallId: wild, name: wild, arguments: call.arguments },
      ],
    } as const;
    await chat.commit(
      { verb: 'freeze-head', reason: 'session-started', head },
      { verb: 'append-answer', turnId, modelCallId, message, calls: [call] },
    );
    const journal = await chat.journal();
    const [frozen, answer] = journal.entries.slice(-2);
    assert.ok(frozen?.kind === 'head' && answer?.kind === 'message');
    assert.equal(JSON.stringify(frozen.head), JSON.stringify(head));
    assert.equal(JSON.stringify(answer.message), JSON.stringify(message));
    assert.equal(journal.unsettledCalls[0]?.arguments, call.arguments);
  });

  declare(
    'C83 results that come in another order are each stored at once; the calls keep theirs',
    async ({ conversation }) => {
      const chat = conversation('alpha');
      const turnId = await chat.openTurn();
      const calls = await chat.planCalls(turnId, 3);
      const [first, second, third] = calls;
      assert.ok(first !== undefined && second !== undefined && third !== undefined);
      await chat.commit(...calls.map((callId): SessionWrite => ({ verb: 'start-call', turnId, callId })));
      for (const [callId, left] of [
        [third, [first, second]],
        [first, [second]],
        [second, []],
      ] as const) {
        await chat.commit({ verb: 'settle-call', turnId, callId, message: toolResult(callId, 'finished', callId) });
        assert.deepEqual(
          (await chat.journal()).unsettledCalls.map((call) => call.id),
          left,
        );
      }
      const results = (await chat.journal()).entries.slice(-3);
      assert.deepEqual(
        results.map((entry) => entry.kind === 'message' && entry.message),
        [third, first, second].map((callId) => toolResult(callId, 'finished', callId)),
      );
    },
  );

  declare('a verb that does not fit takes the whole commit with it', async ({ store, conversation }) => {
    const chat = conversation('alpha');
    const turnId = await chat.openTurn();
    const [callId] = await chat.planCalls(turnId, 1);
    assert.ok(callId !== undefined);
    const waiting = await chat.say('more');
    const before = await chat.journal();
    const totals = await store.read.totals();
    const writes: SessionWrite[] = [
      { verb: 'notice', turnId, text: 'before' },
      { verb: 'join-turn', turnId, promote: [waiting] },
      { verb: 'settle-call', turnId, callId, message: toolResult(callId, 'finished', 'x') },
      { verb: 'close-turn', turnId, outcome: 'failed', reply: chat.reply('never') },
      { verb: 'start-call', turnId, callId },
      { verb: 'notice', turnId: null, text: 'after' },
    ];
    await assert.rejects(chat.commit(...writes), { name: 'StoreError', reason: 'conflict' });
    assert.deepEqual(await chat.journal(), before);
    assert.deepEqual(await store.read.totals(), totals);
    assert.deepEqual(await store.claimDeliveries(chat.owner, 10), []);
    await chat.commit(...writes.slice(0, 4));
  });

  declare(
    'many writers at once leave every session with its own numbers, without gaps',
    async ({ store, conversation }) => {
      const chats = Array.from({ length: 12 }, (_, index) => conversation(`chat ${index}`));
      await Promise.all(chats.map((chat) => chat.say('hello').then(() => chat.own())));
      const texts = Array.from({ length: 40 }, (_, index) => String(index));
      const commits = texts.flatMap((text) =>
        chats.map((chat) =>
          chat.commit({ verb: 'notice', turnId: null, text }, { verb: 'notice', turnId: null, text: `${text}, too` }),
        ),
      );
      await Promise.all([...commits, ...chats.map((chat) => chat.say('meanwhile'))]);
      for (const chat of chats) {
        const { entries, session } = await chat.journal();
        assert.equal(session.lastSeq, 80);
        assert.deepEqual(
          entries.map((entry) => [entry.seq, entry.kind === 'notice' && entry.text]),
          texts.flatMap((text, index) => [
            [index * 2 + 1, text],
            [index * 2 + 2, `${text}, too`],
          ]),
        );
      }
      assert.deepEqual(await store.checkIntegrity(), []);
    },
  );

  declare('one failing commit among many takes no other with it', async ({ ids, conversation }) => {
    const chat = conversation('alpha');
    await chat.say('hello');
    await chat.own();
    const results = await Promise.allSettled(
      Array.from({ length: 50 }, (_, index) =>
        index % 5 === 2
          ? chat.commit(
              { verb: 'notice', turnId: null, text: 'half' },
              { verb: 'start-call', turnId: ids.next('trn'), callId: ids.next('cal') },
            )
          : chat.commit({ verb: 'notice', turnId: null, text: String(index) }),
      ),
    );
    assert.equal(results.filter((result) => result.status === 'rejected').length, 10);
    const { entries } = await chat.journal();
    assert.deepEqual(
      entries.map((entry) => entry.seq),
      Array.from({ length: 40 }, (_, index) => index + 1),
    );
    assert.ok(entries.every((entry) => entry.kind === 'notice' && entry.text !== 'half'));
  });

  declare('a stop is seen by the owner and needs no lease', async ({ store, ids, conversation }) => {
    const chat = conversation('alpha');
    assert.equal(await store.requestStop(ids.next('ses')), false);
    await chat.say('one');
    assert.equal(await store.requestStop(chat.sessionId), false);
    await chat.openTurn('two');
    assert.equal(await store.requestStop(chat.sessionId), true);
    assert.equal((await chat.journal()).openTurn?.stopRequested, true);
  });

  declare(
    'a closed turn answers its messages; a new one starts without the old stop',
    async ({ store, ids, conversation }) => {
      const chat = conversation('alpha');
      const turnId = await chat.openTurn('one');
      await store.requestStop(chat.sessionId);
      const [waiting] = [await chat.say('two')];
      await chat.commit({ verb: 'close-turn', turnId, outcome: 'stopped', reply: null });
      const [, opened] = (await chat.journal()).entries;
      assert.ok(opened?.kind === 'message' && 'inboxId' in opened && opened.inboxId !== null);
      assert.equal((await store.read.inbox(opened.inboxId))?.state, 'answered');
      assert.equal((await store.read.inbox(waiting))?.state, 'waiting');
      const next = ids.next('trn');
      await chat.commit({ verb: 'open-turn', turnId: next, promote: [waiting] });
      const { openTurn } = await chat.journal();
      assert.deepEqual([openTurn?.id, openTurn?.stopRequested, openTurn?.firstSeq], [next, false, 4]);
    },
  );

  declare('a nudge is a message to the model that nobody wrote and nobody counts', async (world) => {
    const { store, clock, ids, conversation } = world;
    const chat = conversation('alpha');
    const turnId = await chat.openTurn('one');
    const [callId] = await chat.planCalls(turnId, 1);
    assert.ok(callId !== undefined);
    await chat.commit(
      { verb: 'settle-call', turnId, callId, message: toolResult(callId, 'finished', 'x') },
      { verb: 'append-nudge', turnId, message: userText('sum it up') },
    );
    const { entries, session } = await chat.journal();
    const nudge = { kind: 'message', message: userText('sum it up'), inboxId: null } as const;
    assert.deepEqual(entries.at(-1), { seq: 5, at: clock.now(), turnId, ...nudge });
    assert.equal(session.messages, 2);
    assert.deepEqual(await store.checkIntegrity(), []);
    assert.deepEqual(await store.search('sum', 10), []);

    await chat.commit({ verb: 'close-turn', turnId, outcome: 'answered', reply: null });
    const portable = { ...session, name: 'copy', entries: (await chat.journal()).entries };
    assert.equal((await store.importSession(ids.next('ses'), 'web:direct:copy', 'owner', portable)).messages, 2);
    assert.deepEqual(await store.checkIntegrity(), []);
  });

  declare('a call keeps what its tool declared about running it again', async ({ conversation }) => {
    const chat = conversation('alpha');
    const turnId = await chat.openTurn();
    const modelCallId = await chat.startModelCall(turnId);
    const calls = (['safe', 'attach', 'never'] as const).map((replay) => ({ ...chat.plannedCall('{}'), replay }));
    await chat.commit({ verb: 'append-answer', turnId, modelCallId, message: assistantCalls(calls), calls });
    const { unsettledCalls } = await chat.journal();
    assert.deepEqual(
      unsettledCalls.map((call) => call.replay),
      ['safe', 'attach', 'never'],
    );
  });

  declare('C90 a parked turn stays parked while the session goes on', async ({ store, conversation }) => {
    const chat = conversation('alpha');
    const parked = await chat.openTurn('one');
    await chat.commit(
      { verb: 'notice', turnId: parked, text: 'It took the process down three times.' },
      { verb: 'close-turn', turnId: parked, outcome: 'parked', reply: chat.reply('parked') },
    );
    assert.deepEqual([(await chat.journal()).session.turn, (await chat.journal()).openTurn], ['parked', null]);
    const next = await chat.openTurn('two');
    assert.deepEqual([(await chat.journal()).session.turn, (await chat.journal()).openTurn?.id], ['open', next]);
    assert.equal((await store.read.totals()).turnsParked, 1);
    await chat.commit({ verb: 'close-turn', turnId: next, outcome: 'answered', reply: null });
    assert.equal((await chat.journal()).session.turn, 'none');
    assert.equal((await store.read.totals()).turnsParked, 1);
  });

  declare('an empty commit only checks the lease', async ({ conversation }) => {
    const chat = conversation('alpha');
    await chat.say('one');
    await chat.own();
    const before = await chat.journal();
    await chat.commit();
    assert.deepEqual(await chat.journal(), before);
  });
}
