/** What a front end follows: the stored log from a point on, then what is going on, then what happens. */
import type { SessionEvent } from '../protocol/events.ts';
import type { SessionId } from '../protocol/ids.ts';
import type { StoreReader } from '../store/store.ts';
import type { LiveHub } from './live-hub.ts';

const entriesPerRead = 500;

/** Ends when the signal aborts, or when the reader is too slow; nothing is lost by following again from the last seq. */
export async function* followSession(
  deps: { read: StoreReader; hub: LiveHub },
  sessionId: SessionId,
  after: number,
  signal: AbortSignal,
): AsyncGenerator<SessionEvent> {
  let seq = after;
  const stored = async function* (): AsyncGenerator<SessionEvent> {
    for (;;) {
      const entries = await deps.read.entries(sessionId, { after: seq, limit: entriesPerRead });
      for (const entry of entries) {
        seq = entry.seq;
        yield { kind: 'entry', entry };
      }
      if (entries.length < entriesPerRead) return;
    }
  };
  yield* stored();
  if (signal.aborted) return;

  // Subscribed and looked at in one go, so that no piece of a draft is missed or doubled; then once more the store,
  // for what was stored since the last look. Entries that come both ways are told by their sequence.
  const subscription = deps.hub.subscribe(sessionId);
  const turn = deps.hub.current(sessionId);
  signal.addEventListener('abort', subscription.close, { once: true });
  try {
    yield* stored();
    yield { kind: 'live-state', turn };
    for await (const event of subscription.events) {
      if (signal.aborted) return;
      if (event.kind === 'entry') {
        // Not every entry is announced (its writer may have died in the moment between): gaps are filled from the store.
        if (event.entry.seq > seq + 1) yield* stored();
        if (event.entry.seq <= seq) continue;
        seq = event.entry.seq;
      }
      yield event;
    }
  } finally {
    signal.removeEventListener('abort', subscription.close);
    subscription.close();
  }
}
