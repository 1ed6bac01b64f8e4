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
    await store.importSession(ids.next('ses'), 'web:direct:back', { ...session, name: 'back', entries });
    assert.deepEqual(await found(store, 'forget'), ['‹forget› this']);
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
