/** What the gateway serves on its port, and to whom. */
import { apiRoutes } from '../channels/webchat/api-routes.ts';
import { loginRoute } from '../channels/webchat/login-route.ts';
import { pageRoutes } from '../channels/webchat/page-routes.ts';
import { metricsText } from '../gateway/metrics.ts';
import { presentsKey } from '../http/access-key.ts';
import { originProblem } from '../http/guard.ts';
import { json, problem, type HttpResponse } from '../http/http-message.ts';
import { createRouter, type Route, type Router } from '../http/router.ts';
import type { Clock } from '../lib/clock.ts';
import type { TalariaApi } from '../protocol/api.ts';

export interface FrontDoorOptions {
  readonly api: TalariaApi;
  readonly clock: Clock;
  readonly webFolder: string;
  readonly loopback: boolean;
  /** Asked at every request, so that a changed key counts at once. */
  readonly key: () => string | null;
  readonly state: () => 'starting' | 'ready' | 'draining';
}

/** Reachable without the key: the page that asks for it, and the two probes, which tell nothing. */
const openPaths = /^\/(?:$|assets\/|favicon\.ico$|healthz$|readyz$|api\/login$)/;

export function createFrontDoor(options: FrontDoorOptions): Router {
  const route = createRouter([
    ...probeRoutes(options),
    ...apiRoutes(options.api, options.clock),
    loginRoute(options.key),
    ...pageRoutes(options.webFolder),
  ]);
  return async (request) => {
    const refusal = originProblem(request, options.loopback);
    if (refusal !== null) return problem(403, 'forbidden', refusal);
    const key = options.key();
    if (key !== null && !openPaths.test(request.path) && !presentsKey(request, key)) return keyWanted;
    return route(request);
  };
}

const keyWanted: HttpResponse = {
  ...problem(
    401,
    'unauthorized',
    'This needs the key: Authorization: Bearer KEY (channels.api.key in the configuration).',
  ),
  headers: { 'content-type': 'application/json; charset=utf-8', 'www-authenticate': 'Bearer' },
};

function probeRoutes({ api, state }: FrontDoorOptions): Route[] {
  const plainText = { 'content-type': 'text/plain; version=0.0.4; charset=utf-8', 'cache-control': 'no-store' };
  return [
    { method: 'GET', path: '/healthz', handle: () => json({ ok: true }) },
    {
      method: 'GET',
      path: '/readyz',
      handle: () => json({ ready: state() === 'ready', state: state() }, state() === 'ready' ? 200 : 503),
    },
    {
      method: 'GET',
      path: '/metrics',
      async handle() {
        const rssBytes = process.memoryUsage.rss();
        return { status: 200, headers: plainText, body: metricsText(await api.status(), { rssBytes }) };
      },
    },
  ];
}
