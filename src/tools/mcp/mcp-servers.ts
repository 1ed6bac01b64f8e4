/**
 * All MCP servers of the configuration, and their tools. What tools there are depends on the configuration and on what was
 * approved, never on who is connected at this moment: a server that is down, slow or being started changes no prompt. The
 * generation goes up exactly when the set of tools has changed, and with every reload.
 */
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { RandomSource } from '../../lib/random.ts';
import type { Gate } from '../approval.ts';
import type { Egress } from '../egress.ts';
import type { Tool } from '../tool.ts';
import type { McpServerSettings, McpServerState } from './mcp-server.ts';
import { createMcpTool } from './mcp-tool.ts';
import type { ServerCommandDeps } from './server-command.ts';
import { ServerLink } from './server-link.ts';
import { ServerSet, type ConfiguredServers } from './server-set.ts';
import { nameTools } from './tool-names.ts';
import { identityOf, pinsPath, ToolPins, type PinnedTool } from './tool-pins.ts';

export interface McpDeps {
  /** Talaria's. Absolute. */
  readonly home: string;
  /** The servers of the configuration in force; the same object as long as nothing changes. */
  readonly servers: () => ConfiguredServers;
  /** Where servers work, absolute. */
  readonly workspace: () => string;
  /** What commands see of the environment. */
  readonly baseEnv: () => Readonly<Record<string, string>>;
  readonly sandbox: ServerCommandDeps['sandbox'];
  readonly proxySocket: ServerCommandDeps['proxySocket'];
  /** For addresses that a server names, besides its own. */
  readonly egress: Pick<Egress, 'fetch'>;
  readonly gate: Gate;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly log: Log;
}

export interface McpReload {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly states: readonly McpServerState[];
}

export interface McpServers {
  /** Those of all servers that are on. The same array until something changes. */
  tools(): readonly Tool[];
  /** Sampled live. Also takes in a changed configuration. */
  generation(): number;
  /** By name. */
  states(): readonly McpServerState[];
  /** Begins to connect, in the background. Without it a server is connected with its first call. */
  start(): void;
  /** Connects all of them anew and says what changed; at most for `waitMs`, the rest goes on. */
  reload(waitMs: number): Promise<McpReload>;
  /** Ends every server. */
  close(): Promise<void>;
}

export function createMcpServers(deps: McpDeps): McpServers {
  let pins: ToolPins | null = null;
  /** Read when there is a server, and not before. */
  const knownPins = () => (pins ??= new ToolPins(pinsPath(deps.home)));
  const set = new ServerSet((name, settings) => createLink(deps, knownPins, name, settings), deps.log);
  const shelf = { generation: 1, tools: [] as readonly Tool[], printed: '[]' };
  let known: { readonly servers: ConfiguredServers; readonly version: number } | null = null;

  const update = () => {
    const servers = deps.servers();
    if (known === null && Object.keys(servers).length === 0) return;
    knownPins().reread();
    const { version } = knownPins();
    if (known?.servers === servers && known.version === version) return;
    if (known?.servers !== servers) set.follow(servers);
    known = { servers, version };
    const tools = toolsOf(deps, knownPins(), set, servers);
    const printed = JSON.stringify(tools.map(({ definition, effect, replay }) => [definition, effect, replay]));
    if (printed !== shelf.printed) Object.assign(shelf, { tools, printed, generation: shelf.generation + 1 });
  };
  const names = () => shelf.tools.map(({ definition }) => definition.name);
  const states = () => {
    update();
    return statesOf(deps.servers(), set, knownPins);
  };

  return {
    tools() {
      update();
      return shelf.tools;
    },
    generation() {
      update();
      return shelf.generation;
    },
    states,
    start() {
      update();
      set.start();
    },
    async reload(waitMs) {
      update();
      const before = names();
      const late = Promise.withResolvers<void>();
      const cancel = deps.clock.setTimer(waitMs, late.resolve);
      await Promise.race([set.renew(deps.servers()), late.promise]);
      cancel();
      update();
      shelf.generation += 1;
      const after = names();
      return {
        added: after.filter((name) => !before.includes(name)),
        removed: before.filter((name) => !after.includes(name)),
        states: states(),
      };
    },
    close: () => set.close(),
  };
}

function createLink(deps: McpDeps, pins: () => ToolPins, name: string, settings: McpServerSettings): ServerLink {
  const { home, sandbox, proxySocket, egress, clock, random, log } = deps;
  return new ServerLink(
    {
      connect: () => ({ home, sandbox, proxySocket, egress, workspace: deps.workspace(), baseEnv: deps.baseEnv() }),
      clock,
      random,
      log,
      async onSeen(seen) {
        try {
          await pins().see(name, identityOf(settings), seen);
        } catch (error) {
          log.error('what MCP servers offer could not be kept', { error });
        }
      },
    },
    name,
    settings,
  );
}

function toolsOf(deps: McpDeps, pins: ToolPins, set: ServerSet, servers: ConfiguredServers): readonly Tool[] {
  const { gate, log } = deps;
  const offered = offeredBy(servers, pins);
  const names = nameTools(offered.map(({ server, tool }) => ({ server, tool: tool.name })));
  const toolDeps = { gate, pins, log, link: (name: string) => set.get(name) };
  return offered.map(({ server, tool }, index) => createMcpTool(toolDeps, names[index] ?? '', server, tool));
}

function statesOf(servers: ConfiguredServers, set: ServerSet, pins: () => ToolPins): McpServerState[] {
  return Object.keys(servers)
    .sort()
    .flatMap((name) => {
      const settings = servers[name];
      if (settings === undefined) return [];
      const link = set.get(name);
      const { length } = offeredBy({ [name]: settings }, pins());
      return { name, state: link?.state ?? 'off', tools: length, problem: link?.problem ?? null };
    });
}

interface Offered {
  readonly server: string;
  readonly tool: PinnedTool;
}

/** What models are told of, by server and name. */
function offeredBy(servers: ConfiguredServers, pins: ToolPins): Offered[] {
  return Object.keys(servers)
    .sort()
    .flatMap((server) => {
      const settings = servers[server];
      if (settings === undefined || !settings.enabled) return [];
      const { include, exclude } = settings;
      const all = pins.of(server)?.tools ?? [];
      return all
        .filter(({ name, isOffered }) => isOffered && (include?.includes(name) ?? true) && !exclude.includes(name))
        .map((tool) => ({ server, tool }));
    });
}
