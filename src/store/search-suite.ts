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
  });

  declare('a part of a word is enough, and whole words come first', async ({ store, clock, conversation }) => {
    const chat = conversation('alpha');
    await chat.exchange('an apple', 'pineapples');
    await clock.advance(1000);
    await chat.exchange('Grapples!', 'one more Apple');
    const snippets = async (query: string, limit = 10) => (await store.search(query, limit)).map((hit) => hit.snippet);
    const [first, second, ...rest] = await snippets('apple');
    assert.deepEqual([first, second], ['one more ‹Apple›', 'an ‹apple›']);
    assert.deepEqual(rest.sort(), ['Gr‹apple›s!', 'pine‹apple›s']);
    assert.deepEqual((await snippets('apple', 2)).sort(), ['an ‹apple›', 'one more ‹Apple›']);
    assert.deepEqual((await snippets('ppl')).length, 4);
    assert.deepEqual(await snippets('eapp'), ['pin‹eapp›les']);
    // One or two letters: how words begin.
    assert.deepEqual((await snippets('ap')).sort(), ['an ‹ap›ple', 'one more ‹Ap›ple']);
    assert.deepEqual(await snippets('g'), ['‹G›rapples!']);
    assert.deepEqual(await snippets('e'), []);
    // The ends of a phrase may be parts, not its middle.
    assert.deepEqual(await snippets('"ore app"'), ['one ‹more Apple›']);
    assert.deepEqual(await snippets('"one mor apple"'), []);
  });

  declare('finds any script, by one character or many', async ({ store, conversation }) => {
    const said = [
      '私は東京都に住んでいます',
      '今天天气很好，我们去北京',
      '오늘은 날씨가 좋습니다',
      'วันนี้อากาศดีมาก',
      'Сегодня хорошая погода',
      'Η σοφία της Αθήνας',
      'שלום עולם',
      'مرحبا بالعالم',
      'ﬁrst ＦＵＬＬ width ⑴ 👍🏽',
      '𐌰𐌱𐌲 gothic',
    ];
    for (const text of said) await conversation(`chat ${said.indexOf(text)}`).exchange(text, '.');
    const queries: Readonly<Record<string, string>> = {
      東京: '私は‹東京›都に住んでいます',
      京都に住: '私は東‹京都に住›んでいます',
      住: '私は東京都に‹住›んでいます',
      '天气 北京': '今天‹天气›很好，我们去‹北京›',
      날씨: '오늘은 ‹날씨›가 좋습니다',
      อากาศ: 'วันนี้‹อากาศ›ดีมาก',
      ПОГОД: 'Сегодня хорошая ‹погод›а',
      σοφια: 'Η ‹σοφία› της Αθήνας',
      עולם: 'שלום ‹עולם›',
      عالم: 'مرحبا بال‹عالم›',
      'first full': '‹ﬁrst› ‹ＦＵＬＬ› width ⑴ 👍🏽',
      '👍': 'ﬁrst ＦＵＬＬ width ⑴ ‹👍›🏽',
      𐌱𐌲: '',
      𐌰𐌱𐌲: '‹𐌰𐌱𐌲› gothic',
      𐌰: '‹𐌰›𐌱𐌲 gothic',
    };
    for (const [query, snippet] of Object.entries(queries)) {
      assert.deepEqual(await found(store, query), snippet === '' ? [] : [snippet], query);
    }
  });

  declare('a long message shows the surroundings of the hit', async ({ store, conversation }) => {
    await conversation('alpha').exchange(`${'before '.repeat(100)}needle${' after'.repeat(100)}`, '.');
    const [snippet = ''] = await found(store, 'needle');
    assert.match(snippet, /^…(before )+‹needle›( after)+.*…$/u);
    assert.ok(snippet.length <= 250);
  });

  declare('within a time; and without words, what was said then', async ({ store, clock, conversation }) => {
    const chat = conversation('alpha');
    const times: number[] = [];
    for (const day of ['one', 'two', 'three']) {
      times.push(clock.now());
      await chat.exchange(`bread on day ${day}`, 'eaten');
      await clock.advance(24 * 3_600_000);
    }
    const [, second = 0, third = 0] = times;
    const on = async (query: string, scope: { after?: number; before?: number; owner?: string }) =>
      (await store.search(query, 10, scope)).map((hit) => hit.snippet);
    assert.deepEqual(await on('bread', { after: second }), ['‹bread› on day three', '‹bread› on day two']);
    assert.deepEqual(await on('bread', { before: second }), ['‹bread› on day one']);
    assert.deepEqual(await on('bread', { after: second, before: third }), ['‹bread› on day two']);
    assert.deepEqual(await on('bread', { after: second + 1, before: third }), []);
    assert.deepEqual((await on('', { after: second, before: third })).sort(), ['bread on day two', 'eaten']);
    assert.deepEqual((await on(' ', { after: third })).sort(), ['bread on day three', 'eaten']);
    assert.deepEqual(await on('', { after: third, owner: 'web:nobody' }), []);
    assert.deepEqual(await on('!!', { after: third }), []);
    assert.deepEqual(await on('', {}), []);
    const owner = (await store.read.session(chat.sessionId))?.owner ?? '';
    assert.equal((await on('', { before: second, owner })).length, 2);
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
      (await store.search('bread', limit, owner === undefined ? {} : { owner })).map((hit) => hit.sessionName);
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
