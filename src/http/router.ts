/** Finds the handler for a method and a path. `:name` in a pattern stands for one segment. Pure but for the handlers. */
import { problem, type HttpRequest, type HttpResponse } from './http-message.ts';

const shownPathCharsMax = 200;

export interface Route {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly handle: (request: HttpRequest) => Promise<HttpResponse> | HttpResponse;
}

export type Router = (request: Omit<HttpRequest, 'params'>) => Promise<HttpResponse>;

export function createRouter(routes: readonly Route[]): Router {
  const compiled = routes.map((route) => ({ ...route, segments: route.path.split('/') }));
  return async (request) => {
    const segments = request.path.split('/');
    const method = request.method === 'HEAD' ? 'GET' : request.method;
    const allowed = new Set<string>();
    for (const route of compiled) {
      const params = match(route.segments, segments);
      if (params === null) continue;
      if (route.method === method) return route.handle({ ...request, params });
      allowed.add(route.method);
    }
    const shown = request.path.slice(0, shownPathCharsMax);
    if (allowed.size === 0) return problem(404, 'not-found', `There is nothing at ${shown}.`);
    if (allowed.has('GET')) allowed.add('HEAD');
    const methods = [...allowed].join(', ');
    const refusal = problem(405, 'bad-request', `${shown} takes ${methods}, not ${request.method}.`);
    return { ...refusal, headers: { ...refusal.headers, allow: methods } };
  };
}

function match(pattern: readonly string[], segments: readonly string[]): Record<string, string> | null {
  if (pattern.length !== segments.length) return null;
  const params: Record<string, string> = {};
  for (const [index, part] of pattern.entries()) {
    const segment = segments[index] ?? '';
    if (part.startsWith(':')) {
      const value = decode(segment);
      if (value === null || value === '') return null;
      params[part.slice(1)] = value;
    } else if (part !== segment) return null;
  }
  return params;
}

function decode(segment: string): string | null {
  try {
    return decodeURIComponent(segment);
  } catch {
    return null;
  }
}
