/**
 * Puts a word of the program itself into a session: what a background process has to say. It is stored like any message
 * and answered where the session's newest one was; nobody has written it, so its turn is an unattended one. Once for each
 * id, over restarts too. A session that is closed or gone is told nothing.
 */
import type { IdSource } from '../lib/ids.ts';
import { waitingMessagesMax } from '../protocol/api.ts';
import type { SessionId } from '../protocol/ids.ts';
import { noteChannel, targetTo } from '../protocol/reply-place.ts';
import { StoreError, type Store } from '../store/store.ts';
import type { TellSession } from '../tools/tool.ts';
import { newestPlace, type PlaceReader } from './newest-place.ts';

/** People's messages must not keep a note out, nor notes fill the store. */
const waitingMax = 4 * waitingMessagesMax;

export interface TellSessionDeps {
  readonly store: Pick<Store, 'admit'> & {
    readonly read: PlaceReader;
  };
  readonly ids: IdSource;
  readonly wake: (sessionId: SessionId) => void;
}

/** Throws a `StoreError` if it can't be stored now: the same note may be told again later. */
export function createTellSession({ store, ids, wake }: TellSessionDeps): TellSession {
  return async ({ sessionId, id, text, untrusted }) => {
    const session = await store.read.session(sessionId);
    if (session === null || session.isClosed) return;
    const result = await store.admit({
      inboxId: ids.next('inb'),
      channel: noteChannel,
      externalId: `${sessionId}/${id}`,
      sender: 'talaria',
      message: {
        role: 'user',
        isUnattended: true,
        ...(untrusted === undefined ? {} : { untrusted }),
        parts: [{ kind: 'text', text: text.toWellFormed().replaceAll('\0', '\uFFFD') }],
      },
      contents: [],
      target: targetTo(await newestPlace(store.read, session)),
      session: { kind: 'existing', id: sessionId },
      title: '',
      waitingMax,
    });
    if (result.kind !== 'refused') wake(sessionId);
    else if (result.reason === 'queue-full') {
      throw new StoreError('unavailable', `${waitingMax} messages are waiting in this session already.`);
    }
  };
}
