/** A disk that is full or can't be written: the caller is told, and what it was told is the truth. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { systemClock } from '../../lib/clock.ts';
import { countingIdSource } from '../../lib/ids.ts';
import { silentLog } from '../../lib/log.ts';
import { FakeConversation } from '../fake-conversation.ts';
import { StoreError, type Store } from '../store.ts';
import { makeSmallDisk, type SmallDisk } from './fake-small-disk.ts';
import { acquireHomeLock } from './home-lock.ts';
import { openSqliteStore, type SqliteStoreOptions } from './sqlite-store.ts';

const diskBytes = 4 * 1024 * 1024;

type Open = (changes?: Partial<SqliteStoreOptions>) => Promise<Store>;

function itOnSmallDisk(title: string, test: (disk: SmallDisk, open: Open) => Promise<void>): void {
  void it(title, async (context) => {
    const disk = makeSmallDisk(diskBytes);
    if (typeof disk === 'string') return context.skip(disk);
    const opened: Store[] = [];
    const open: Open = async (changes) => {
      const path = join(disk.path, 'state.db');
      const owner = countingIdSource().next('nod');
      const options = { path, clock: systemClock, owner, log: silentLog, writer: 'inline' as const };
      const store = await openSqliteStore({ ...options, ...changes });
      opened.push(store);
      return store;
    };
    try {
      await test(disk, open);
    } finally {
      for (const store of opened) await store.close();
      disk.remove();
    }
  });
}

function fails(reason: string) {
  return (error: unknown) => {
    assert.ok(error instanceof StoreError, String(error));
    assert.equal(error.reason, reason);
    assert.match(error.message, /^[^\n]+\.$/);
    return true;
  };
}

void describe('disk trouble', () => {
  for (const writer of ['inline', 'thread'] as const) {
    itOnSmallDisk(
      `C86 on a full disk what failed was not written, and what was acknowledged was, ${writer}`,
      async (disk, open) => {
        const store = await open({ writer });
        const chat = new FakeConversation(store, countingIdSource(), 'alpha');
        await chat.say('hello');
        await chat.own();
        disk.fill(256 * 1024);
        const acknowledged: string[] = [];
        const failures: unknown[] = [];
        let number = 0;
        while (failures.length === 0) {
          const burst = Array.from({ length: 40 }, () => String(number++));
          await Promise.all(
            burst.map((text) =>
              chat
                .commit({ verb: 'notice', turnId: null, text }, { verb: 'notice', turnId: null, text: 'x'.repeat(500) })
                .then(
                  () => acknowledged.push(text),
                  (error: unknown) => failures.push(error),
                ),
            ),
          );
        }
        for (const failure of failures) fails('disk-full')(failure);
        const written = async () =>
          (await chat.journal()).entries.flatMap((entry) =>
            entry.kind === 'notice' && !entry.text.startsWith('x') ? [entry.text] : [],
          );
        assert.deepEqual(await written(), acknowledged);

        disk.free();
        await chat.commit({ verb: 'notice', turnId: null, text: 'room again' });
        assert.deepEqual(await written(), [...acknowledged, 'room again']);
        assert.deepEqual(await store.checkIntegrity(), []);
        await store.close();
      },
    );
  }

  itOnSmallDisk('C86 closing on a full disk and opening again loses nothing', async (disk, open) => {
    const store = await open({ writer: 'thread' });
    const chat = new FakeConversation(store, countingIdSource(), 'alpha');
    await chat.exchange('one', 'two');
    const before = await chat.journal();
    disk.fill(0);
    await store.close();
    disk.free();
    const again = await open();
    assert.deepEqual(await again.read.journal(chat.sessionId, 0), before);
  });

  itOnSmallDisk('a full disk is told at the first start, and leaves no half-made database', async (disk, open) => {
    disk.fill(8 * 1024);
    await assert.rejects(open(), fails('disk-full'));
    assert.equal(existsSync(join(disk.path, 'state.db')), false);
    disk.free();
    await (await open()).close();
    assert.deepEqual(readdirSync(disk.path), ['state.db']);
  });

  itOnSmallDisk('a search index that has no room fails alone', async (disk, open) => {
    const folder = await mkdtemp(join(tmpdir(), 'talaria-state-'));
    const path = join(folder, 'state.db');
    const store = await open({ path, searchPath: join(disk.path, 'search.db'), writer: 'thread' });
    const chat = new FakeConversation(store, countingIdSource(), 'alpha');
    await chat.exchange('one', 'two');
    disk.fill(0);
    await assert.rejects(store.search('one', 10), fails('disk-full'));
    await chat.exchange('three', 'four');
    disk.free();
    assert.equal((await store.search('three', 10)).length, 1);
    await store.close();
    await rm(folder, { recursive: true });
  });

  itOnSmallDisk('a copy that does not fit is told and leaves nothing', async (disk, open) => {
    const store = await open({ writer: 'thread' });
    disk.fill(8 * 1024);
    await assert.rejects(store.snapshot(join(disk.path, 'copy.db')), fails('disk-full'));
    assert.equal(existsSync(join(disk.path, 'copy.db')), false);
    await store.close();
  });

  itOnSmallDisk('a home lock on a full disk says so and is not kept', async (disk) => {
    const holder = { pid: 1, purpose: 'x'.repeat(10_000), url: null, startedAt: 1 };
    disk.fill(0);
    assert.throws(() => acquireHomeLock(disk.path, holder), fails('disk-full'));
    disk.free();
    const result = acquireHomeLock(disk.path, holder);
    assert.ok(result.kind === 'acquired');
    result.lock.release();
  });

  itOnSmallDisk('a read-only home is told, with and without a database in it', async (disk, open) => {
    const holder = { pid: 1, purpose: 'test', url: null, startedAt: 1 };
    disk.setReadOnly(true);
    assert.throws(() => acquireHomeLock(disk.path, holder), fails('read-only'));
    await assert.rejects(open(), fails('read-only'));
    disk.setReadOnly(false);
    const store = await open();
    await new FakeConversation(store, countingIdSource(), 'alpha').exchange('one', 'two');
    await store.close();
    const lock = acquireHomeLock(disk.path, holder);
    assert.ok(lock.kind === 'acquired');
    lock.lock.release();

    disk.setReadOnly(true);
    assert.throws(() => acquireHomeLock(disk.path, holder), fails('read-only'));
    await assert.rejects(open(), fails('read-only'));
  });
});
