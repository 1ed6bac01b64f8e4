import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock } from '../lib/clock.ts';
import { countingIdSource } from '../lib/ids.ts';
import { silentLog } from '../lib/log.ts';
import { openSqliteStore } from '../store/sqlite/sqlite-store.ts';
import { tidySpools } from './tidy-spools.ts';

test('spools of sessions that are gone are removed, those of others stay', async (t) => {
  const root = await mkdtemp(join(tmpdir(), 'talaria-spools-'));
  t.after(() => rm(root, { recursive: true, force: true }));
  const clock = systemClock;
  const ids = countingIdSource();
  const store = await openSqliteStore({
    path: ':memory:',
    clock,
    log: silentLog,
    owner: ids.next('nod'),
    writer: 'inline',
  });
  t.after(() => store.close());
  const [kept, gone] = [ids.next('ses'), ids.next('ses')];
  const inboxId = ids.next('inb');
  const message = { role: 'user', parts: [{ kind: 'text', text: 'hello' }] } as const;
  const session = { kind: 'by-key', key: 'cli:direct:x', id: kept, name: 'x', owner: 'owner' } as const;
  await store.admit({
    inboxId,
    channel: 'cli',
    externalId: 'e',
    sender: 'me',
    message,
    contents: [],
    target: 'x',
    session,
    title: '',
    waitingMax: 9,
  });
  for (const name of [kept, gone]) {
    await mkdir(join(root, name));
    await writeFile(join(root, name, 'cal_x.txt'), 'long output');
  }
  await tidySpools({ clock, read: store.read }, root);
  assert.deepEqual(await readdir(root), [kept]);
  assert.deepEqual(await readdir(join(root, kept)), ['cal_x.txt']);
  await tidySpools({ clock, read: store.read }, join(root, 'not-there'));
});
