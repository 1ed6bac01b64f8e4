/**
 * Who is let in: checks where a request comes from, then the key if there is one, and passes on whose key it was. A
 * stream ends with the key that opened it. Wrong keys are counted by address. A cookie is not counted: it can't be guessed,
 * and a browser goes on sending an old one.
 */
import { credentialOf } from './access-key.ts';
import { originProblem } from './guard.ts';
import { HttpProblem, problem, type HttpResponse } from './http-message.ts';
import type { KeyRing } from './key-ring.ts';
import type { Router } from './router.ts';
import type { WrongKeyLimit } from './wrong-key-limit.ts';

export interface DoorkeeperDeps {
  readonly ring: KeyRing;
  readonly wrongKeys: WrongKeyLimit;
  /** The server listens on this machine only. */
  readonly loopback: boolean;
  /** What may be had without the key. */
  readonly isOpen: (path: string) => boolean;
  /** Where a key is traded for a cookie; it answers a wrong one with 401. */
  readonly loginPath: string;
  /** The sentence for those who come without the key. */
  readonly keyWanted: string;
}

export function createDoorkeeper(deps: DoorkeeperDeps, route: Router): Router {
  const { ring, wrongKeys } = deps;
  return async (request) => {
    const isLocked = ring.isLocked();
    // With a key, a name that was made to point here opens nothing, and a proxy on this machine may pass on its own.
    const refusal = originProblem(request, deps.loopback && !isLocked);
    if (refusal !== null) return problem(403, 'forbidden', refusal);
    // Without a key, others are refused: the last one may have been taken away while they can still reach this server.
    if (!isLocked && deps.loopback) return servedWhile(() => !ring.isLocked(), request, route);

    const peer = request.peer ?? '';
    const isLogin = request.path === deps.loginPath;
    const showsKey = credentialOf(request)?.kind === 'bearer';
    if (isLogin || showsKey) {
      const waitMs = wrongKeys.waitMs(peer);
      if (waitMs > 0) return tooManyTries(waitMs);
    }
    if (isLogin) return noting(wrongKeys, peer, () => route(request));
    const principal = ring.identify(request)?.name;
    if (principal !== undefined) {
      return servedWhile(() => ring.identify(request)?.name === principal, { ...request, principal }, route);
    }
    if (showsKey) wrongKeys.note(peer);
    return deps.isOpen(request.path) ? route(request) : keyWanted(deps.keyWanted);
  };
}

type RoutedRequest = Parameters<Router>[0];

/** A stream may go on for days: nothing more of it is given away once the answer would be refused. */
async function servedWhile(isLetIn: () => boolean, request: RoutedRequest, route: Router): Promise<HttpResponse> {
  const shutOut = new AbortController();
  const signal = AbortSignal.any([request.signal, shutOut.signal]);
  const response = await route({ ...request, signal });
  const { body } = response;
  if (body === undefined || typeof body === 'string' || body instanceof Uint8Array) return response;
  return { ...response, body: piecesWhile(body, isLetIn, shutOut) };
}

async function* piecesWhile<T>(
  pieces: AsyncIterable<T>,
  isLetIn: () => boolean,
  shutOut: AbortController,
): AsyncGenerator<T> {
  for await (const piece of pieces) {
    if (!isLetIn()) {
      const refusal = new HttpProblem(401, 'unauthorized', 'The key that opened this stream opens nothing any more.');
      // Whatever it follows may be silent for hours, and would be waited for.
      shutOut.abort(refusal);
      // An answer that stops half-way must not look whole.
      throw refusal;
    }
    yield piece;
  }
}

async function noting(
  wrongKeys: WrongKeyLimit,
  peer: string,
  login: () => Promise<HttpResponse>,
): Promise<HttpResponse> {
  try {
    const response = await login();
    if (response.status === 401) wrongKeys.note(peer);
    return response;
  } catch (error) {
    if (error instanceof HttpProblem && error.status === 401) wrongKeys.note(peer);
    throw error;
  }
}

function keyWanted(message: string): HttpResponse {
  const refusal = problem(401, 'unauthorized', message);
  return { ...refusal, headers: { ...refusal.headers, 'www-authenticate': 'Bearer' } };
}

function tooManyTries(waitMs: number): HttpResponse {
  const seconds = Math.ceil(waitMs / 1_000);
  const refusal = problem(429, 'busy', `Too many wrong keys came from your address. Try again in ${seconds} s.`);
  return { ...refusal, headers: { ...refusal.headers, 'retry-after': String(seconds) } };
}
