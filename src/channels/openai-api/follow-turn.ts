/** The steps of the turn that answers one message, to its end, however often the stream of events breaks on the way. */
import type { InboxId, SessionId } from '../../protocol/ids.ts';
import { OpenAiError } from './api-error.ts';
import type { OpenAiPort } from './port.ts';
import { TurnWatch, type TurnStep } from './turn-watch.ts';

/** So many streams in a row that end without a word, and there is nothing to be had. */
const silentStreamsMax = 5;

export interface FollowedMessage {
  readonly sessionId: SessionId;
  readonly inboxId: InboxId;
  readonly afterSeq: number;
}

/** The last step is `ended`, unless the signal aborts first; then it just stops. */
export async function* followTurn(
  port: OpenAiPort,
  { sessionId, inboxId, afterSeq }: FollowedMessage,
  signal: AbortSignal,
): AsyncGenerator<TurnStep> {
  const watch = new TurnWatch(inboxId, afterSeq);
  for (let silentStreams = 0; silentStreams < silentStreamsMax && !signal.aborted;) {
    silentStreams += 1;
    for await (const event of port.follow(sessionId, watch.lastSeq, signal)) {
      if (event.kind !== 'live-state') silentStreams = 0;
      for (const step of watch.see(event)) {
        yield step;
        if (step.kind === 'ended') return;
      }
    }
  }
  if (signal.aborted) return;
  throw new OpenAiError('The session can not be followed any more; ask again.', {
    status: 503,
    type: 'server_error',
    code: 'session_lost',
  });
}

/** Resolves once the message is part of a turn; false if the signal aborts before. */
export async function whenOpened(
  port: OpenAiPort,
  { sessionId, inboxId, afterSeq }: FollowedMessage,
  signal: AbortSignal,
): Promise<boolean> {
  const watch = new TurnWatch(inboxId, afterSeq);
  for await (const event of port.follow(sessionId, afterSeq, signal)) {
    watch.see(event);
    if (watch.isOpened) return true;
  }
  return false;
}
