/** Tools as they are listed for people. */
import type { ToolSummary } from '../protocol/api.ts';
import { toolsetNames } from '../protocol/toolsets.ts';
import type { Tool } from './tool.ts';
import { toolsIn } from './toolsets.ts';

/** Sorted by name. `servers` are the names of all MCP servers. */
export function toolSummaries(tools: readonly Tool[], servers: readonly string[] = []): ToolSummary[] {
  const sets = [...toolsetNames, ...servers.map((name) => `mcp-${name}`)].filter((name) => name !== 'core');
  return tools
    .map((tool) => ({
      name: tool.definition.name,
      toolsets: sets.filter((name) => toolsIn([tool], [name]).length > 0),
      effect: tool.effect,
      bytes: Buffer.byteLength(JSON.stringify(tool.definition)),
    }))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
}
