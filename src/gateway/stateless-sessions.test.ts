import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { FakeClock } from '../lib/fake-clock.ts';
import { countingIdSource } from '../lib/ids.ts';
import { silentLog } from '../lib/log.ts';
import { openSqliteStore } from '../store/sqlite/sqlite-store.ts';
import {
  StatelessSessions,
  statelessKey,
  statelessKeptMax,
  statelessKeptMs,
  statelessReplayMs,
} from './stateless-sessions.ts';

async function open(t: TestContext) {
  const clock = new FakeClock();
  const ids = countingIdSource();
  const owner = ids.next('nod');
  const store = await openSqliteStore({ path: ':memory:', clock, log: silentLog, owner, writer: 'inline' });
  const stateless = new StatelessSessions({
    read: store.read,
    clock,
    log: silentLog,
    remove: (id) => store.deleteSession(id),
  });
  t.after(async () => {
    await stateless.close();
    await store.close();
  });
  const add = async (name: string, key?: string) => {
    const id = ids.next('ses');
    const session = { name, title: '', createdAt: clock.now(), entries: [] };
    return store.importSession(id, key ?? statelessKey('laptop', id), 'api:laptop', session);
  };
  const names = async () => (await store.read.sessions({ limit: 5_000 })).map(({ name }) => name);
  return { clock, store, stateless, add, names };
}

test('a session of a stateless request is deleted after its time, and no other session is', async (t) => {
  const { clock, stateless, add, names } = await open(t);
  await add('named', 'api:direct:laptop:x');
  await add('old');
  await clock.advance(statelessKeptMs - 1);
  await add('young');
  await stateless.tidy();
  assert.deepEqual((await names()).toSorted(), ['named', 'old', 'young']);
  await clock.advance(1);
  await stateless.tidy();
  assert.deepEqual((await names()).toSorted(), ['named', 'young']);
});

test('more than are kept go before their time, the oldest first, but none that a repeated request may want', async (t) => {
  const { clock, stateless, add, names } = await open(t);
  for (let index = 0; index < statelessKeptMax + 2; index += 1) {
    await add(`s${index}`);
    await clock.advance(1);
  }
  await stateless.tidy();
  assert.equal((await names()).length, statelessKeptMax + 2);
  await clock.advance(statelessReplayMs);
  await stateless.tidy();
  const left = await names();
  assert.deepEqual([left.length, left.includes('s1'), left.includes('s2')], [statelessKeptMax, false, true]);
});

test('it looks by itself, and after many new ones; one that works is left alone', async (t) => {
  const { clock, store, stateless, add, names } = await open(t);
  const busy = await add('busy');
  await add('old');
  const admission = {
    inboxId: 'inb_x' as never,
    channel: 'api',
    externalId: 'x',
    sender: 'laptop',
    message: { role: 'user', parts: [{ kind: 'text', text: 'hi' }] },
    contents: [],
    target: 'x',
    session: { kind: 'existing', id: busy.id },
    title: '',
    waitingMax: 9,
  } as const;
  await store.admit(admission);
  const lease = await store.acquireLease(busy.id, 'nod_x' as never, 1e12);
  assert.ok(lease);
  await store.commit(lease, [{ verb: 'open-turn', turnId: 'trn_x' as never, promote: [admission.inboxId] }]);
  await clock.advance(statelessKeptMs);
  stateless.start();
  await clock.advance(60_000);
  await stateless.tidy();
  assert.deepEqual(await names(), ['busy']);
});
