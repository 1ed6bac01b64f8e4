/**
 * Which tools are in which toolset. A tool that this table does not know is in `core` alone, so that a new one is never
 * in a narrow set by accident. Tools of MCP servers are known by their names: `mcp_SERVER_TOOL`. Pure.
 */
import type { ToolsetName } from '../protocol/toolsets.ts';
import type { Tool } from './tool.ts';

/** The sets besides `core`, which has everything. */
const setsOf: Readonly<Record<string, readonly ToolsetName[]>> = {
  read_file: ['files', 'safe'],
  search_files: ['files', 'safe'],
  write_file: ['files'],
  patch: ['files'],
  terminal: ['terminal'],
  process: ['terminal'],
  web_search: ['web'],
  web_extract: ['web'],
  browser: ['browser'],
  memory: ['memory'],
  session_search: ['memory'],
  skills_list: ['skills'],
  skill_view: ['skills'],
  skill_manage: ['skills'],
  todo: ['people', 'safe'],
  clarify: ['people'],
  send_file: ['people'],
  // It finds only what its session has anyway, so it goes with whatever there may be much of.
  tool_search: ['files', 'terminal', 'web', 'browser', 'memory', 'people', 'mcp'],
};

const serverToolPrefix = 'mcp_';
const serverSetPrefix = 'mcp-';

/**
 * The tools of these toolsets, in their order. `servers` are the names of all MCP servers: of two that begin alike, a
 * tool belongs to the longer one.
 */
export function toolsIn(
  tools: readonly Tool[],
  toolsets: readonly string[],
  servers: readonly string[] = [],
): readonly Tool[] {
  const wanted = new Set(toolsets);
  if (wanted.has('core')) return tools;
  const hasServerSet = toolsets.some((name) => name === 'mcp' || name.startsWith(serverSetPrefix));
  return tools.filter(({ definition: { name } }) => {
    if (name === 'tool_search' && hasServerSet) return true;
    const sets = name.startsWith(serverToolPrefix) ? serverSets(name, servers) : ownSets(name);
    return sets.some((set) => wanted.has(set));
  });
}

function ownSets(name: string): readonly string[] {
  return Object.hasOwn(setsOf, name) ? (setsOf[name] ?? []) : [];
}

function serverSets(name: string, servers: readonly string[]): readonly string[] {
  const [server] = servers
    .filter((candidate) => name.startsWith(`${serverToolPrefix}${candidate}_`))
    .sort((one, other) => other.length - one.length);
  return server === undefined ? ['mcp'] : ['mcp', `${serverSetPrefix}${server}`];
}
