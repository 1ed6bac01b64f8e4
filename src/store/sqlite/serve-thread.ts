/** A store thread's end of the link: takes what has queued up, answers it together, ends when told to. */
import { receiveMessageOnPort, type MessagePort } from 'node:worker_threads';
import { endRequest, packError, type ThreadAnswer, type ThreadRequest } from './thread-messages.ts';

export type Outcome = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: unknown };

export interface ThreadServer<Body> {
  /** At most so many requests are handed to `handle` together. */
  readonly batchMax: number;
  /** One outcome per request, in their order. Must not throw. */
  handle(bodies: readonly Body[]): readonly Outcome[];
  /** Called once, last. */
  end(): void;
}

export function serveThread<Body>(port: MessagePort, server: ThreadServer<Body>): void {
  port.on('message', (first: ThreadRequest<Body> | typeof endRequest) => {
    let next: ThreadRequest<Body> | typeof endRequest | undefined = first;
    while (next !== undefined) {
      const batch: ThreadRequest<Body>[] = [];
      while (next !== undefined && next !== endRequest && batch.length < server.batchMax) {
        batch.push(next);
        next = takeNext(port);
      }
      if (batch.length > 0) answer(port, server, batch);
      if (next === endRequest) {
        server.end();
        port.close();
        return;
      }
      // A batch that was full leaves one request over: it is the first of the next one.
      next ??= takeNext(port);
    }
  });
}

function takeNext<Body>(port: MessagePort): ThreadRequest<Body> | typeof endRequest | undefined {
  const taken: { readonly message: ThreadRequest<Body> | typeof endRequest } | undefined = receiveMessageOnPort(port);
  return taken?.message;
}

function answer<Body>(port: MessagePort, server: ThreadServer<Body>, batch: readonly ThreadRequest<Body>[]): void {
  const outcomes = server.handle(batch.map((request) => request.body));
  port.postMessage(
    batch.map(({ id }, index): ThreadAnswer => {
      const outcome = outcomes[index] ?? { ok: false, error: new Error('a request got no outcome') };
      return outcome.ok ? { id, ok: true, value: outcome.value } : { id, ok: false, error: packError(outcome.error) };
    }),
  );
}
