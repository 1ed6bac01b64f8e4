/** The links to all servers that are on. They follow the configuration; those of servers that did not change stay. */
import type { Log } from '../../lib/log.ts';
import type { McpServerSettings } from './mcp-server.ts';
import type { ServerLink } from './server-link.ts';

export type ConfiguredServers = Readonly<Record<string, McpServerSettings>>;

export class ServerSet {
  readonly #create: (name: string, settings: McpServerSettings) => ServerLink;
  readonly #log: Log;
  readonly #links = new Map<string, ServerLink>();
  readonly #ending = new Set<Promise<void>>();
  #isStarted = false;
  #isClosed = false;

  constructor(create: (name: string, settings: McpServerSettings) => ServerLink, log: Log) {
    this.#create = create;
    this.#log = log;
  }

  get(name: string): ServerLink | null {
    return this.#links.get(name) ?? null;
  }

  /** Ends what is gone or was changed, and begins what is new. */
  follow(servers: ConfiguredServers): void {
    if (this.#isClosed) return;
    for (const [name, link] of this.#links) {
      const settings = Object.hasOwn(servers, name) ? servers[name] : undefined;
      if (settings?.enabled === true && JSON.stringify(settings) === JSON.stringify(link.settings)) continue;
      this.#links.delete(name);
      void this.#end(link);
    }
    for (const [name, settings] of Object.entries(servers)) {
      if (!settings.enabled || this.#links.has(name)) continue;
      const link = this.#create(name, settings);
      this.#links.set(name, link);
      if (this.#isStarted) void link.connect().catch(() => {});
    }
  }

  /** From now on servers are connected without being asked for. */
  start(): void {
    this.#isStarted = true;
    for (const link of this.#links.values()) void link.connect().catch(() => {});
  }

  /** Every server anew. Resolves once each is ready or has failed. */
  async renew(servers: ConfiguredServers): Promise<void> {
    const ended = [...this.#links.values()].map((link) => this.#end(link));
    this.#links.clear();
    this.follow(servers);
    await Promise.all([...ended, ...[...this.#links.values()].map((link) => link.connect().catch(() => {}))]);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const link of this.#links.values()) void this.#end(link);
    this.#links.clear();
    await Promise.all(this.#ending);
  }

  #end(link: ServerLink): Promise<void> {
    const ended: Promise<void> = link
      .close()
      .catch((error: unknown) => this.#log.warn('MCP server not ended', { server: link.name, error }))
      .finally(() => this.#ending.delete(ended));
    this.#ending.add(ended);
    return ended;
  }
}
