import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FakeClock } from '../lib/fake-clock.ts';
import type { OpenLocalResult } from '../app/open-local.ts';
import { connect, type ConnectDeps, type Connection } from './connect.ts';
import { FakeApi, FakeHome } from '../../test/support/fake-api.ts';

const api = new FakeApi(new FakeHome());
const opened: OpenLocalResult = { kind: 'opened', local: { api, close: () => Promise.resolve() } };
const remote: Connection = { api, place: 'gateway', close: () => Promise.resolve() };

function heldBy(purpose: string, url: string | null): OpenLocalResult {
  return { kind: 'held', holder: { pid: 4711, purpose, url, startedAt: Date.UTC(2026, 0, 1, 9) } };
}

function setUp(parts: { local: OpenLocalResult[]; reachable?: (url: string) => boolean }) {
  const clock = new FakeClock();
  const interrupting = new AbortController();
  let opens = 0;
  const deps: ConnectDeps = {
    home: '/home/of/tests',
    clock,
    signal: interrupting.signal,
    openLocal: () => {
      opens++;
      const [first = opened] = parts.local;
      if (parts.local.length > 1) parts.local.shift();
      return Promise.resolve(first);
    },
    openRemote: (url) => Promise.resolve(parts.reachable?.(url) === true ? remote : null),
  };
  return { deps, clock, interrupting, opens: () => opens };
}

describe('connecting', () => {
  test('opens a free home in this process', async () => {
    const { deps } = setUp({ local: [opened] });
    const result = await connect(deps);
    assert.equal(result.kind === 'connected' && result.connection.place, 'this-process');
  });

  test('talks to the gateway that holds the home', async () => {
    const { deps } = setUp({
      local: [heldBy('gateway', 'http://127.0.0.1:1')],
      reachable: (url) => url === 'http://127.0.0.1:1',
    });
    assert.deepEqual(await connect(deps), { kind: 'connected', connection: remote });
  });

  test('waits for a gateway that is starting', async () => {
    const { deps, clock } = setUp({
      local: [heldBy('gateway', null), heldBy('gateway', null), heldBy('gateway', 'http://127.0.0.1:1')],
      reachable: () => true,
    });
    const connecting = connect(deps);
    await clock.advance(1_000);
    assert.deepEqual(await connecting, { kind: 'connected', connection: remote });
  });

  test('takes over from a holder that finishes or dies meanwhile', async () => {
    const { deps, clock } = setUp({
      local: [{ kind: 'held', holder: null }, heldBy('gateway', 'http://127.0.0.1:1'), heldBy('-p', null), opened],
    });
    const connecting = connect(deps);
    await clock.advance(1_000);
    const result = await connecting;
    assert.equal(result.kind === 'connected' && result.connection.place, 'this-process');
  });

  test('names the holder and a way out within two seconds', async () => {
    const { deps, clock } = setUp({ local: [heldBy('-p', null)] });
    const connecting = connect(deps);
    await clock.advance(1_500);
    const result = await connecting;
    assert.equal(result.kind, 'held');
    assert.match(
      result.kind === 'held' ? result.problem : '',
      /talaria -p \(pid 4711\).*2026-01-01 09:00:00.*kill 4711/,
    );
  });

  test('ends at once when interrupted', async () => {
    const { deps, clock, interrupting } = setUp({ local: [heldBy('-p', null)] });
    const connecting = assert.rejects(connect(deps), { message: 'enough' });
    await clock.advance(100);
    interrupting.abort(new Error('enough'));
    await connecting;
    assert.equal(clock.pendingTimers, 0);
  });
});
