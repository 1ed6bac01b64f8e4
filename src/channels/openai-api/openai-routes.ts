/**
 * The OpenAI-compatible API: chat completions, responses, models. It translates between OpenAI's words and ours and decides
 * nothing else; who may ask is checked at the door, and what happens is the gateway's.
 */
import type { Route } from '../../http/router.ts';
import { answeringErrors } from './api-error.ts';
import type { OpenAiDeps } from './ask-question.ts';
import { completeChat } from './chat-route.ts';
import { modelRoutes } from './model-routes.ts';
import { respond, showResponse } from './responses-routes.ts';

export function openAiRoutes(deps: OpenAiDeps): Route[] {
  const routes: Route[] = [
    { method: 'POST', path: '/v1/chat/completions', handle: (request) => completeChat(deps, request) },
    { method: 'POST', path: '/v1/responses', handle: (request) => respond(deps, request) },
    { method: 'GET', path: '/v1/responses/:id', handle: (request) => showResponse(deps, request) },
    ...modelRoutes(deps),
  ];
  return routes.map((route) => ({ ...route, handle: (request) => answeringErrors(() => route.handle(request)) }));
}
