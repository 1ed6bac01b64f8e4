/** Full-text search: finds what was said, survives any input, forgets what was removed. */
import assert from 'node:assert/strict';
import { toolResult } from './fake-conversation.ts';
import type { Store } from './store.ts';
import type { Declare } from './fake-world.ts';

async function found(store: Store, query: string): Promise<string[]> {
  return (await store.search(query, 50)).map((hit) => hit.snippet).sort();
}

export function searchSuite(declare: Declare): void {
  declare('finds messages and results of tools, and marks the words', async ({ store, clock, conversation }) => {
    const chat = conversation('alpha');
    const turnId = await chat.openTurn('Where is the Caf\u00e9 Zentral?');
    const [callId] = await chat.planCalls(turnId, 1);
    assert.ok(callId !== undefined);
    await chat.commit({ verb: 'settle-call', turnId, callId, message: toolResult(callId, 'finished', 'a cafe found') });
    const place = { sessionId: chat.sessionId, sessionName: 'alpha', at: clock.now() };
    const hits = await store.search('CAFE', 10);
    assert.deepEqual(
      hits.toSorted((a, b) => a.seq - b.seq),
      [
        { ...place, seq: 2, role: 'user', snippet: 'Where is the ‹Caf\u00e9› Zentral?' },
        { ...place, seq: 4, role: 'tool', snippet: 'a ‹cafe› found' },
      ],
    );
    assert.equal((await store.search('cafe', 1)).length, 1);
  });

  declare('all words must occur; quoted ones together', async ({ store, conversation }) => {
    const chat = conversation('alpha');
    await chat.exchange('red apples and green pears', 'green apples');
    assert.deepEqual(await found(store, 'green apples'), ['red ‹apples› and ‹green› pears', '‹green› ‹apples›'].sort());
    assert.deepEqual(await found(store, '"green apples"'), ['‹green apples›']);
    assert.deepEqual(await found(store, 'apples plums'), []);
    assert.deepEqual(await found(store, 'appl'), []);
  });

  declare('sees everything that was acknowledged, also after a rebuild', async ({ store, conversation }) => {
    const chat = conversation('alpha');
    for (const word of ['first', 'second', 'third']) {
      await chat.exchange(word, 'noted');
      assert.deepEqual(await found(store, word), [`‹${word}›`]);
    }
    await store.rebuildSearch();
    assert.deepEqual(await found(store, 'noted'), ['‹noted›', '‹noted›', '‹noted›']);
  });

  declare('forgets a removed session and finds an imported one', async ({ store, ids, conversation }) => {
    const [gone, kept] = [conversation('gone'), conversation('kept')];
    await kept.exchange('remember this', 'yes');
    await gone.exchange('forget this', 'yes');
    const { session, entries } = await gone.journal();
    assert.equal((await found(store, 'this')).length, 2);
    await store.deleteSession(gone.sessionId);
    assert.deepEqual(await found(store, 'this'), ['remember ‹this›']);
    // What is gone takes no place among the best hits either.
    assert.equal((await store.search('this', 1)).length, 1);
    await kept.exchange('and this', 'yes');
    assert.deepEqual(await found(store, 'this'), ['and ‹this›', 'remember ‹this›']);
    await store.importSession(ids.next('ses'), 'web:direct:back', 'owner', { ...session, name: 'back', entries });
    assert.deepEqual(await found(store, 'forget'), ['‹forget› this']);
  });

  declare('who asks for an owner finds what is said in their sessions only', async (world) => {
    const { store, ids, conversation } = world;
    const owners = ['web:ada', 'web:bob', 'web:\ud800'];
    for (const [index, owner] of owners.entries()) {
      const chat = conversation(`chat ${index}`);
      const session = { kind: 'by-key', key: chat.key, id: chat.sessionId, name: chat.name, owner } as const;
      for (const word of ['bread', 'more bread', 'bread again']) await chat.say(word, { session });
      await chat.own();
      const { waiting } = await chat.journal();
      await chat.commit({ verb: 'open-turn', turnId: ids.next('trn'), promote: waiting.map(({ id }) => id) });
    }
    const names = async (owner?: string, limit = 10) =>
      (await store.search('bread', limit, owner)).map((hit) => hit.sessionName);
    assert.equal((await names()).length, 9);
    // What others said takes no place among the best hits.
    for (const [index, owner] of owners.entries()) {
      assert.deepEqual(await names(owner), Array<string>(3).fill(`chat ${index}`));
      assert.deepEqual(await names(owner, 2), Array<string>(2).fill(`chat ${index}`));
    }
    for (const nobody of ['web:', 'owner', '', 'web:\ud801']) assert.deepEqual(await names(nobody), []);
    await store.rebuildSearch();
    assert.equal((await names('web:ada')).length, 3);
    // Closed or moved to another key, it is still theirs; brought in for another, it is that other's.
    const bob = await store.read.sessionByName('chat 1');
    assert.ok(bob !== null);
    const { entries } = (await store.read.journal(bob.id, 0)) ?? { entries: [] };
    await store.closeSession(bob.id);
    assert.equal((await names('web:bob')).length, 3);
    const portable = { ...bob, name: 'copy', entries: entries.map((entry) => ({ ...entry, turnId: null })) };
    await store.importSession(ids.next('ses'), 'web:direct:copy', 'web:cy', portable);
    assert.deepEqual(await names('web:cy'), ['copy', 'copy', 'copy']);
    assert.equal((await names('web:bob')).length, 3);
  });

  declare('no input is a mistake', async ({ store, conversation }) => {
    await conversation('alpha').exchange('plain text', 'and AND not near');
    const strange = [
      '',
      '   ',
      '"',
      '""',
      '"" plain',
      '*',
      'plain*',
      'AND',
      'NOT',
      'NEAR(',
      'a:b',
      '(',
      ')',
      '-plain',
      '^plain',
    ];
    strange.push(
      "'; DROP TABLE texts; --",
      '\0',
      'pl\0ain',
      '\ud800',
      '{}',
      'x'.repeat(100_000),
      '? '.repeat(5000),
      '漢字',
    );
    for (const query of strange) assert.ok(Array.isArray(await store.search(query, 10)), JSON.stringify(query));
    assert.deepEqual(await found(store, '!!! plain ???'), ['‹plain› text']);
    assert.deepEqual(await found(store, '"plain'), ['‹plain› text']);
    assert.deepEqual(await store.search('plain', 0), []);
  });
}
