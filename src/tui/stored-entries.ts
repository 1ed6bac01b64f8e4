/** A session's log up to this moment: the first event that is not stored says that all stored ones have come. */
import type { TalariaApi } from '../protocol/api.ts';
import type { Entry } from '../protocol/messages.ts';

export async function* storedEntries(
  api: Pick<TalariaApi, 'events'>,
  ref: string,
  after: number,
): AsyncGenerator<Entry> {
  const done = new AbortController();
  try {
    for await (const event of api.events(ref, after, done.signal)) {
      if (event.kind !== 'entry') return;
      yield event.entry;
    }
  } finally {
    done.abort();
  }
}
