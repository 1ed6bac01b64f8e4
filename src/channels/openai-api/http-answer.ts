/** How an answer leaves over HTTP, whole or as a stream. Both tell the session's name in a header. */
import { json, type HttpResponse } from '../../http/http-message.ts';
import { eventStream, type SentEvent } from '../../http/server-sent-events.ts';
import type { Clock } from '../../lib/clock.ts';
import { answeringErrors, OpenAiError } from './api-error.ts';
import type { Answering } from './ask-question.ts';
import { sessionHeader } from './asked-session.ts';
import type { TurnEnd } from './turn-watch.ts';

/** Room for a few images in base64. */
export const requestBytesMax = 32_000_000;

/** Waits for the turn's end and sends what `bodyOf` makes of it. */
export async function whole(answering: Answering, bodyOf: (end: TurnEnd) => Promise<unknown>): Promise<HttpResponse> {
  return named(answering, await answeringErrors(async () => json(await bodyOf(await ending(answering)))));
}

export function streamed(clock: Clock, answering: Answering, events: AsyncIterable<SentEvent>): HttpResponse {
  return named(answering, eventStream(clock, events));
}

function named({ sessionName }: Answering, response: HttpResponse): HttpResponse {
  return { ...response, headers: { ...response.headers, ...sessionHeader(sessionName) } };
}

/** Whoever is still there when the answer is not has reached a gateway that stops. */
async function ending({ steps, isRepeatable }: Answering): Promise<TurnEnd> {
  for await (const step of steps) if (step.kind === 'ended') return step.end;
  const details = { status: 503, type: 'server_error', code: 'draining', retryable: isRepeatable } as const;
  throw new OpenAiError('Talaria is stopping; what was asked goes on when it is back.', details);
}
