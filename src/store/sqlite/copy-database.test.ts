import assert from 'node:assert/strict';
import { statSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { FakeClock } from '../../lib/fake-clock.ts';
import { countingIdSource } from '../../lib/ids.ts';
import { silentLog } from '../../lib/log.ts';
import { FakeConversation } from '../fake-conversation.ts';
import { openSqliteStore } from './sqlite-store.ts';

void it('a snapshot taken while others write is a whole store of one moment', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'talaria-copy-'));
  const ids = countingIdSource();
  const open = (name: string, writer: 'thread' | 'inline') => {
    const options = { path: join(folder, name), clock: new FakeClock(), owner: ids.next('nod'), log: silentLog };
    return openSqliteStore({ ...options, writer });
  };
  const store = await open('state.db', 'thread');
  try {
    const chat = new FakeConversation(store, ids, 'alpha');
    await chat.exchange('one', 'two');
    await chat.own();
    const before = (await chat.journal()).session.lastSeq;
    const pair = () =>
      chat.commit({ verb: 'notice', turnId: null, text: 'a' }, { verb: 'notice', turnId: null, text: 'b' });
    const copying = store.snapshot(join(folder, 'copy.db'));
    for (let commits = 0; commits < 200; commits++) await pair();
    await copying;

    const copy = await open('copy.db', 'inline');
    const journal = await copy.read.journal(chat.sessionId, 0);
    assert.ok(journal !== null && journal.session.lastSeq >= before);
    assert.equal((journal.session.lastSeq - before) % 2, 0, 'no commit is half in it');
    assert.deepEqual(journal.entries, (await chat.journal()).entries.slice(0, journal.session.lastSeq));
    assert.deepEqual(await copy.checkIntegrity(), []);
    await copy.close();
    assert.equal(statSync(join(folder, 'copy.db')).mode & 0o777, 0o600);

    writeFileSync(join(folder, 'taken'), 'something of value');
    await assert.rejects(store.snapshot(join(folder, 'taken')), { name: 'StoreError', reason: 'conflict' });
    await assert.rejects(store.snapshot(join(folder, 'no such folder', 'x')), { reason: 'unavailable' });
  } finally {
    await store.close();
    await rm(folder, { recursive: true });
  }
});
