/** A word to the people of a session, where they are, that no model sees. Stored before it resolves, then delivered. */
import type { IdSource } from '../lib/ids.ts';
import type { SessionId } from '../protocol/ids.ts';
import type { Store } from '../store/store.ts';
import { newestPlace, type PlaceReader } from './newest-place.ts';

export interface TellPeopleDeps {
  readonly store: Pick<Store, 'queueMessage'> & { readonly read: PlaceReader };
  readonly ids: IdSource;
  /** There is something to deliver. */
  readonly poke: () => void;
}

/** A session that is gone is told nothing. */
export function createTellPeople({ store, ids, poke }: TellPeopleDeps) {
  return async (sessionId: SessionId, text: string): Promise<void> => {
    const session = await store.read.session(sessionId);
    if (session === null) return;
    const { channel, target } = await newestPlace(store.read, session);
    const outboxId = ids.next('out');
    await store.queueMessage({ outboxId, sessionId, channel, target, text, buttons: [], answers: null });
    poke();
  };
}
