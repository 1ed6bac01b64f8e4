/**
 * One attempt to connect to a server: its program is started, or its address spoken to, signing in where that is asked for.
 * The official SDK is loaded here.
 */
import { resolve } from 'node:path';
import type { Transport } from '@modelcontextprotocol/client';
import type { Clock } from '../../lib/clock.ts';
import type { Egress } from '../egress.ts';
import { boundedFetch } from './bounded-fetch.ts';
import { connectFailure, signInNeeded } from './connect-failure.ts';
import { McpError, type McpServerSettings } from './mcp-server.ts';
import { connectTimeoutMs, openConnection, type Connection, type OpenOptions, type Sdk } from './open-connection.ts';
import { serverCommand, type ServerCommandDeps } from './server-command.ts';
import { ServerProcess } from './server-process.ts';
import { keptSignIn, openSignInDesk, type SignInPerson } from './sign-in.ts';
import { createSignInStore, signInPath, type SignInStore } from './sign-in-store.ts';

export interface ConnectDeps extends ServerCommandDeps {
  /** For addresses that a server names, besides its own. */
  readonly egress: Pick<Egress, 'fetch'>;
  readonly clock: Clock;
  readonly onWords: (line: string) => void;
  /** Somebody who can sign in; null if nobody is there. */
  readonly person: SignInPerson | null;
}

interface Attempt {
  readonly deps: ConnectDeps;
  readonly name: string;
  readonly settings: McpServerSettings;
  readonly sdk: Sdk;
  readonly signal: AbortSignal;
  readonly onToolsChanged: () => void;
}

/** Throws an `McpError`; nothing of the attempt is left then. */
export async function connectServer(
  deps: ConnectDeps,
  name: string,
  settings: McpServerSettings,
  options: { readonly signal: AbortSignal; readonly onToolsChanged: () => void },
): Promise<Connection> {
  const sdk = await import('@modelcontextprotocol/client');
  // A person who signs in has time.
  const limits = deps.person === null ? [AbortSignal.timeout(connectTimeoutMs)] : [];
  const signal = AbortSignal.any([options.signal, ...limits]);
  const attempt = { ...options, deps, name, settings, sdk, signal };
  try {
    return settings.url === null ? await connectProgram(attempt) : await connectAddress(attempt, new URL(settings.url));
  } catch (error) {
    throw connectFailure({ name, sdk, signal, person: deps.person }, error);
  }
}

async function connectProgram(attempt: Attempt): Promise<Connection> {
  const { deps, sdk, name, settings } = attempt;
  const start = async (mode: 'auto' | 'legacy') => {
    const command = await serverCommand(deps, name, settings);
    const program = new ServerProcess(
      { clock: deps.clock, decode: sdk.deserializeMessage, encode: sdk.serializeMessage, onWords: deps.onWords },
      command,
    );
    try {
      return await open(attempt, program, mode, { place: command.place, ending: () => program.ending });
    } catch (error) {
      await program.close();
      const said = program.lastWords;
      const how = program.ending === '' ? 'it does not answer' : program.ending;
      if (error instanceof McpError || attempt.signal.aborted) throw error;
      const words = `It could not be started: ${how}.${networkHint(name, settings, said)}`;
      throw new McpError('unreachable', words, { cause: error, said });
    }
  };
  try {
    return await start('auto');
  } catch (error) {
    // Some end when they are asked something before the greeting that they know.
    const mayBeOld = error instanceof McpError && error.cause !== undefined && error.reason === 'unreachable';
    if (!mayBeOld || attempt.signal.aborted) throw error;
    return start('legacy');
  }
}

/** A program that looked for a host in a sandbox without one does not say so in words that help. */
function networkHint(name: string, { sandbox, network }: McpServerSettings, said: string): string {
  const [, host] = noSuchHost.exec(said) ?? [];
  if (host === undefined || !sandbox || network.includes('*') || network.includes(host)) return '';
  return ` It looked for ${host}, which it may not reach: allow it with --network ${host}, or in mcp_servers.${name}.network.`;
}

/** As Node, curl, Python and others say it. */
const noSuchHost =
  /(?:getaddrinfo [A-Z_]+ |could not resolve host: |failed to lookup address information.*?for |host(?:name)?(?:=|: )')([a-z0-9-]+(?:\.[a-z0-9-]+)+)/i;

async function connectAddress(attempt: Attempt, url: URL): Promise<Connection> {
  const { deps, settings, sdk } = attempt;
  if (url.username !== '' || url.password !== '') {
    const words = 'Its address has a name or password in it. Give those in a header: Authorization: Basic …';
    throw new McpError('refused', words);
  }
  const requestInit = { headers: { ...settings.headers } };
  const fetch = boundedFetch({ server: url, headers: settings.headers, egress: deps.egress });
  const overHttp = (authProvider: ReturnType<typeof keptSignIn> | null) =>
    new sdk.StreamableHTTPClientTransport(url, {
      fetch,
      requestInit,
      ...(authProvider === null ? {} : { authProvider }),
    });
  if (settings.auth === 'oauth') {
    const store = createSignInStore(signInPath(deps.home, attempt.name), url.href);
    return signedIn(attempt, store, overHttp);
  }
  try {
    return await open(attempt, overHttp(null), 'auto');
  } catch (error) {
    // The way that servers spoke before 2025.
    if (!sdk.SdkHttpError.isInstance(error) || ![404, 405].includes(error.status)) throw error;
    const before = new sdk.SSEClientTransport(url, { fetch, requestInit });
    return open(attempt, before, 'legacy').catch(() => {
      throw error;
    });
  }
}

async function signedIn(
  attempt: Attempt,
  store: SignInStore,
  overHttp: (provider: ReturnType<typeof keptSignIn>) => InstanceType<Sdk['StreamableHTTPClientTransport']>,
): Promise<Connection> {
  const { sdk, deps, settings } = attempt;
  const isFree = settings.headers['Authorization'] !== undefined || settings.headers['authorization'] !== undefined;
  if (deps.person === null) {
    // Without a token the server would be asked in vain, and a client registered that nobody uses.
    if ((await store.read()).tokens === null && !isFree) throw signInNeeded(attempt.name);
    return open(attempt, overHttp(keptSignIn(store)), 'auto');
  }
  const desk = await openSignInDesk(store, deps.person);
  try {
    const first = overHttp(desk.provider);
    try {
      return await open(attempt, first, 'auto');
    } catch (error) {
      if (!sdk.UnauthorizedError.isInstance(error)) throw error;
      await first.finishAuth(await desk.answer());
      return await open(attempt, overHttp(desk.provider), 'auto');
    }
  } finally {
    desk.close();
  }
}

function open(
  { sdk, deps, settings, signal, onToolsChanged }: Attempt,
  transport: Transport,
  mode: 'auto' | 'legacy',
  where: Pick<OpenOptions, 'place' | 'ending'> = elsewhere(settings),
): Promise<Connection> {
  const folders = [deps.workspace, ...settings.folders.map((folder) => resolve(deps.home, folder))];
  return openConnection(transport, { sdk, mode, folders, signal, onToolsChanged, ...where });
}

function elsewhere({ url }: McpServerSettings): Pick<OpenOptions, 'place' | 'ending'> {
  const words = `at ${URL.parse(url ?? '')?.origin ?? 'another machine'}`;
  return { place: { words, hasWayOut: true }, ending: () => 'the connection ended' };
}
