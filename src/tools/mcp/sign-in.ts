/**
 * Signing in at a server with OAuth. With a person at hand the address to open is handed out and the answer is waited for
 * on the loopback address; without one, what is kept is used and renewed, and a server that wants more has to wait for a
 * person. The SDK does the protocol; what is checked here is that the answer belongs to the question.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { OAuthClientProvider, OAuthDiscoveryState } from '@modelcontextprotocol/client';
import { McpError } from './mcp-server.ts';
import type { SignInStore } from './sign-in-store.ts';

const clientName = 'Talaria';
const callbackPath = '/callback';
const answerTimeoutMs = 300_000;

/** A person who can open an address in a browser. */
export interface SignInPerson {
  readonly show: (address: URL) => void;
  readonly signal: AbortSignal;
}

export interface SignInDesk {
  readonly provider: OAuthClientProvider;
  /** What came back after the person agreed. Throws an `McpError` if nothing does. */
  answer(): Promise<URLSearchParams>;
  close(): void;
}

/** For a process that nobody watches. */
export function keptSignIn(store: SignInStore): OAuthClientProvider {
  return provider(store, 'http://127.0.0.1/callback', null, () => {
    throw new McpError('sign-in-needed', 'It wants a person to sign in.');
  });
}

/** The listener is up before the first address is shown. */
export async function openSignInDesk(store: SignInStore, person: SignInPerson): Promise<SignInDesk> {
  const kept = await store.read();
  const state = randomBytes(24).toString('base64url');
  const answer = Promise.withResolvers<URLSearchParams>();
  answer.promise.catch(() => {});
  const before = kept.redirectUrl === null ? 0 : Number(new URL(kept.redirectUrl).port);
  const server = await listen(state, before, answer.resolve);
  const redirectUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}${callbackPath}`;
  // The client is known there with the place where it was listening then.
  if (redirectUrl !== kept.redirectUrl) await store.change({ client: null, redirectUrl });
  const timer = setTimeout(() => answer.reject(nobodyCame()), answerTimeoutMs);
  const onAbort = () => answer.reject(person.signal.reason as Error);
  person.signal.addEventListener('abort', onAbort, { once: true });
  return {
    provider: provider(store, redirectUrl, state, person.show),
    answer: () => answer.promise,
    close() {
      clearTimeout(timer);
      person.signal.removeEventListener('abort', onAbort);
      server.closeAllConnections();
      server.close();
    },
  };
}

function nobodyCame(): McpError {
  return new McpError('sign-in-needed', 'Nobody signed in within five minutes.');
}

async function listen(state: string, portBefore: number, onAnswer: (answer: URLSearchParams) => void): Promise<Server> {
  const { createServer } = process.getBuiltinModule('node:http');
  const server = createServer((request, response) => {
    // Whatever asks here can ask for anything, also for what is no address at all.
    const asked = URL.parse(request.url ?? '/', 'http://127.0.0.1');
    const isOurs = asked?.pathname === callbackPath && isSame(asked.searchParams.get('state') ?? '', state);
    const page = isOurs ? 'Done. You can close this page and go back to the terminal.' : 'Nothing is expected here.';
    response.writeHead(isOurs ? 200 : 404, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' });
    response.end(`${page}\n`);
    if (isOurs) onAnswer(asked.searchParams);
  });
  const tryPort = (port: number) =>
    new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => resolve(true));
    });
  if ((portBefore === 0 || !(await tryPort(portBefore))) && !(await tryPort(0))) {
    throw new McpError('sign-in-needed', 'No port is free on 127.0.0.1 to take the answer.');
  }
  return server;
}

function isSame(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.byteLength === other.byteLength && timingSafeEqual(one, other);
}

function provider(
  store: SignInStore,
  redirectUrl: string,
  state: string | null,
  show: (address: URL) => void,
): OAuthClientProvider {
  let verifier = '';
  let discovery: OAuthDiscoveryState | undefined;
  return {
    redirectUrl,
    clientMetadata: {
      client_name: clientName,
      redirect_uris: [redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
    ...(state === null ? {} : { state: () => state }),
    clientInformation: async () => (await store.read()).client ?? undefined,
    saveClientInformation: (client) => {
      // Nobody could agree: a client is registered only with a person at hand.
      if (state === null) throw new McpError('sign-in-needed', 'It wants a person to sign in.');
      return store.change({ client });
    },
    tokens: async () => (await store.read()).tokens ?? undefined,
    saveTokens: (tokens) => store.change({ tokens }),
    redirectToAuthorization: show,
    saveCodeVerifier: (code) => {
      verifier = code;
    },
    codeVerifier: () => verifier,
    saveDiscoveryState: (found) => {
      discovery = found;
    },
    discoveryState: () => discovery,
    async invalidateCredentials(scope) {
      if (scope === 'all' || scope === 'tokens') await store.change({ tokens: null });
      if (scope === 'all' || scope === 'client') await store.change({ client: null });
      if (scope === 'all' || scope === 'verifier') verifier = '';
      if (scope === 'all' || scope === 'discovery') discovery = undefined;
    },
  };
}
