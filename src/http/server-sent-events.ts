/** A stream of server-sent events, with a comment now and then so that proxies and dead connections show themselves. */
import type { Clock } from '../lib/clock.ts';
import type { HttpResponse } from './http-message.ts';

const heartbeatEveryMs = 15_000;

export interface SentEvent {
  readonly data: string;
  readonly id?: string;
  /** Without it the event has no name. One word. */
  readonly event?: string;
}

export function eventStream(clock: Clock, events: AsyncIterable<SentEvent>): HttpResponse {
  return {
    status: 200,
    headers: {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    },
    body: frames(clock, events),
  };
}

async function* frames(clock: Clock, events: AsyncIterable<SentEvent>): AsyncGenerator<string> {
  const iterator = events[Symbol.asyncIterator]();
  yield ': welcome\n\n';
  let next = iterator.next();
  try {
    for (;;) {
      const result = await beforeHeartbeat(clock, next);
      if (result === 'heartbeat') yield ': still here\n\n';
      else if (result.done === true) return;
      else {
        yield frameOf(result.value);
        next = iterator.next();
      }
    }
  } finally {
    await iterator.return?.();
  }
}

/** A line end inside the data would end the event. */
function frameOf({ id, event, data }: SentEvent): string {
  const head = `${event === undefined ? '' : `event: ${event}\n`}${id === undefined ? '' : `id: ${id}\n`}`;
  return `${head}data: ${data.replaceAll(/\r\n|\r|\n/g, '\ndata: ')}\n\n`;
}

function beforeHeartbeat<T>(clock: Clock, next: Promise<T>): Promise<T | 'heartbeat'> {
  return new Promise((resolve, reject) => {
    const cancel = clock.setTimer(heartbeatEveryMs, () => resolve('heartbeat'));
    next.then(resolve, reject).finally(cancel);
  });
}
