/**
 * A thin HTTP client for one runtime: POST and a streamed answer, on connections that are kept alive. Speaks HTTP and
 * nothing else: what a status or a byte means is others' work. Every failure is a `ModelError` that says where it happened.
 * Does not retry, but for a kept connection that had died unnoticed: that is the client's own doing, so it mends it.
 */
import type { Agent } from 'node:http';
import type { Clock } from '../../lib/clock.ts';
import { ModelError } from '../model.ts';
import { proxyEnvFor, type Environment } from './proxy.ts';
import { sendRequest, type WireResponse } from './send-request.ts';
import { createSlots } from './slots.ts';
import { cancelled, clientClosed, poolTimeout, wireError } from './transport-error.ts';

export interface HttpClient {
  /** Throws a `ModelError`. An abort ends it and its answer at once, with `cancelled`. */
  post(url: URL, headers: Readonly<Record<string, string>>, body: string, signal: AbortSignal): Promise<WireResponse>;
  /** Ends all connections; what is under way fails. Idempotent. */
  close(): void;
}

export interface HttpClientDeps {
  readonly clock: Clock;
  readonly env: Environment;
  /** An answer without a byte for so long has stalled. */
  readonly stallMs: number;
  readonly limits?: Partial<HttpClientLimits>;
}

export interface HttpClientLimits {
  readonly connectTimeoutMs: number;
  /** How many requests may be under way at once, and how long another one waits for its place. */
  readonly requestsMax: number;
  readonly poolWaitMs: number;
  /** A connection that nobody used for so long is closed. */
  readonly idleMs: number;
}

const defaultLimits: HttpClientLimits = {
  connectTimeoutMs: 10_000,
  requestsMax: 32,
  poolWaitMs: 30_000,
  idleMs: 60_000,
};

export function createHttpClient({ clock, env, stallMs, limits: given }: HttpClientDeps): HttpClient {
  const limits = { ...defaultLimits, ...given };
  const slots = createSlots(clock, { slotsMax: limits.requestsMax, waitMs: limits.poolWaitMs });
  const underWay = new Set<(error: ModelError) => void>();
  const agents = new Map<string, Agent>();
  const closing = new AbortController();

  const agentFor = (url: URL): Agent => {
    const known = agents.get(url.origin);
    if (known !== undefined) return known;
    const agent = openAgent(url, env, limits);
    agents.set(url.origin, agent);
    return agent;
  };

  const post: HttpClient['post'] = async (url, headers, body, signal) => {
    const release = await takePlace(url.host, signal);
    const send = () => {
      let end = (_error: ModelError) => {};
      return sendRequest({
        url,
        headers,
        body,
        signal,
        clock,
        stallMs,
        agent: agentFor(url),
        connectTimeoutMs: limits.connectTimeoutMs,
        onStart(fail) {
          end = fail;
          underWay.add(end);
        },
        onOver(how) {
          underWay.delete(end);
          // A stale connection leaves its place to its successor.
          if (how === 'done') release();
        },
      });
    };
    try {
      const first = await send();
      if (first.kind === 'response') return first;
      closeIdle(agentFor(url));
      const second = await send();
      if (second.kind === 'response') return second;
      throw wireError({ code: 'ECONNRESET' }, url.host, 'waiting');
    } catch (error) {
      release();
      throw error instanceof ModelError ? error : wireError(error, url.host, 'connecting');
    }
  };

  const takePlace = async (host: string, signal: AbortSignal): Promise<() => void> => {
    try {
      const place = await slots.take(AbortSignal.any([signal, closing.signal]));
      if (place.kind === 'timed-out') throw poolTimeout(host, limits.poolWaitMs);
      return place.release;
    } catch (error) {
      if (signal.aborted) throw cancelled();
      throw error;
    }
  };

  return {
    post,
    close() {
      closing.abort(clientClosed());
      for (const fail of underWay) fail(clientClosed());
      for (const agent of agents.values()) agent.destroy();
      agents.clear();
    },
  };
}

function openAgent(url: URL, env: Environment, { requestsMax, idleMs }: HttpClientLimits): Agent {
  const module = process.getBuiltinModule(url.protocol === 'https:' ? 'node:https' : 'node:http');
  const proxyEnv = proxyEnvFor(url, env);
  return new module.Agent({
    keepAlive: true,
    maxSockets: requestsMax,
    // The warmest one first; the others may go.
    scheduling: 'lifo',
    timeout: idleMs,
    ...(proxyEnv === undefined ? {} : { proxyEnv }),
  });
}

/** Where one kept connection had died the others are likely to have died with it. */
function closeIdle(agent: Agent): void {
  for (const sockets of Object.values(agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
}
