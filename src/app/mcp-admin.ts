/**
 * The MCP servers of a home as `talaria mcp` looks after them: trying one for real, and forgetting what is kept of one.
 * Needs no gateway; a running one takes up what is written.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../config/schema.ts';
import { systemClock } from '../lib/clock.ts';
import { silentLog } from '../lib/log.ts';
import { McpError } from '../tools/mcp/mcp-server.ts';
import { serverHome } from '../tools/mcp/server-command.ts';
import { forgetSignIn } from '../tools/mcp/sign-in-store.ts';
import { pinsPath, ToolPins } from '../tools/mcp/tool-pins.ts';
import { tryServer, type TriedServer } from '../tools/mcp/try-server.ts';
import { visibleLine } from '../tools/mcp/visible-text.ts';
import { SandboxError, type Sandbox } from '../tools/sandbox.ts';
import { AppError } from './app-error.ts';
import { mcpPlace } from './build-mcp.ts';
import { createNetworkWays } from './network-ways.ts';

export type { TriedServer, TriedTool } from '../tools/mcp/try-server.ts';

const saidCharsMax = 600;

export interface McpAdminOptions {
  readonly home: string;
  readonly config: Config;
  readonly env: NodeJS.ProcessEnv;
}

/** Who looks on, and can open an address to sign in. */
export interface McpPerson {
  showAddress(address: string): void;
  readonly signal: AbortSignal;
}

export interface McpAdmin {
  /** How many of its tools are known. */
  knownTools(server: string): number;
  /** Throws an `AppError` that says what is wrong. */
  try(server: string, person: McpPerson): Promise<TriedServer>;
  /** All that is kept of it: approvals, a sign-in, its own home. */
  forget(server: string): Promise<void>;
}

export function openMcpAdmin(options: McpAdminOptions): McpAdmin {
  const { home, config } = options;
  const pins = () => new ToolPins(pinsPath(home));
  return {
    knownTools: (server) =>
      pins()
        .of(server)
        ?.tools.filter(({ isOffered }) => isOffered).length ?? 0,
    async try(server, person) {
      if (!Object.hasOwn(config.mcp_servers, server)) {
        throw new AppError(`There is no MCP server named ${server}; see talaria mcp list.`);
      }
      return tryOnce(options, server, person);
    },
    async forget(server) {
      await pins().forget(server);
      await forgetSignIn(home, server);
      await rm(serverHome(home, server), { recursive: true, force: true });
    },
  };
}

async function tryOnce(options: McpAdminOptions, name: string, person: McpPerson): Promise<TriedServer> {
  const { home, config } = options;
  const { createEgress } = await import('../tools/egress/create-egress.ts');
  const place = mcpPlace({ ...options, config: () => config });
  // Not the ways of a gateway that may be running.
  const folder = join(home, 'run', `net-${process.pid}`);
  const egress = createEgress({ privateHosts: () => config.web.private_hosts });
  const ways = createNetworkWays({ folder, egress, clock: systemClock, log: silentLog });
  const settings = config.mcp_servers[name];
  try {
    if (settings === undefined) throw new AppError(`There is no MCP server named ${name}.`);
    const deps = {
      home,
      workspace: place.workspace(),
      baseEnv: place.baseEnv(),
      sandbox: () => chosenSandbox(options),
      proxySocket: ways.open,
      egress,
      clock: systemClock,
      onWords: () => {},
      person: { show: (address: URL) => person.showAddress(address.href), signal: person.signal },
    };
    return await tryServer(deps, name, settings, person.signal);
  } catch (error) {
    if (!(error instanceof McpError)) throw error;
    const said = error.said === '' ? '' : ` It said: ${visibleLine(error.said, saidCharsMax)}`;
    throw new AppError(`${error.message}${said}`, { cause: error });
  } finally {
    await ways.close();
    await rm(folder, { recursive: true, force: true });
  }
}

async function chosenSandbox({ home, config }: McpAdminOptions): Promise<Sandbox> {
  const { backend, docker_image: dockerImage, ssh_target: sshTarget } = config.terminal;
  const { chooseSandbox } = await import('../tools/sandbox/choose-sandbox.ts');
  const choice = await chooseSandbox(
    { stateFolder: join(home, 'run', 'sandbox'), nodePath: process.execPath },
    { backend, dockerImage, sshTarget },
  );
  if (choice.kind === 'refused') throw new SandboxError(choice.message);
  return choice.sandbox;
}
