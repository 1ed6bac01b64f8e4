/** What the gateway serves on its port, and to whom. */
import type { OpenAiDeps } from '../channels/openai-api/ask-question.ts';
import { withOpenAiErrors } from '../channels/openai-api/openai-door.ts';
import { openAiRoutes } from '../channels/openai-api/openai-routes.ts';
import { apiRoutes } from '../channels/webchat/api-routes.ts';
import { loginPath, loginRoute } from '../channels/webchat/login-route.ts';
import { pageRoutes } from '../channels/webchat/page-routes.ts';
import { metricsText } from '../gateway/metrics.ts';
import { createDoorkeeper } from '../http/doorkeeper.ts';
import { json } from '../http/http-message.ts';
import { createKeyRing, type KeyHash } from '../http/key-ring.ts';
import { createRouter, type Route, type Router } from '../http/router.ts';
import { createWrongKeyLimit } from '../http/wrong-key-limit.ts';
import type { Clock } from '../lib/clock.ts';
import type { TalariaApi } from '../protocol/api.ts';
import { createProcessFigures } from './process-figures.ts';

export interface FrontDoorOptions {
  readonly api: TalariaApi;
  readonly clock: Clock;
  readonly webFolder: string;
  readonly loopback: boolean;
  /** Asked at every request, so that a changed key counts at once. */
  readonly key: () => string | null;
  /** Keys with names, of which only hashes are stored. */
  readonly keyHashes?: () => readonly KeyHash[];
  readonly state: () => 'starting' | 'ready' | 'draining';
  /** The OpenAI-compatible API. */
  readonly openAi: OpenAiDeps;
  /** What platforms call, by path; they prove themselves in their own way, so they pass the key and the origin. */
  readonly hooks: ReadonlyMap<string, Router>;
  /** Other programs that the configuration names, below the same path. */
  readonly webhooks: Router;
}

const hooksPath = '/hooks/';

/** Reachable without the key: the page that asks for it, and the two probes, which tell nothing. */
const openPaths = /^\/(?:$|assets\/|favicon\.ico$|healthz$|readyz$|api\/login$)/;

const keyWanted = 'This needs the key: Authorization: Bearer KEY (channels.api.key in the configuration).';

export function createFrontDoor(options: FrontDoorOptions): Router {
  const { clock, loopback, key, keyHashes = () => [] } = options;
  const ring = createKeyRing({ hashes: keyHashes, plain: key });
  const route = createRouter([
    ...probeRoutes(options),
    ...apiRoutes(options.api, clock),
    loginRoute(ring),
    ...openAiRoutes(options.openAi),
    ...pageRoutes(options.webFolder),
  ]);
  const wrongKeys = createWrongKeyLimit(clock);
  const isOpen = (path: string) => openPaths.test(path);
  const guarded = withOpenAiErrors(
    createDoorkeeper({ ring, wrongKeys, loopback, isOpen, loginPath, keyWanted }, route),
  );
  const others = (path: string) => (path.startsWith(hooksPath) ? options.webhooks : guarded);
  return (request) => (options.hooks.get(request.path) ?? others(request.path))(request);
}

function probeRoutes({ api, state }: FrontDoorOptions): Route[] {
  const figures = createProcessFigures();
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
        return { status: 200, headers: plainText, body: metricsText(await api.status(), figures()) };
      },
    },
  ];
}
