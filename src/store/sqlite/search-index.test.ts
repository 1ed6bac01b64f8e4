/** The search index as a file: whatever happens to it, it comes back by itself. */
import assert from 'node:assert/strict';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { FakeClock } from '../../lib/fake-clock.ts';
import { countingIdSource, type IdSource } from '../../lib/ids.ts';
import { matchText, searchTerms } from '../../lib/search-terms.ts';
import { silentLog } from '../../lib/log.ts';
import { FakeConversation } from '../fake-conversation.ts';
import type { Store } from '../store.ts';
import { openDatabase } from './open-database.ts';
import { searchTables } from './search-feed.ts';
import { SearchIndex } from './search-index.ts';
import { mergeNext } from './search-merge.ts';
import { openSqliteStore } from './sqlite-store.ts';

interface World {
  readonly folder: string;
  readonly search: string;
  readonly ids: IdSource;
  open(): Promise<Store>;
}

async function inWorld(work: (world: World) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'talaria-search-'));
  const ids = countingIdSource();
  const opened: Store[] = [];
  const open = async () => {
    const path = join(folder, 'state.db');
    const options = { path, clock: new FakeClock(), owner: ids.next('nod'), log: silentLog };
    const store = await openSqliteStore({ ...options, writer: 'inline' });
    opened.push(store);
    return store;
  };
  try {
    await work({ folder, search: join(folder, 'search.db'), ids, open });
  } finally {
    for (const store of opened) await store.close();
    await rm(folder, { recursive: true });
  }
}

/** A store with two messages about bread, searched once and closed. */
async function fill({ open, ids }: World): Promise<void> {
  const store = await open();
  await new FakeConversation(store, ids, 'alpha').exchange('bread please', 'here is bread');
  assert.equal((await store.search('bread', 10)).length, 2);
  await store.close();
}

async function hits(store: Store, query: string): Promise<number> {
  return (await store.search(query, 100)).length;
}

void describe('search index', () => {
  const damages: Readonly<Record<string, (path: string) => void>> = {
    missing: (path) => rmSync(path),
    garbage: (path) => writeFileSync(path, 'nothing that SQLite knows '.repeat(500)),
    empty: (path) => writeFileSync(path, ''),
    'cut off': (path) => truncateSync(path, Math.floor(statSync(path).size / 2)),
    'without its tables': (path) => {
      const database = openDatabase(path);
      database.exec('DROP TABLE progress; DROP TABLE places');
      database.close();
    },
    'of another version': (path) => {
      const database = openDatabase(path);
      database.exec('DELETE FROM places; PRAGMA user_version = 99');
      database.close();
    },
    'of the version before, which knew no parts of words': (path) => {
      const database = openDatabase(path);
      database.exec('DELETE FROM places; PRAGMA user_version = 2');
      database.close();
    },
  };
  for (const [title, damage] of Object.entries(damages)) {
    void it(`${title}: it is built anew, and messages go on`, async () => {
      await inWorld(async (world) => {
        await fill(world);
        damage(world.search);
        const store = await world.open();
        await new FakeConversation(store, world.ids, 'beta').exchange('butter', 'and bread');
        assert.equal(await hits(store, 'bread'), 3);
      });
    });
  }

  void it('broken while in use: it is built anew', async () => {
    await inWorld(async (world) => {
      await fill(world);
      const store = await world.open();
      assert.equal(await hits(store, 'bread'), 2);
      const vandal = openDatabase(world.search);
      vandal.exec(`DROP TABLE tokens`);
      vandal.close();
      assert.equal(await hits(store, 'bread'), 2);
    });
  });

  void it('a folder in its place fails the search and nothing else', async () => {
    await inWorld(async (world) => {
      mkdirSync(world.search);
      const store = await world.open();
      const chat = new FakeConversation(store, world.ids, 'alpha');
      await chat.exchange('bread', 'yes');
      await assert.rejects(store.search('bread', 10), { name: 'StoreError' });
      await chat.exchange('more bread', 'yes');
    });
  });

  void it('a database restored from an older copy is indexed anew', async () => {
    await inWorld(async (world) => {
      await fill(world);
      const [state, copy] = [join(world.folder, 'state.db'), join(world.folder, 'copy.db')];
      copyFileSync(state, copy);
      const later = await world.open();
      await new FakeConversation(later, world.ids, 'beta').exchange('a cake', 'no');
      await new FakeConversation(later, world.ids, 'gamma').exchange('a cake', 'no');
      assert.equal(await hits(later, 'cake'), 2);
      await later.close();
      copyFileSync(copy, state);

      // The ids that the cakes had are given to other messages now.
      const store = await world.open();
      await new FakeConversation(store, world.ids, 'delta').exchange('a pie', 'yes');
      assert.deepEqual([await hits(store, 'cake'), await hits(store, 'pie'), await hits(store, 'bread')], [0, 1, 2]);
    });
  });

  void it('a removal that a restored copy has undone is undone in the index', async () => {
    await inWorld(async (world) => {
      const first = await world.open();
      const gone = new FakeConversation(first, world.ids, 'gone');
      await gone.exchange('a cake', 'no');
      await new FakeConversation(first, world.ids, 'kept').exchange('a pie', 'yes');
      assert.equal(await hits(first, 'cake'), 1);
      await first.snapshot(join(world.folder, 'copy.db'));
      await first.deleteSession(gone.sessionId);
      assert.equal(await hits(first, 'cake'), 0);
      await first.close();
      copyFileSync(join(world.folder, 'copy.db'), join(world.folder, 'state.db'));
      assert.equal(await hits(await world.open(), 'cake'), 1);
    });
  });

  void it('an index that says that something is of another owner is not believed', async () => {
    await inWorld(async (world) => {
      await fill(world);
      const vandal = openDatabase(world.search);
      vandal.exec(`UPDATE owners SET owner = '"telegram:7"'`);
      vandal.close();
      const store = await world.open();
      assert.deepEqual(await store.search('bread', 10, { owner: 'telegram:7' }), []);
      assert.equal((await store.search('bread', 10)).length, 2);
    });
  });

  void it('follows more than one batch, and goes on where it stopped', async () => {
    await inWorld(async (world) => {
      const store = await world.open();
      const chat = new FakeConversation(store, world.ids, 'alpha');
      await chat.exchange('the first bread', 'yes');
      const { session, entries } = await chat.journal();
      const many = Array.from({ length: 700 }, () => entries).flat();
      const portable = { ...session, name: 'many', entries: many.map((entry) => ({ ...entry, turnId: null })) };
      await store.importSession(world.ids.next('ses'), 'web:direct:many', 'owner', portable);
      assert.equal((await store.search('bread', 10_000)).length, 500);
      const index = openDatabase(world.search, { readOnly: true });
      assert.equal(index.all('SELECT 1 FROM places').length, 1402);
      index.close();
    });
  });

  void it('is put together in short steps once much was fed, and finds the same', () => {
    const index = openDatabase(':memory:');
    index.exec(searchTables);
    const pieces = () => index.all('SELECT DISTINCT segid FROM tokens_idx').length;
    assert.equal(mergeNext(index), false);
    for (let id = 1; id <= 3_000; id++) {
      const list = Array.from({ length: 60 }, (_, word) => `0=word${(id * 7 + word * 31) % 5_000}`).join(' ');
      index.run('INSERT INTO tokens (rowid, list) VALUES (?, ?)', id, list);
    }
    const found = () => index.all(`SELECT rowid FROM tokens WHERE tokens MATCH '"0=word7"'`).length;
    const before = found();
    assert.ok(before > 0 && pieces() > 1);
    assert.equal(mergeNext(index), false);
    index.run('UPDATE progress SET entry_id = 20000');
    let steps = 0;
    while (mergeNext(index)) steps++;
    assert.ok(steps > 0);
    assert.deepEqual([pieces(), found(), mergeNext(index)], [1, before, false]);
    index.close();
  });

  void it('goes on in older sections of a long log until there is enough', async () => {
    await inWorld(async (world) => {
      for (const name of ['first', 'second', 'third']) {
        const store = await world.open();
        await new FakeConversation(store, world.ids, name).exchange(`${name} bread`, `${name} breadcrumb`);
        await store.close();
        // As if a long time had passed: the next entry is in another section.
        const state = openDatabase(join(world.folder, 'state.db'));
        state.exec('UPDATE entries SET id = id + 200000 WHERE id = (SELECT max(id) FROM entries)');
        state.close();
      }
      const store = await world.open();
      const names = async (query: string, limit: number) =>
        (await store.search(query, limit)).map((hit) => `${hit.sessionName} ${hit.role}`);
      assert.deepEqual(await names('bread', 2), ['third user', 'second user']);
      assert.deepEqual(await names('bread', 4), ['third user', 'second user', 'first user', 'third assistant']);
      assert.equal((await names('read', 10)).length, 6);
      assert.deepEqual(await names('first crumb', 10), ['first assistant']);
      assert.equal((await store.search('', 10, { after: 0, owner: 'owner' })).length, 6);
      assert.equal((await store.search('', 4, { after: 0 })).length, 4);
    });
  });

  void it('while it is built anew, the old one answers, and the new one takes its place whole', async () => {
    await inWorld(async (world) => {
      await fill(world);
      const state = openDatabase(join(world.folder, 'state.db'), { readOnly: true });
      const index = new SearchIndex(state, world.search);
      const vandal = openDatabase(world.search);
      vandal.exec('DELETE FROM places WHERE seq > 2');
      vandal.close();
      const store = await world.open();
      await new FakeConversation(store, world.ids, 'beta').exchange('more', 'of it');
      for (let entries = 0; entries < 60; entries++) {
        await new FakeConversation(store, world.ids, `chat ${entries}`).exchange('jam', 'yes');
      }
      let steps = 0;
      while (index.rebuild()) {
        steps++;
        assert.equal(index.search('bread', 10, {}).length, 1);
      }
      assert.ok(steps > 0);
      assert.deepEqual([index.search('bread', 10, {}).length, index.search('jam', 100, {}).length], [2, 60]);
      // Given up half way, it leaves nothing behind.
      assert.equal(index.rebuild(), true);
      index.close();
      state.close();
      assert.deepEqual(
        readdirSync(world.folder).filter((name) => name.includes('next')),
        [],
      );
      assert.equal(await hits(store, 'bread'), 2);
    });
  });

  void it('a short command does not index anything by itself', async () => {
    await inWorld(async (world) => {
      const store = await world.open();
      await new FakeConversation(store, world.ids, 'alpha').exchange('bread', 'yes');
      await store.close();
      assert.equal(existsSync(world.search), false);
    });
  });

  void it('finds what looking at every message finds, and nothing else', async () => {
    const ids = countingIdSource();
    const options = { path: ':memory:', clock: new FakeClock(), owner: ids.next('nod'), log: silentLog };
    const store = await openSqliteStore({ ...options, writer: 'inline' });
    const syllable = fc.constantFrom(
      'an',
      'ban',
      'a',
      'be',
      'bread',
      '東',
      '京都',
      'é',
      ' ',
      ' ',
      '-',
      '7',
      'й',
      '한글',
      '𐌰',
    );
    const text = fc.array(syllable, { minLength: 1, maxLength: 12 }).map((parts) => parts.join(''));
    const said = fc.sample(text, { numRuns: 150, seed: 3 });
    for (const [index, message] of said.entries()) {
      await new FakeConversation(store, ids, `chat ${index}`).exchange(message, '.');
    }
    const query = fc.oneof(
      text,
      text.map((phrase) => `"${phrase}"`),
      fc.array(syllable, { maxLength: 3 }).map((parts) => parts.join('')),
    );
    await fc.assert(
      fc.asyncProperty(query, async (words) => {
        const terms = searchTerms(words);
        const expected = terms.length === 0 ? [] : said.flatMap((message) => matchText(message, terms)?.snippet ?? []);
        const hits = (await store.search(words, 500)).map((hit) => hit.snippet);
        assert.deepEqual(hits.sort(), expected.sort(), words);
      }),
      { numRuns: 300, seed: 4 },
    );
    await store.close();
  });

  void it('takes any text as a query', async () => {
    const ids = countingIdSource();
    const options = { path: ':memory:', clock: new FakeClock(), owner: ids.next('nod'), log: silentLog };
    const store = await openSqliteStore({ ...options, writer: 'inline' });
    await new FakeConversation(store, ids, 'alpha').exchange('bread "and" butter*', 'NEAR(here) - ^there: {yes}');
    const query = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc
        .array(
          fc.constantFrom('"', '*', '^', ':', '-', '(', ')', 'AND', 'OR', 'NOT', 'NEAR', 'bread', ' ', '\0', '{', '+'),
        )
        .map((words) => words.join('')),
      fc.string({ unit: 'grapheme', maxLength: 60 }),
    );
    await fc.assert(
      fc.asyncProperty(query, async (text) => {
        assert.ok(Array.isArray(await store.search(text, 5)));
      }),
      { numRuns: 300, seed: 1 },
    );
    await store.close();
  });
});
