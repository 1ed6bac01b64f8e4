import assert from 'node:assert/strict';
import { test } from 'node:test';

import { ApiError, type SessionSummary } from '../../src/protocol/api.ts';
import type { SessionEvent } from '../../src/protocol/events.ts';
import type { SessionId } from '../../src/protocol/ids.ts';
import { followSession, loadEntries, type EventSourceLike, type StreamState } from './session-stream.ts';

type Listener = (event: MessageEvent<string>) => void;

/** The browser's side of a connection, moved by the test. */
class FakeSource implements EventSourceLike {
  readyState = 0;
  readonly url: string;
  readonly #listeners: Record<string, Listener | undefined> = {};

  constructor(url: string) {
    this.url = url;
  }

  addEventListener(type: string, listener: Listener): void {
    this.#listeners[type] = listener;
  }

  close(): void {
    this.readyState = 2;
  }

  open(): void {
    this.readyState = 1;
    this.#listeners['open']?.({} as MessageEvent<string>);
  }

  send(...events: SessionEvent[]): void {
    for (const event of events) this.#listeners['message']?.({ data: JSON.stringify(event) } as MessageEvent<string>);
  }

  fail(readyState: 0 | 2): void {
    this.readyState = readyState;
    this.#listeners['error']?.({} as MessageEvent<string>);
  }
}

const notice = (seq: number): SessionEvent => ({
  kind: 'entry',
  entry: { kind: 'notice', text: `${seq}`, seq, at: 0, turnId: null },
});
const liveState: SessionEvent = { kind: 'live-state', turn: null };

function summaryOf(lastSeq: number, id = 'ses_1'): SessionSummary {
  const rest = { createdAt: 0, updatedAt: 0, settings: { model: null, effort: null } };
  return { id: id as SessionId, name: 's', key: 'k', title: '', ...rest, state: 'idle', messages: 0, lastSeq };
}

function setUp(first: SessionSummary | ApiError, showSeq: number | null = null) {
  const sources: FakeSource[] = [];
  const timers: { delayMs: number; callback: () => void }[] = [];
  const frames: (() => void)[] = [];
  const seen: (number | string)[] = [];
  const states: StreamState['kind'][] = [];
  const starts: number[] = [];
  const gateway = { answer: first };
  const deps = {
    session: async () => {
      if (gateway.answer instanceof ApiError) throw gateway.answer;
      return gateway.answer;
    },
    openSource(url: string) {
      const source = new FakeSource(url);
      sources.push(source);
      return source;
    },
    setTimer(delayMs: number, callback: () => void) {
      const timer = { delayMs, callback };
      timers.push(timer);
      return () => void timers.splice(0, timers.length, ...timers.filter((other) => other !== timer));
    },
    onNextFrame: (callback: () => void) => void frames.push(callback),
    random: () => 1,
  };
  const handlers = {
    onStart: (_summary: SessionSummary, after: number) => void starts.push(after),
    onEvents: (events: readonly SessionEvent[]) =>
      void seen.push(...events.map((event) => (event.kind === 'entry' ? event.entry.seq : event.kind))),
    onState: (state: StreamState) => void states.push(state.kind),
  };
  const stream = followSession(deps, handlers, 's', showSeq);
  return {
    stream,
    deps,
    gateway,
    sources,
    seen,
    states,
    starts,
    delays: () => timers.map(({ delayMs }) => delayMs),
    draw: () => frames.splice(0).forEach((frame) => frame()),
    elapse: () => timers.splice(0).forEach(({ callback }) => callback()),
    settle: () => new Promise((resolve) => setImmediate(resolve)),
  };
}

test('a long session is opened at its end, a short one from its beginning', async () => {
  const long = setUp(summaryOf(1_000));
  const short = setUp(summaryOf(20));
  await long.settle();
  assert.deepEqual(
    [...long.sources, ...short.sources].map(({ url }) => url),
    ['/api/sessions/s/events?after=800', '/api/sessions/s/events?after=0'],
  );
  assert.deepEqual([...long.starts, ...short.starts], [800, 0]);
});

test('a session opened at a search hit begins a little before it, unless that is too far back', async () => {
  const near = setUp(summaryOf(1_000), 500);
  const far = setUp(summaryOf(9_000), 500);
  await near.settle();
  assert.deepEqual([...near.starts, ...far.starts], [480, 8_800]);
});

test('events are handed on together, once for each frame, and none twice', async () => {
  const { sources, seen, draw, settle } = setUp(summaryOf(2));
  await settle();
  sources[0]?.open();
  sources[0]?.send(notice(1), notice(2), notice(1), liveState);
  assert.deepEqual(seen, []);
  draw();
  assert.deepEqual(seen, [1, 2, 'live-state']);
});

test('a connection that the browser mends by itself goes on, repeated entries are dropped', async () => {
  const { sources, seen, states, delays, draw, settle } = setUp(summaryOf(0));
  await settle();
  sources[0]?.open();
  sources[0]?.send(notice(1));
  sources[0]?.fail(0);
  sources[0]?.open();
  sources[0]?.send(notice(1), notice(2));
  draw();
  assert.deepEqual(seen, [1, 2]);
  assert.deepEqual(states, ['connecting', 'open', 'lost', 'open']);
  assert.deepEqual(delays(), []);
  assert.equal(sources.length, 1);
});

test('a connection that stays away is opened anew after the last entry that was seen', async () => {
  const { sources, states, elapse, settle } = setUp(summaryOf(0));
  await settle();
  sources[0]?.open();
  sources[0]?.send(notice(1), notice(2));
  sources[0]?.fail(0);
  elapse();
  await settle();
  assert.equal(sources[0]?.readyState, 2);
  assert.equal(sources[1]?.url, '/api/sessions/s/events?after=2');
  sources[1]?.open();
  assert.deepEqual(states, ['connecting', 'open', 'lost', 'open']);
});

test('a gateway that is away is asked again, more and more slowly, and at once when there is reason to', async () => {
  const { stream, gateway, sources, states, delays, elapse, settle } = setUp(new ApiError('unreachable', 'away'));
  const waited: (readonly number[])[] = [];
  for (let round = 0; round < 7; round++) {
    await settle();
    waited.push(delays());
    elapse();
  }
  await settle();
  assert.deepEqual(waited, [[500], [1_000], [2_000], [4_000], [8_000], [10_000], [10_000]]);
  assert.equal(states.at(-1), 'lost');

  gateway.answer = summaryOf(3);
  stream.resume();
  await settle();
  assert.deepEqual(delays(), []);
  assert.equal(sources[0]?.url, '/api/sessions/s/events?after=0');
});

test('a session that is not there, and a gateway that refuses, are told and not asked again', async () => {
  const missing = setUp(new ApiError('not-found', 'no such session'));
  const locked = setUp(new ApiError('unauthorized', 'a key is wanted'));
  await missing.settle();
  assert.deepEqual([missing.states, missing.delays()], [['connecting', 'missing'], []]);
  assert.deepEqual([locked.states, locked.delays()], [['connecting', 'refused'], []]);
});

test('a session deleted while it is followed is told as missing', async () => {
  const { gateway, sources, states, elapse, settle } = setUp(summaryOf(0));
  await settle();
  sources[0]?.open();
  gateway.answer = new ApiError('not-found', 'gone');
  sources[0]?.fail(2);
  elapse();
  await settle();
  assert.deepEqual(states, ['connecting', 'open', 'lost', 'missing']);
});

test('another session under the same name is read from its own start', async () => {
  const { gateway, sources, seen, starts, draw, elapse, settle } = setUp(summaryOf(3));
  await settle();
  sources[0]?.send(notice(1), notice(2), notice(3));
  gateway.answer = summaryOf(1, 'ses_2');
  sources[0]?.fail(2);
  draw();
  elapse();
  await settle();
  sources[1]?.send(notice(1));
  draw();
  assert.deepEqual(starts, [0, 0]);
  assert.deepEqual(seen, [1, 2, 3, 1]);
});

test('a pause lets the connection go, and going on misses nothing', async () => {
  const { stream, sources, seen, draw, settle } = setUp(summaryOf(0));
  await settle();
  sources[0]?.open();
  sources[0]?.send(notice(1));
  stream.pause();
  assert.equal(sources[0]?.readyState, 2);
  stream.resume();
  await settle();
  assert.equal(sources[1]?.url, '/api/sessions/s/events?after=1');
  sources[1]?.open();
  stream.resume();
  sources[1]?.send(notice(2));
  draw();
  assert.deepEqual(seen, [1, 2]);
  assert.equal(sources.length, 2);
});

test('nothing is heard of a stream that was closed', async () => {
  const { stream, sources, seen, draw, delays, settle } = setUp(summaryOf(0));
  await settle();
  sources[0]?.send(notice(1));
  stream.close();
  sources[0]?.send(notice(2));
  sources[0]?.fail(2);
  stream.resume();
  draw();
  await settle();
  assert.deepEqual(seen, []);
  assert.deepEqual(delays(), []);
  assert.equal(sources.length, 1);
});

test('an answer or a connection that comes too late for a closed stream is ignored', async () => {
  const asked = setUp(summaryOf(0));
  const refused = setUp(new ApiError('unreachable', 'away'));
  asked.stream.close();
  refused.stream.close();
  await asked.settle();
  assert.deepEqual([asked.sources, asked.starts, refused.states, refused.delays()], [[], [], ['connecting'], []]);

  const opened = setUp(summaryOf(0));
  await opened.settle();
  opened.stream.close();
  opened.sources[0]?.open();
  assert.deepEqual(opened.states, ['connecting']);
});

test('earlier entries are read up to those that are known, and the connection is closed', async () => {
  const { deps, sources, delays, settle } = setUp(summaryOf(10));
  await settle();
  const loading = loadEntries(deps, 's', 2, 5);
  const source = sources[1];
  source?.send(notice(3), notice(4), notice(5));
  const entries = await loading;
  assert.deepEqual(
    entries.map(({ seq }) => seq),
    [3, 4],
  );
  assert.deepEqual([source?.url, source?.readyState, delays()], ['/api/sessions/s/events?after=2', 2, []]);
});

test('earlier entries that can not be read are an error that can be shown', async () => {
  const { deps, sources, settle } = setUp(summaryOf(10));
  await settle();
  const loading = loadEntries(deps, 's', 2, 5);
  sources[1]?.fail(2);
  await assert.rejects(loading, { name: 'ApiError', reason: 'unreachable' });
});
