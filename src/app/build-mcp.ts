/** The MCP servers of a configuration, with what they are started with. */
import { resolve } from 'node:path';
import type { Config } from '../config/schema.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { RandomSource } from '../lib/random.ts';
import type { Gate } from '../tools/approval.ts';
import type { Egress } from '../tools/egress.ts';
import { createMcpServers, type McpDeps, type McpServers } from '../tools/mcp/mcp-servers.ts';
import type { Sandbox } from '../tools/sandbox.ts';
import { commandEnvironment } from '../tools/terminal/command-environment.ts';

export interface BuildMcpOptions {
  readonly home: string;
  readonly config: () => Config;
  readonly env: NodeJS.ProcessEnv;
  readonly gate: Gate;
  /** The one that proved itself. Throws a `SandboxError` with what to do if there is none. */
  readonly sandbox: () => Promise<Sandbox>;
  /** The socket of a proxy that lets these hosts through. Throws a `SandboxError`. */
  readonly proxySocket: (hosts: readonly string[]) => Promise<string>;
  readonly egress: Pick<Egress, 'fetch'>;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly log: Log;
}

/** Nothing is started or loaded before it is used. */
export function buildMcp(options: BuildMcpOptions): McpServers {
  const { config, gate, clock, random, log, sandbox, proxySocket, egress } = options;
  const servers = () => config().mcp_servers;
  return createMcpServers({ ...mcpPlace(options), servers, sandbox, proxySocket, egress, gate, clock, random, log });
}

/** Where servers work and what they see of the environment. */
export function mcpPlace({
  home,
  config,
  env,
}: Pick<BuildMcpOptions, 'home' | 'config' | 'env'>): Pick<McpDeps, 'home' | 'workspace' | 'baseEnv'> {
  return {
    home,
    workspace: () => resolve(home, config().terminal.cwd),
    baseEnv: () => commandEnvironment(env),
  };
}
