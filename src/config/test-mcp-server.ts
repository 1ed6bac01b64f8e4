import type { McpServerConfig } from './schema.ts';

/** An MCP server of which nothing is said, for tests. */
export const plainServer: McpServerConfig = {
  command: null,
  args: [],
  env: {},
  url: null,
  headers: {},
  enabled: true,
  include: null,
  exclude: [],
  timeout_s: 60,
  auth: 'none',
  sandbox: true,
  folders: [],
  network: [],
};
