/** A response found again by its id: in the log of its session, as far as it has come. */
import type { HttpRequest } from '../../http/http-message.ts';
import type { InboxId, SessionId } from '../../protocol/ids.ts';
import type { OpenAiDeps } from './ask-question.ts';
import { readResponseId } from './reply-ids.ts';
import { TurnWatch, type TurnEnd } from './turn-watch.ts';

export interface StoredResponse {
  readonly sessionId: SessionId;
  readonly inboxId: InboxId;
  /** What has been said so far. */
  readonly texts: readonly string[];
  /** Null while it goes on. */
  readonly end: TurnEnd | null;
  /** The first thing that was said in the session since, or waits to be heard; null if nothing was. */
  readonly next: InboxId | null;
}

/** Null if there is no such response, or if it is not this user's. */
export async function findResponse(
  { port, userOf }: OpenAiDeps,
  request: HttpRequest,
  id: string,
): Promise<StoredResponse | null> {
  const place = readResponseId(id);
  // Looked at first: what waits no longer when the log is read stands in it.
  const waiting = place === null ? null : await port.waiting(userOf(request), place.sessionId);
  if (place === null || waiting === null) return null;
  const { sessionId, inboxId } = place;
  const watch = new TurnWatch(inboxId, 0);
  let next: InboxId | null = null;
  let end: TurnEnd | null = null;
  for await (const event of port.follow(sessionId, 0, request.signal)) {
    // The stored past ends here.
    if (event.kind === 'live-state') break;
    if (watch.isOpened && event.kind === 'entry' && 'inboxId' in event.entry) next ??= event.entry.inboxId;
    for (const step of watch.see(event)) if (step.kind === 'ended') end = step.end;
  }
  if (!watch.isOpened) return null;
  return { sessionId, inboxId, texts: watch.texts, end, next: next ?? waiting[0] ?? null };
}
