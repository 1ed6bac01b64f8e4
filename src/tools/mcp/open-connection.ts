/**
 * A connection over a given way, by the official SDK. Ours is what a stranger must not decide: how long things may take, how
 * much is kept, which of its wishes are met. A server may ask where it can work; to ask the person it is declined, to use
 * the model it is refused.
 */
import { basename } from 'node:path';
import { pathToFileURL } from 'node:url';
import type * as mcp from '@modelcontextprotocol/client';
import type { Client, ClientOptions, JsonSchemaValidator, Transport } from '@modelcontextprotocol/client';
import { version } from '../../lib/version.ts';
import type { CallArguments } from './check-arguments.ts';
import type { SeenTool, ServerPlace } from './mcp-server.ts';
import { seenTools } from './seen-tool.ts';
import { visibleLine } from './visible-text.ts';

/** Long enough for `npx` to fetch a program first. */
export const connectTimeoutMs = 90_000;
/** A server that does not answer the question for its version by then is an old one. */
const probeTimeoutMs = 10_000;
const listTimeoutMs = 30_000;
const pagesMax = 32;
const leaveMaxMs = 1_000;
/** However much progress a call reports. */
const callTotalMaxMs = 24 * 3_600_000;
const nameCharsMax = 100;

export type Sdk = typeof mcp;
export type ServerResult = Awaited<ReturnType<Client['callTool']>>;

export interface CallOptions {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly onProgress: (words: string) => void;
}

export interface Connection {
  /** For people: the server's own name and the version of the protocol. */
  readonly description: string;
  readonly place: ServerPlace;
  /** Resolves when it ends by itself, with how. */
  readonly lost: Promise<string>;
  listTools(signal: AbortSignal): Promise<readonly SeenTool[]>;
  /** Throws the SDK's errors. */
  call(tool: string, input: CallArguments, options: CallOptions): Promise<ServerResult>;
  close(): Promise<void>;
}

export interface OpenOptions {
  readonly sdk: Sdk;
  /** `legacy`: without asking for the version first. */
  readonly mode: 'auto' | 'legacy';
  readonly place: ServerPlace;
  /** Where it is told that it can work. */
  readonly folders: readonly string[];
  readonly signal: AbortSignal;
  readonly onToolsChanged: () => void;
  /** How it ended, asked when it has. */
  readonly ending: () => string;
}

/** Greets, and gives up with the signal; the way is closed then. Throws the SDK's errors. */
export async function openConnection(transport: Transport, options: OpenOptions): Promise<Connection> {
  const { sdk, signal, folders, place, ending } = options;
  const client = new sdk.Client({ name: 'talaria', version }, clientOptions(options));
  answerWishes(client, folders);
  const lost = Promise.withResolvers<string>();
  Object.assign(client, {
    onclose: () => lost.resolve(ending()),
    // What it says out of turn is its own business; what matters is seen when it is used.
    onerror: () => {},
  });
  const aborted = Promise.withResolvers<never>();
  const onAbort = () => aborted.reject(signal.reason as Error);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    signal.throwIfAborted();
    await Promise.race([client.connect(transport, { signal, timeout: connectTimeoutMs }), aborted.promise]);
  } catch (error) {
    await Promise.allSettled([client.close(), transport.close()]);
    throw error;
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
  return connection(client, transport, lost.promise, place);
}

function connection(client: Client, transport: Transport, lost: Promise<string>, place: ServerPlace): Connection {
  const told = client.getServerVersion();
  const protocol = client.getNegotiatedProtocolVersion() ?? 'unknown';
  return {
    description: `${visibleLine(`${told?.name ?? 'unnamed'} ${told?.version ?? ''}`, nameCharsMax)}, protocol ${protocol}`,
    place,
    lost,
    async listTools(signal) {
      const { tools } = await client.listTools(undefined, { signal, timeout: listTimeoutMs, cacheMode: 'refresh' });
      return seenTools(tools);
    },
    call: (name, input, { timeoutMs, signal, onProgress }) =>
      client.callTool(
        { name, arguments: { ...input } },
        {
          signal,
          timeout: timeoutMs,
          resetTimeoutOnProgress: true,
          maxTotalTimeout: Math.max(callTotalMaxMs, timeoutMs),
          onprogress: ({ progress, total, message }) =>
            onProgress(message ?? `${progress}${total === undefined ? '' : ` of ${total}`}`),
        },
      ),
    async close() {
      await leave(transport);
      await client.close();
      await transport.close();
    },
  };
}

/** A server elsewhere need not keep what it knows of us. It has a moment to hear that. */
async function leave(transport: Transport): Promise<void> {
  if (!('terminateSession' in transport) || typeof transport.terminateSession !== 'function') return;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const over = new Promise<void>((resolve) => (timer = setTimeout(resolve, leaveMaxMs)));
  await Promise.race([(transport.terminateSession() as Promise<void>).catch(() => {}), over]);
  clearTimeout(timer);
}

function clientOptions({ onToolsChanged, mode }: OpenOptions): ClientOptions {
  return {
    capabilities: { roots: {}, elicitation: { form: {} } },
    versionNegotiation: { mode, probe: { timeoutMs: probeTimeoutMs } },
    listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: () => onToolsChanged() } },
    listMaxPages: pagesMax,
    // A pattern of a stranger's making could keep the process busy for ever: results are taken as they are.
    jsonSchemaValidator: { getValidator: takeAnything },
  };
}

function takeAnything<T>(): JsonSchemaValidator<T> {
  return (input) => ({ valid: true, data: input as T, errorMessage: undefined });
}

function answerWishes(client: Client, folders: readonly string[]): void {
  client.setRequestHandler('roots/list', () => ({
    roots: folders.map((folder) => ({ uri: pathToFileURL(folder).href, name: basename(folder) })),
  }));
  client.setRequestHandler('elicitation/create', () => ({ action: 'decline' as const }));
}
