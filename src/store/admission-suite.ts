/** Admission: a message is stored once, in the right session, within its limits, exactly as it came. */
import assert from 'node:assert/strict';
import { userText } from './fake-conversation.ts';
import type { Declare } from './fake-world.ts';

export function admissionSuite(declare: Declare): void {
  declare('a message keeps whether it joins a turn under way', async ({ store, conversation }) => {
    const chat = conversation('alpha');
    for (const joins of [true, false]) await store.admit({ ...chat.admission(String(joins)), joins });
    assert.deepEqual(
      (await chat.journal()).waiting.map((record) => record.joins),
      [true, false],
    );
  });

  declare('a first message creates its session and waits in it', async ({ store, clock, conversation }) => {
    const chat = conversation('alpha');
    const admission = chat.admission('one');
    const session = {
      id: chat.sessionId,
      key: 'web:direct:alpha',
      name: 'alpha',
      title: 'about one',
      titledBy: 'words',
      settings: { model: null, effort: null },
      owner: 'owner',
      isClosed: false,
      createdAt: clock.now(),
      updatedAt: clock.now(),
      lastSeq: 0,
      messages: 0,
      turn: 'none',
    };
    const record = {
      id: admission.inboxId,
      sessionId: chat.sessionId,
      channel: 'web',
      externalId: 'alpha/one',
      sender: 'somebody in alpha',
      message: userText('one'),
      target: 'to alpha',
      receivedAt: clock.now(),
      joins: null,
      state: 'waiting',
    };
    assert.deepEqual(await store.admit(admission), {
      kind: 'admitted',
      inboxId: admission.inboxId,
      session,
      created: true,
    });
    assert.deepEqual(await chat.journal(), {
      session,
      entries: [],
      openTurn: null,
      unsettledCalls: [],
      waiting: [record],
    });
    assert.deepEqual(await store.read.inbox(admission.inboxId), record);
  });

  declare('later messages of a key go to its session, and the title stays', async ({ clock, conversation }) => {
    const chat = conversation('alpha');
    await chat.say('one');
    await clock.advance(5);
    const result = await chat.admit('two');
    assert.ok(result.kind === 'admitted');
    assert.deepEqual(
      [result.created, result.session.id, result.session.title, result.session.updatedAt],
      [false, chat.sessionId, 'about one', clock.now()],
    );
    assert.deepEqual(
      (await chat.journal()).waiting.map((waiting) => waiting.message),
      [userText('one'), userText('two')],
    );
  });

  declare('a session without a title takes that of the next message', async ({ conversation }) => {
    const chat = conversation('alpha');
    await chat.admit('one', { title: '' });
    await chat.admit('two');
    assert.equal((await chat.journal()).session.title, 'about two');
  });

  declare('a session is found by its id; an unknown one is refused and nothing stored', async (world) => {
    const chat = world.conversation('alpha');
    const before = await chat.admit('one', { session: { kind: 'existing', id: chat.sessionId } });
    assert.deepEqual(before, { kind: 'refused', reason: 'no-such-session' });
    assert.equal((await world.store.read.totals()).inboxWaiting, 0);
    await chat.say('one');
    const after = await chat.admit('two', { session: { kind: 'existing', id: chat.sessionId } });
    assert.equal(after.kind, 'admitted');
  });

  declare('the same external id again is the same message, and tells what became of it', async ({ conversation }) => {
    const chat = conversation('alpha');
    const turnId = await chat.openTurn('one');
    const { session } = await chat.journal();
    const message = (await chat.journal()).entries.find((entry) => entry.kind === 'message');
    assert.ok(message?.kind === 'message' && message.message.role === 'user' && 'inboxId' in message);

    const again = await conversation('beta').admit('one', { externalId: 'alpha/one', message: userText('changed') });
    assert.ok(again.kind === 'duplicate');
    assert.deepEqual(again.session, session);
    assert.deepEqual(
      [again.record.id, again.record.message, again.record.state],
      [message.inboxId, userText('one'), 'promoted'],
    );
    assert.equal(await chat.store.read.turnOfInbox(again.record.id), turnId);
    assert.equal(await chat.store.read.sessionByName('beta'), null);
  });

  declare('the same external id on another channel, or in capitals, is another message', async ({ conversation }) => {
    const chat = conversation('alpha');
    await chat.say('one');
    assert.equal((await chat.admit('one', { channel: 'telegram' })).kind, 'admitted');
    assert.equal((await chat.admit('ONE', { externalId: 'alpha/ONE' })).kind, 'admitted');
  });

  declare('many admissions of one message at once store one', async ({ conversation }) => {
    const chat = conversation('alpha');
    const results = await Promise.all(Array.from({ length: 200 }, () => chat.admit('one')));
    const admitted = results.filter((result) => result.kind === 'admitted');
    const duplicates = results.filter((result) => result.kind === 'duplicate');
    assert.deepEqual([admitted.length, duplicates.length], [1, 199]);
    assert.deepEqual(new Set(duplicates.map((result) => result.record.id)), new Set([admitted[0]?.inboxId]));
    assert.equal((await chat.journal()).waiting.length, 1);
  });

  declare('many first messages of one key at once create one session, in order', async ({ ids, conversation }) => {
    const chat = conversation('alpha');
    const numbers = Array.from({ length: 100 }, (_, index) => String(index));
    const results = await Promise.all(
      numbers.map((number) =>
        chat.admit(number, {
          session: { kind: 'by-key', key: 'web:direct:shared', id: ids.next('ses'), name: 'shared', owner: 'owner' },
        }),
      ),
    );
    const admitted = results.flatMap((result) => (result.kind === 'admitted' ? [result] : []));
    assert.equal(admitted.filter((result) => result.created).length, 1);
    const session = await chat.store.read.sessionByKey('web:direct:shared');
    assert.ok(session !== null);
    const journal = await chat.store.read.journal(session.id, 0);
    assert.deepEqual(
      journal?.waiting.map((waiting) => waiting.externalId),
      numbers.map((number) => `alpha/${number}`),
    );
  });

  declare(
    'a full queue refuses until there is room, and leaves nothing behind',
    async ({ store, ids, conversation }) => {
      const chat = conversation('alpha');
      assert.deepEqual(await chat.admit('none', { waitingMax: 0 }), { kind: 'refused', reason: 'queue-full' });
      assert.equal(await store.read.session(chat.sessionId), null);

      const first = await chat.say('one');
      assert.equal((await chat.admit('two', { waitingMax: 2 })).kind, 'admitted');
      const before = await chat.journal();
      assert.deepEqual(await chat.admit('three', { waitingMax: 2 }), { kind: 'refused', reason: 'queue-full' });
      assert.deepEqual(await chat.journal(), before);

      await chat.own();
      await chat.commit({ verb: 'open-turn', turnId: ids.next('trn'), promote: [first] });
      assert.equal((await chat.admit('three', { waitingMax: 2 })).kind, 'admitted');
    },
  );

  declare('a taken name gets a short suffix and stays within its length', async ({ ids, conversation }) => {
    const long = 'x'.repeat(64);
    for (const name of ['alpha', long]) {
      const chat = conversation(name);
      await chat.say('one');
      const id = ids.next('ses');
      const other = await chat.admit('two', {
        session: { kind: 'by-key', key: `other ${name}`, id, name, owner: 'owner' },
      });
      assert.ok(other.kind === 'admitted');
      const expected = `${name.slice(0, 59)}-${id.slice(-4)}`;
      assert.deepEqual([other.created, other.session.name], [true, expected]);
    }
  });

  declare('text is stored as it came: lone surrogates, NUL, quotes, other scripts', async ({ store, conversation }) => {
    const chat = conversation('alpha');
    const wild = 'a\ud800b\0c"\'\\\n\u{1f600}漢字\udfff';
    const admission = chat.admission('one', { externalId: wild, sender: wild, message: userText(wild), target: wild });
    await store.admit(admission);
    const record = await store.read.inbox(admission.inboxId);
    assert.deepEqual(
      [record?.externalId, record?.sender, record?.message, record?.target],
      [wild, wild, userText(wild), wild],
    );
    // Another lone surrogate is another id, although both print the same.
    assert.equal((await chat.admit('two', { externalId: wild.replace('\ud800', '\ud801') })).kind, 'admitted');
    assert.equal((await chat.admit('two', { externalId: wild })).kind, 'duplicate');
  });
}
