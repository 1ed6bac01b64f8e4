import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '../lib/fake-clock.ts';
import { eventStream, type SentEvent } from './server-sent-events.ts';

function framesOf(clock: FakeClock, events: AsyncIterable<SentEvent>): AsyncIterator<string> {
  const { body } = eventStream(clock, events);
  if (typeof body !== 'object' || body instanceof Uint8Array) throw new Error('no stream');
  return (body as AsyncIterable<string>)[Symbol.asyncIterator]();
}

async function* given(...events: SentEvent[]): AsyncGenerator<SentEvent> {
  yield* events;
}

test('events carry their id and name, and a line end inside the data does not end them', async () => {
  const frames = framesOf(
    new FakeClock(),
    given({ data: 'plain' }, { data: 'two\nlines\r\nmore', id: '7' }, { data: '{}', event: 'done' }),
  );
  const texts: string[] = [];
  for (let next = await frames.next(); next.done !== true; next = await frames.next()) texts.push(next.value);
  assert.deepEqual(texts, [
    ': welcome\n\n',
    'data: plain\n\n',
    'id: 7\ndata: two\ndata: lines\ndata: more\n\n',
    'event: done\ndata: {}\n\n',
  ]);
});

test('a stream in which nothing happens shows that it is alive, and leaves no timer behind', async () => {
  const clock = new FakeClock();
  const happens = Promise.withResolvers<SentEvent>();
  const frames = framesOf(
    clock,
    (async function* () {
      yield await happens.promise;
    })(),
  );
  await frames.next();
  const quiet = frames.next();
  await clock.advance(15_000);
  assert.deepEqual(await quiet, { done: false, value: ': still here\n\n' });
  const last = frames.next();
  happens.resolve({ data: 'x' });
  assert.deepEqual(await last, { done: false, value: 'data: x\n\n' });
  assert.equal((await frames.next()).done, true);
  assert.equal(clock.pendingTimers, 0);
});

test('a stream that is abandoned ends what it came from', async () => {
  let ended = false;
  const frames = framesOf(
    new FakeClock(),
    (async function* () {
      try {
        yield { data: '1' };
        yield { data: '2' };
      } finally {
        ended = true;
      }
    })(),
  );
  await frames.next();
  await frames.next();
  await frames.return?.();
  assert.equal(ended, true);
});
