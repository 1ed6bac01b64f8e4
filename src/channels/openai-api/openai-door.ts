/**
 * Goes around everything that the gateway serves: below `/v1/`, what the door and the router say (no key, no such route,
 * too many tries) becomes an error object that OpenAI's clients understand. All else passes untouched.
 */
import { HttpProblem, problem, type HttpResponse } from '../../http/http-message.ts';
import type { Router } from '../../http/router.ts';
import { errorObject, problemError } from './api-error.ts';
import { isFields } from './request-fields.ts';

export function withOpenAiErrors(route: Router): Router {
  return async (request) => {
    if (!request.path.startsWith('/v1/')) return route(request);
    try {
      return translated(await route(request));
    } catch (error) {
      if (!(error instanceof HttpProblem)) throw error;
      return translated(problem(error.status, error.reason, error.message));
    }
  };
}

function translated(response: HttpResponse): HttpResponse {
  const { status, body, headers } = response;
  if (status < 400 || typeof body !== 'string' || !/^application\/json\b/.test(typeOf(headers))) return response;
  const message = problemIn(body);
  if (message === null) return response;
  const own = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' };
  return {
    status,
    headers: { ...headers, ...own },
    body: `${JSON.stringify(errorObject(problemError(status, message)))}\n`,
  };
}

function typeOf(headers: HttpResponse['headers']): string {
  return headers?.['content-type'] ?? '';
}

/** The sentence of a `problem`; null if it is an error object already, or something else. */
function problemIn(body: string): string | null {
  const value: unknown = JSON.parse(body);
  const error = isFields(value) ? value['error'] : null;
  if (!isFields(error) || typeof error['reason'] !== 'string') return null;
  return typeof error['message'] === 'string' ? error['message'] : null;
}
