/** The gateway in the foreground: open the home, listen, work, and on the signal drain and leave. */
import { join } from 'node:path';
import type { Channel } from '../channels/channel.ts';
import { isLoopback } from '../http/guard.ts';
import { plainKeyName } from '../http/key-ring.ts';
import { listen, type Listener } from '../http/listener.ts';
import type { Router } from '../http/router.ts';
import { systemClock } from '../lib/clock.ts';
import type { Tool } from '../tools/tool.ts';
import { AppError } from './app-error.ts';
import { createFrontDoor } from './front-door.ts';
import { heldBy } from './held-by.ts';
import { openHome } from './open-home.ts';
import type { OpenedHome } from './open-locked-home.ts';

const leaveGraceMs = 10_000;

export interface RunGatewayOptions {
  readonly home: string;
  readonly env: NodeJS.ProcessEnv;
  readonly verbose: boolean;
  readonly host?: string;
  readonly port?: number;
  /** Aborting it drains and ends the gateway. */
  readonly signal: AbortSignal;
  readonly onReady: (url: string) => void;
  /** Something the operator should know that stops nothing. */
  readonly onNote: (line: string) => void;
  /** Besides those that the configuration asks for. */
  readonly extraChannels?: readonly Channel[];
  readonly extraTools?: readonly Tool[];
}

/** Resolves with the exit code once everything is closed. */
export async function runGateway(options: RunGatewayOptions): Promise<number> {
  const result = await openHome({ ...options, purpose: 'gateway', mode: 'gateway' });
  if (result.kind === 'held') throw new AppError(heldBy(options.home, result.holder));
  const { home } = result;
  try {
    await serve(home, options);
    return 0;
  } finally {
    await home.close(leaveGraceMs);
  }
}

async function serve(home: OpenedHome, options: RunGatewayOptions): Promise<void> {
  const { config, talaria, log } = home;
  const { gateway } = config.current();
  const host = options.host ?? gateway.host;
  const port = options.port ?? gateway.port;
  const key = () => config.current().channels.api?.key ?? null;
  const loopback = isLoopback(host);
  if (!loopback && key() === null) throw new AppError(keyNeeded(host));

  let state: 'starting' | 'ready' | 'draining' = 'starting';
  const handle = createFrontDoor({
    api: talaria.api,
    clock: systemClock,
    webFolder: webFolder(),
    loopback,
    key,
    keyHashes: talaria.keyHashes,
    state: () => state,
    openAi: {
      port: talaria.openAi,
      clock: systemClock,
      ids: home.ids,
      log,
      userOf: ({ principal }) => (principal === undefined || principal === plainKeyName ? 'owner' : principal),
    },
    hooks: home.hooks,
    webhooks: webhookRoute(home),
  });
  const listener = await listenOrExplain({ host, port, handle, log });
  try {
    const url = `http://${host.includes(':') ? `[${host}]` : host}:${listener.port}`;
    home.lock.update({ pid: process.pid, purpose: 'gateway', url, startedAt: systemClock.now() });
    await talaria.start();
    state = 'ready';
    log.info('gateway ready', { url });
    options.onReady(url);
    for (const warning of config.warnings()) options.onNote(warning);
    await aborted(options.signal);
    state = 'draining';
    log.info('gateway draining');
    await talaria.leave(leaveGraceMs);
  } finally {
    await listener.close();
  }
}

/** Loaded with the first call. */
function webhookRoute({ talaria, log }: OpenedHome): Router {
  let route: Promise<Router> | null = null;
  const load = async () => {
    const { createWebhookRoute } = await import('../channels/webhook/webhook-route.ts');
    return createWebhookRoute({ port: talaria.webhooks, clock: systemClock, log });
  };
  return async (request) => (await (route ??= load()))(request);
}

async function listenOrExplain(options: Parameters<typeof listen>[0]): Promise<Listener> {
  try {
    return await listen(options);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : null;
    const at = `${options.host}:${options.port}`;
    const fix = 'Choose another one: talaria gateway --port N, or gateway.port in the configuration.';
    if (code === 'EADDRINUSE') throw new AppError(`Another program uses ${at} already. ${fix}`, { cause: error });
    if (code === 'EACCES') throw new AppError(`This user may not listen on ${at}. ${fix}`, { cause: error });
    if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
      throw new AppError(`This machine has no address ${options.host}. Set gateway.host, or use --host 127.0.0.1.`, {
        cause: error,
      });
    }
    throw error;
  }
}

function keyNeeded(host: string): string {
  return `Listening on ${host} lets other machines in, so a key is needed first: talaria config set channels.api.key KEY`;
}

/** The built page: beside the bundle, or in `dist/` when running from source. */
function webFolder(): string {
  return import.meta.filename.endsWith('.ts')
    ? join(import.meta.dirname, '../../dist/web')
    : join(import.meta.dirname, 'web');
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
