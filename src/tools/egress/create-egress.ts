/**
 * The one way out (see `../egress.ts`), over connections of `connect-out.ts`. Every step of a request, redirects included,
 * is judged anew. Nothing of a request goes to another origin than the one it was meant for but where it asked to go.
 */
import { isUtf8 } from 'node:buffer';
import { connect as secure } from 'node:tls';
import type { IncomingMessage } from 'node:http';
import { EgressError, type Egress, type EgressRequest, type EgressResponse } from '../egress.ts';
import { connectOut, type ConnectOutDeps } from './connect-out.ts';
import { readTarget, type Target } from './egress-target.ts';
import { readBody } from './read-body.ts';

const redirectsMax = 8;
const redirectStatuses = new Set([301, 302, 303, 307, 308]);
/** What may be told to an origin that the request was not meant for. */
const harmlessHeaders = new Set(['accept', 'accept-language', 'user-agent']);
const headerBytesMax = 64 * 1024;

export interface EgressDeps extends ConnectOutDeps {
  /** Certificates to trust besides the usual ones. */
  readonly ca?: string;
}

export function createEgress(deps: EgressDeps): Egress {
  return {
    connect: (host, port, signal) => connectOut(deps, { host, port }, signal),
    async fetch(request) {
      const limit = AbortSignal.timeout(request.timeoutMs);
      const signal = AbortSignal.any([request.signal, limit]);
      try {
        return await follow(deps, request, signal);
      } catch (error) {
        if (request.signal.aborted) throw new EgressError('aborted', 'It was interrupted.', { cause: error });
        if (limit.aborted) {
          const seconds = Math.round(request.timeoutMs / 1000);
          throw new EgressError('timeout', `${shortOf(request.url)} did not answer within ${seconds} s.`);
        }
        if (error instanceof EgressError) throw error;
        const reason = error instanceof Error ? error.message : String(error);
        throw new EgressError('unreachable', `${shortOf(request.url)} can't be fetched: ${reason}.`, { cause: error });
      }
    },
  };
}

type Step = Pick<EgressRequest, 'method' | 'headers' | 'body'> & { readonly target: Target };

async function follow(deps: EgressDeps, request: EgressRequest, signal: AbortSignal): Promise<EgressResponse> {
  let step: Step = { ...request, target: readTarget(request.url) };
  for (let redirects = 0; redirects <= redirectsMax; redirects++) {
    const response = await exchange(deps, step, signal);
    const location = redirectStatuses.has(response.statusCode ?? 0) ? response.headers.location : undefined;
    if (location === undefined) {
      const { url } = step.target;
      const body = step.method === 'HEAD' ? new Uint8Array() : await readBody(response, request.bytesMax);
      return { status: response.statusCode ?? 0, headers: plainHeaders(response), body, url: url.href };
    }
    response.destroy();
    step = redirected(step, readTarget(asSent(location), step.target.url), response.statusCode ?? 0);
  }
  throw new EgressError('too-many-redirects', `${shortOf(request.url)} leads in circles.`);
}

/** Headers are read byte by byte, and many servers write an address in UTF-8 there. */
function asSent(location: string): string {
  const bytes = Buffer.from(location, 'latin1');
  return isUtf8(bytes) ? bytes.toString() : location;
}

function redirected(step: Step, target: Target, status: number): Step {
  const isOtherOrigin = target.url.origin !== step.target.url.origin;
  const becomesGet = status === 303 || (status < 303 && step.method === 'POST');
  const { body, ...rest } = step;
  if (!becomesGet && isOtherOrigin && body !== undefined) {
    throw new EgressError(
      'forbidden',
      `${step.target.host} wants what was sent to it to go to ${target.host} instead.`,
    );
  }
  const headers = Object.entries(step.headers ?? {}).filter(
    ([name]) => !isOtherOrigin || harmlessHeaders.has(name.toLowerCase()),
  );
  return {
    ...rest,
    ...(becomesGet || body === undefined ? {} : { body }),
    target,
    headers: Object.fromEntries(headers),
    method: becomesGet ? 'GET' : (step.method ?? 'GET'),
  };
}

async function exchange(deps: EgressDeps, step: Step, signal: AbortSignal): Promise<IncomingMessage> {
  const { target } = step;
  const plain = await connectOut(deps, target, signal);
  const ca = deps.ca === undefined ? {} : { ca: deps.ca };
  const socket = target.isSecure
    ? secure({ socket: plain, ...serverName(target.host), ALPNProtocols: ['http/1.1'], ...ca })
    : plain;
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const request = process.getBuiltinModule('node:http').request({
    createConnection: () => socket,
    method: step.method ?? 'GET',
    path: `${target.url.pathname}${target.url.search}`,
    headers: {
      // Not `deflate`: of what is sent under that name, some has a header and some has none.
      'accept-encoding': 'gzip, br, zstd',
      ...step.headers,
      host: target.url.host,
      connection: 'close',
      ...(step.body === undefined ? {} : { 'content-length': Buffer.byteLength(step.body) }),
    },
    maxHeaderSize: headerBytesMax,
    signal,
  });
  request.once('response', resolve);
  request.once('error', reject);
  request.once('close', () => plain.destroy());
  request.end(step.body);
  return promise;
}

/** An IP address is no name that a certificate could be asked for by. */
function serverName(host: string): { servername?: string; host: string } {
  return /^[\d.]+$|:/.test(host) ? { host } : { servername: host, host };
}

function plainHeaders(response: IncomingMessage): Record<string, string> {
  const pairs = Object.entries(response.headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value] as const],
  );
  return Object.fromEntries(pairs);
}

function shortOf(url: string): string {
  return url.length > 200 ? `${url.slice(0, 200).toWellFormed()}…` : url;
}
