/** Where a session's people are: where its newest message came from. */
import type { Entry } from '../protocol/messages.ts';
import { replyPlace, webhookChannel, type ReplyPlace } from '../protocol/reply-place.ts';
import type { SessionRecord, StoreReader } from '../store/store.ts';

const entriesAtOnce = 256;

export type PlaceReader = Pick<StoreReader, 'session' | 'journal' | 'entries' | 'inbox'>;

/** Where the newest message came from, or its answer was to go; the log itself if nobody ever wrote. */
export async function newestPlace(read: PlaceReader, session: SessionRecord): Promise<ReplyPlace> {
  const waiting = (await read.journal(session.id, session.lastSeq))?.waiting.at(-1);
  if (waiting !== undefined) return replyPlace(waiting);
  for (let end = session.lastSeq; end > 0; end -= entriesAtOnce) {
    const after = Math.max(0, end - entriesAtOnce);
    const record = await newestRecord(read, await read.entries(session.id, { after, limit: end - after }));
    if (record !== null) return replyPlace(record);
  }
  return { channel: webhookChannel, target: '' };
}

async function newestRecord(read: Pick<StoreReader, 'inbox'>, entries: readonly Entry[]): Promise<ReplyPlace | null> {
  for (const entry of entries.toReversed()) {
    // In a copy of a session, what its messages came from may be gone.
    const record = 'inboxId' in entry && entry.inboxId !== null ? await read.inbox(entry.inboxId) : null;
    if (record !== null) return record;
  }
  return null;
}
