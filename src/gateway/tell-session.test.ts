import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { FakeClock } from '../lib/fake-clock.ts';
import { systemClock } from '../lib/clock.ts';
import { countingIdSource, createIdSource } from '../lib/ids.ts';
import { silentLog } from '../lib/log.ts';
import { seededRandom } from '../lib/random.ts';
import type { SessionId } from '../protocol/ids.ts';
import { openSqliteStore } from '../store/sqlite/sqlite-store.ts';
import { createTellSession } from './tell-session.ts';
import { chatMessage, echo, openTestGateway } from './test-gateway.ts';

async function stage(t: TestContext) {
  const ids = countingIdSource();
  const owner = ids.next('nod');
  const store = await openSqliteStore({
    path: ':memory:',
    clock: new FakeClock(),
    log: silentLog,
    owner,
    writer: 'inline',
  });
  t.after(() => store.close());
  const sessionId = ids.next('ses');
  const woken: SessionId[] = [];
  const tell = createTellSession({ store, ids, wake: (id) => void woken.push(id) });
  const hears = async (text: string, channel = 'telegram', target = '55/3') => {
    const inboxId = ids.next('inb');
    await store.admit({
      inboxId,
      channel,
      externalId: inboxId,
      sender: '7',
      message: { role: 'user', parts: [{ kind: 'text', text }] },
      contents: [],
      target,
      session: { kind: 'by-key', key: 'telegram:direct:55', id: sessionId, name: 'x', owner: 'telegram:7' },
      title: text,
      waitingMax: 500,
    });
    return inboxId;
  };
  /** Everything that waits becomes a turn, which ends at once. */
  const answer = async (notices = 0) => {
    const lease = await store.acquireLease(sessionId, owner, 30_000);
    assert.ok(lease);
    const turnId = ids.next('trn');
    const promote = ((await store.read.journal(sessionId, 0))?.waiting ?? []).map(({ id }) => id);
    await store.commit(lease, [
      { verb: 'open-turn', turnId, promote },
      ...Array.from({ length: notices }, () => ({ verb: 'notice', turnId, text: 'still here' }) as const),
      { verb: 'close-turn', turnId, outcome: 'answered', reply: null },
    ]);
    await store.releaseLease(lease);
  };
  const waiting = async () => (await store.read.journal(sessionId, 0))?.waiting ?? [];
  return { store, ids, sessionId, woken, tell, hears, answer, waiting };
}

test('a note waits in the session like a message, is written by nobody, and is answered where the newest message was', async (t) => {
  const { sessionId, woken, tell, hears, answer, waiting } = await stage(t);
  await hears('from the web', 'web', 'w');
  await hears('start it');
  await answer();
  await tell({ sessionId, id: 'process 1/exit', text: 'It ended.', untrusted: 'web' });
  const [note, ...others] = await waiting();
  assert.deepEqual(
    [note?.channel, note?.externalId, note?.target, note?.sender, others.length],
    ['note', `${sessionId}/process 1/exit`, 'telegram:55/3', 'talaria', 0],
  );
  assert.deepEqual(note?.message, {
    role: 'user',
    isUnattended: true,
    untrusted: 'web',
    parts: [{ kind: 'text', text: 'It ended.' }],
  });
  assert.deepEqual(woken, [sessionId]);
});

test('the same note is told once, before and after it was answered', async (t) => {
  const { sessionId, tell, hears, answer, waiting } = await stage(t);
  await hears('start it');
  const note = { sessionId, id: 'n', text: 'done' };
  await Promise.all([tell(note), tell(note)]);
  await tell({ ...note, text: 'done again' });
  assert.equal((await waiting()).length, 2);
  await answer();
  await tell(note);
  assert.equal((await waiting()).length, 0);
  await tell({ ...note, id: 'm' });
  assert.equal((await waiting()).length, 1);
});

test('a note goes where a message that still waits came from, and a note after a note where that one went', async (t) => {
  const { sessionId, tell, hears, answer, waiting } = await stage(t);
  await hears('start it');
  await answer();
  await hears('and now from here', 'web', 'page');
  await tell({ sessionId, id: '1', text: 'a' });
  await tell({ sessionId, id: '2', text: 'b' });
  assert.deepEqual(
    (await waiting()).map(({ target }) => target),
    ['page', 'web:page', 'web:page'],
  );
  await answer();
  await tell({ sessionId, id: '3', text: 'c' });
  assert.deepEqual(
    (await waiting()).map(({ target }) => target),
    ['web:page'],
  );
});

test('the place is found behind a long turn, too', async (t) => {
  const { sessionId, tell, hears, answer, waiting } = await stage(t);
  await hears('start it');
  await answer(600);
  await tell({ sessionId, id: '1', text: 'a' });
  assert.deepEqual(
    (await waiting()).map(({ target }) => target),
    ['telegram:55/3'],
  );
});

test('in a session that nobody wrote to, the answer stays in the log', async (t) => {
  const { store, ids, tell } = await stage(t);
  const id = ids.next('ses');
  await store.importSession(id, 'web:direct:i', 'owner', { name: 'i', title: '', createdAt: 0, entries: [] });
  await tell({ sessionId: id, id: '1', text: 'a' });
  assert.deepEqual(
    (await store.read.journal(id, 0))?.waiting.map(({ target }) => target),
    ['webhook:'],
  );
});

test('a session that is closed or gone is told nothing', async (t) => {
  const { store, sessionId, woken, tell, hears, answer, waiting } = await stage(t);
  await tell({ sessionId, id: 'early', text: 'x' });
  await hears('start it');
  await answer();
  await store.closeSession(sessionId);
  await tell({ sessionId, id: 'closed', text: 'x' });
  assert.equal((await waiting()).length, 0);
  await store.deleteSession(sessionId);
  await tell({ sessionId, id: 'gone', text: 'x' });
  assert.deepEqual(woken, []);
});

test('people’s messages keep no note out, but there is an end to it, and that is said', async (t) => {
  const { sessionId, tell, hears, waiting } = await stage(t);
  for (let count = 0; count < 127; count++) await hears(`message ${count}`);
  await tell({ sessionId, id: 'one', text: 'x' });
  await assert.rejects(tell({ sessionId, id: 'two', text: 'x' }), { name: 'StoreError', reason: 'unavailable' });
  assert.equal((await waiting()).length, 128);
});

test('a note is answered like a message, in the chat that the session is in', async (t) => {
  const gateway = await openTestGateway({ answer: echo });
  t.after(() => gateway.close());
  const { store, drain, intake, deliveries } = gateway;
  const ids = createIdSource({ clock: systemClock, random: seededRandom(9) });
  const receipt = await intake.receive(chatMessage('hello'));
  assert.ok(receipt.kind === 'accepted');
  await drain.whenIdle(receipt.sessionId);
  const tell = createTellSession({ store, ids, wake: drain.wake });
  await tell({ sessionId: receipt.sessionId, id: 'n', text: 'the build is done' });
  await drain.whenIdle(receipt.sessionId);
  for (let look = 0; look < 1_000 && deliveries.length < 2; look++) await setImmediate();
  const [first, second] = deliveries;
  assert.deepEqual([second?.target, second?.text], [first?.target, 'the build is done']);
});
