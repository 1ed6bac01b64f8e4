import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FakeClock } from '../lib/fake-clock.ts';
import { countingIdSource } from '../lib/ids.ts';
import { silentLog } from '../lib/log.ts';
import type { SessionId } from '../protocol/ids.ts';
import type { SessionRecord } from '../store/store.ts';
import type { HeldThing } from '../tools/holding.ts';
import { createIdleHoldings, lookEveryMs } from './idle-holdings.ts';

const hourMs = 3_600_000;

function setUp(idleHours = 24) {
  const clock = new FakeClock(0);
  const ids = countingIdSource();
  const held: HeldThing[] = [];
  const told: { sessionId: SessionId; text: string }[] = [];
  const sessions = new Map<SessionId, Pick<SessionRecord, 'updatedAt' | 'turn'>>();
  const holding = (kind: HeldThing['kind']) => ({
    name: kind,
    list: async () => held.filter((thing) => thing.kind === kind),
    async end(sessionId: SessionId) {
      for (const thing of held.filter((one) => one.kind === kind && one.sessionId === sessionId)) {
        held.splice(held.indexOf(thing), 1);
      }
    },
  });
  const idle = createIdleHoldings({
    holdings: [holding('shell'), holding('browser')],
    idleMs: () => idleHours * hourMs,
    read: { session: async (id) => (sessions.get(id) ?? null) as SessionRecord | null },
    tell: async (sessionId, text) => void told.push({ sessionId, text }),
    clock,
    log: silentLog,
  });
  const session = (turn: SessionRecord['turn'] = 'none') => {
    const id = ids.next('ses');
    sessions.set(id, { updatedAt: clock.now(), turn });
    return id;
  };
  const hold = (sessionId: SessionId, kind: HeldThing['kind'], isBusy = false) =>
    held.push({ sessionId, kind, what: `${kind} of ${sessionId}`, startedAt: 0, usedAt: clock.now(), isBusy });
  return { clock, idle, session, hold, held, told, sessions };
}

describe('what a session holds', () => {
  test('ends after the hours that are configured, all kinds of it, and not before', async () => {
    const { clock, idle, session, hold, held } = setUp();
    const one = session();
    hold(one, 'shell');
    hold(one, 'browser');
    await clock.advance(24 * hourMs);
    assert.deepEqual(await idle.look(), []);
    await clock.advance(1);
    assert.deepEqual(await idle.look(), [one]);
    assert.deepEqual(held, []);
  });

  test('stays while anything of it is used, the session is written to, or a turn is open', async () => {
    const { clock, idle, session, hold, held, sessions } = setUp();
    const [used, written, working] = [session(), session(), session('open')];
    for (const id of [used, written, working]) hold(id, 'shell');
    await clock.advance(20 * hourMs);
    hold(used, 'browser');
    sessions.set(written, { updatedAt: clock.now(), turn: 'none' });
    await clock.advance(20 * hourMs);
    assert.deepEqual(await idle.look(), []);
    assert.equal(held.length, 4);
  });

  test('is announced if something was going on in it, and else goes quietly', async () => {
    const { clock, idle, session, hold, told } = setUp();
    const [quiet, busy] = [session(), session()];
    hold(quiet, 'shell');
    hold(busy, 'shell', true);
    await clock.advance(25 * hourMs);
    assert.deepEqual(await idle.look(), [quiet, busy]);
    assert.deepEqual(told, [
      {
        sessionId: busy,
        text: `Nothing was heard of this session for 25 h, so what still ran for it is ended now:\n- shell of ${busy}`,
      },
    ]);
  });

  test('stays for ever if no time is set', async () => {
    const { clock, idle, session, hold } = setUp(0);
    hold(session(), 'shell');
    await clock.advance(10_000 * hourMs);
    assert.deepEqual(await idle.look(), []);
  });

  test('is looked at from time to time until it is closed', async () => {
    const { clock, idle, session, hold, held } = setUp();
    hold(session(), 'shell');
    idle.start();
    await clock.advance(24 * hourMs);
    hold(session(), 'shell');
    await clock.advance(lookEveryMs);
    assert.equal(held.length, 1);
    idle.close();
    await clock.advance(48 * hourMs);
    assert.equal(held.length, 1);
  });
});
