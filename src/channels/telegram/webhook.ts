/**
 * Updates that are posted to us. Answered with 200 only once the update is stored; anything else makes the platform post
 * it again. Whoever does not know the secret learns nothing.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { Update } from 'grammy/types';
import { HttpProblem, json, problem, readJson, type HttpRequest, type HttpResponse } from '../../http/http-message.ts';
import type { Receiver } from './receive-updates.ts';

const bodyBytesMax = 1_000_000;
const secretHeader = 'x-telegram-bot-api-secret-token';

/** `receiver` is null while the channel does not run. */
export async function answerWebhook(
  request: HttpRequest,
  secret: string,
  receiver: Receiver | null,
  signal: AbortSignal,
): Promise<HttpResponse> {
  if (request.method !== 'POST') return problem(405, 'bad-request', 'Post updates here.');
  if (!isSame(request.header(secretHeader) ?? '', secret)) {
    return problem(401, 'unauthorized', 'The secret token is missing or wrong.');
  }
  if (receiver === null) return problem(503, 'draining', 'Not taking updates now.');
  const update = await readUpdateBody(request);
  const { complete } = await receiver.take([update], signal);
  return complete ? json({}) : problem(503, 'draining', 'The update could not be stored; post it again.');
}

async function readUpdateBody(request: HttpRequest): Promise<Update> {
  const body = await readJson(request, bodyBytesMax);
  if (typeof body === 'object' && body !== null && 'update_id' in body && Number.isSafeInteger(body.update_id)) {
    return body as Update;
  }
  throw new HttpProblem(400, 'bad-request', 'The body is no update of Telegram.');
}

/** Hashed first, so that neither content nor length shows in the time it takes. */
function isSame(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
