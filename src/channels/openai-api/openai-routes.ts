/**
 * The OpenAI-compatible API: chat completions, responses, models. It translates between OpenAI's words and ours and decides
 * nothing else; who may ask is checked at the door, and what happens is the gateway's.
 */
import type { HttpRequest, HttpResponse } from '../../http/http-message.ts';
import { createRateLimit, type RateLimitOptions } from '../../http/rate-limit.ts';
import type { Route } from '../../http/router.ts';
import { answeringErrors, tooFast } from './api-error.ts';
import type { OpenAiDeps } from './ask-question.ts';
import { completeChat } from './chat-route.ts';
import { modelRoutes } from './model-routes.ts';
import { OneAtATime } from './one-at-a-time.ts';
import { respond, showResponse } from './responses-routes.ts';

/** Of one key, whatever it asks. More is answered with 429 and a time to wait. */
export const askingPace: RateLimitOptions = { burstMax: 100, perSecond: 10 };

export function openAiRoutes(deps: OpenAiDeps): Route[] {
  const rate = createRateLimit(deps.clock, askingPace);
  const turns = new OneAtATime();
  const paced =
    (handle: (deps: OpenAiDeps, request: HttpRequest) => Promise<HttpResponse>): Route['handle'] =>
    (request) => {
      const waitMs = rate.take(deps.userOf(request));
      if (waitMs > 0) throw tooFast(waitMs);
      return handle(deps, request);
    };
  const routes: Route[] = [
    { method: 'POST', path: '/v1/chat/completions', handle: paced(completeChat) },
    { method: 'POST', path: '/v1/responses', handle: paced((_, request) => respond(deps, turns, request)) },
    { method: 'GET', path: '/v1/responses/:id', handle: paced(showResponse) },
    ...modelRoutes(deps),
  ];
  return routes.map((route) => ({ ...route, handle: (request) => answeringErrors(() => route.handle(request)) }));
}
