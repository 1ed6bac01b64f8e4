/**
 * The line to one server over time: connected in the background or when a call needs it, connected again after a loss with
 * growing waits and not for ever, closed for good at the end. Nothing waits for a server longer than it says.
 */
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { RandomSource } from '../../lib/random.ts';
import { retryDelayMs } from '../../lib/retry.ts';
import type { ConnectDeps } from './connect-server.ts';
import type { Connection } from './open-connection.ts';
import { McpError, notListed, type McpServerSettings, type McpState, type SeenTool } from './mcp-server.ts';
import { visibleLine } from './visible-text.ts';

/** In a row; after that only a call or a person brings it back. */
const retriesMax = 10;
const retryPolicy = { attemptsMax: retriesMax, firstDelayMs: 1_000, delayMaxMs: 300_000 };
/** A server that ran for so long has not failed because of how it starts. */
const steadyMs = 60_000;
const saidCharsMax = 600;
const refreshAfterMs = 500;
const logLinesPerMinuteMax = 60;

export interface ServerLinkDeps {
  /** As it is at this moment. */
  readonly connect: () => Omit<ConnectDeps, 'clock' | 'onWords' | 'person'>;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly log: Log;
  /** The server lists these now. */
  readonly onSeen: (tools: readonly SeenTool[]) => Promise<void>;
}

export class ServerLink {
  readonly name: string;
  readonly settings: McpServerSettings;
  readonly #deps: ServerLinkDeps;
  readonly #closing = new AbortController();
  #connection: Connection | null = null;
  #attempt: Promise<Connection> | null = null;
  #cancelRetry: () => void = () => {};
  #cancelRefresh: (() => void) | null = null;
  #failures = 0;
  #seen = new Map<string, SeenTool>();
  state: Exclude<McpState, 'off'> = 'waiting';
  problem: string | null = null;

  constructor(deps: ServerLinkDeps, name: string, settings: McpServerSettings) {
    this.#deps = deps;
    this.name = name;
    this.settings = settings;
  }

  /** As the server describes it now; undefined if it does not. */
  seen(tool: string): SeenTool | undefined {
    return this.#seen.get(tool);
  }

  /** One attempt at a time, shared by all who ask. Rejects with an `McpError`. */
  connect(): Promise<Connection> {
    if (this.#connection !== null) return Promise.resolve(this.#connection);
    this.#attempt ??= this.#open().finally(() => (this.#attempt = null));
    return this.#attempt;
  }

  /** The same for a call, which waits only so long. */
  async ready(timeoutMs: number, signal: AbortSignal): Promise<Connection> {
    const given = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    const gaveUp = Promise.withResolvers<never>();
    const onAbort = () => gaveUp.reject(new McpError('timeout', 'It is still being started.'));
    if (given.aborted) onAbort();
    given.addEventListener('abort', onAbort, { once: true });
    try {
      return await Promise.race([this.connect(), gaveUp.promise]);
    } finally {
      given.removeEventListener('abort', onAbort);
    }
  }

  /** What was wrong with the connection: it is of no use any more. */
  async drop(connection: Connection, why: string): Promise<void> {
    this.#lost(connection, why);
    await connection.close();
  }

  async close(): Promise<void> {
    this.#closing.abort(new McpError('closed', 'It was closed.'));
    this.#cancelRetry();
    this.#cancelRefresh?.();
    const connection = this.#connection;
    this.#connection = null;
    await this.#attempt?.catch(() => {});
    await connection?.close();
  }

  async #open(): Promise<Connection> {
    this.#cancelRetry();
    this.state = 'connecting';
    const { signal } = this.#closing;
    let opened: Connection | null = null;
    try {
      signal.throwIfAborted();
      // With the protocol and all that belongs to it: loaded with the first server.
      const { connectServer } = await import('./connect-server.ts');
      opened = await connectServer(this.#connectDeps(), this.name, this.settings, {
        signal,
        onToolsChanged: () => this.#refreshSoon(),
      });
      await this.#look(opened);
      signal.throwIfAborted();
    } catch (error) {
      await opened?.close();
      const failure = notListed(error);
      this.#fail(failure);
      throw failure;
    }
    const connection = opened;
    const since = this.#deps.clock.now();
    this.#connection = connection;
    this.state = 'ready';
    this.problem = null;
    this.#deps.log.info('MCP server ready', { server: this.name, description: connection.description });
    void connection.lost.then((how) => {
      if (this.#deps.clock.now() - since > steadyMs) this.#failures = 0;
      this.#lost(connection, how === '' ? 'it ended' : how);
    });
    return connection;
  }

  async #look(connection: Connection): Promise<void> {
    const tools = await connection.listTools(this.#closing.signal);
    this.#seen = new Map(tools.map((tool) => [tool.name, tool]));
    await this.#deps.onSeen(tools);
  }

  /** However often a server says that its list has changed, it is looked at now and then. */
  #refreshSoon(): void {
    this.#cancelRefresh ??= this.#deps.clock.setTimer(refreshAfterMs, () => {
      this.#cancelRefresh = null;
      void this.#refresh();
    });
  }

  async #refresh(): Promise<void> {
    const connection = this.#connection;
    if (connection === null) return;
    try {
      await this.#look(connection);
    } catch (error) {
      this.#deps.log.warn('MCP server did not list its tools again', { server: this.name, error });
    }
  }

  #lost(connection: Connection, why: string): void {
    if (this.#connection !== connection) return;
    this.#connection = null;
    this.#fail(new McpError('unreachable', `The connection was lost: ${why}.`));
  }

  #fail(error: unknown): void {
    if (this.#closing.signal.aborted) return;
    const isSignIn = error instanceof McpError && error.reason === 'sign-in-needed';
    this.state = isSignIn ? 'sign-in-needed' : 'failed';
    this.problem = this.#words(error);
    this.#failures += 1;
    const isOver = isSignIn || this.#failures > retriesMax;
    this.#deps.log.warn('MCP server not connected', { server: this.name, problem: this.problem, isOver });
    if (isOver) return;
    const delayMs = retryDelayMs(retryPolicy, this.#failures, this.#deps.random);
    this.#cancelRetry = this.#deps.clock.setTimer(delayMs, () => void this.connect().catch(() => {}));
  }

  /** For people: ours, then the server's own, without what the operator keeps secret. */
  #words(error: unknown): string {
    const message = error instanceof Error ? error.message : String(error);
    const said = error instanceof McpError ? error.said : '';
    const secrets = [...Object.values(this.settings.env), ...Object.values(this.settings.headers)];
    const clean = secrets.reduce(
      (text, secret) => (secret.length < 6 ? text : text.replaceAll(secret, '[redacted]')),
      said,
    );
    return clean === '' ? message : `${message} It said: ${visibleLine(clean, saidCharsMax)}`;
  }

  #connectDeps(): ConnectDeps {
    const { connect, clock, log } = this.#deps;
    let minute = 0;
    let lines = 0;
    return {
      ...connect(),
      clock,
      person: null,
      onWords: (line) => {
        const now = Math.floor(clock.now() / 60_000);
        lines = now === minute ? lines + 1 : 0;
        minute = now;
        if (lines < logLinesPerMinuteMax) log.info('MCP server says', { server: this.name, line });
        else if (lines === logLinesPerMinuteMax) log.info('MCP server says more than is kept', { server: this.name });
      },
    };
  }
}
