/**
 * Which tools are in which toolset. A tool that this table does not know is in `core` alone, so that a new one is never
 * in a narrow set by accident. A tool of an MCP server is in `mcp` and in its server's. Pure.
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
};

/** The tools of these toolsets, in their order. */
export function toolsIn(tools: readonly Tool[], toolsets: readonly string[]): readonly Tool[] {
  const wanted = new Set(toolsets);
  if (wanted.has('core')) return tools;
  return tools.filter((tool) => setsWith(tool).some((set) => wanted.has(set)));
}

function setsWith({ server, definition: { name } }: Tool): readonly string[] {
  if (server !== undefined) return ['mcp', `mcp-${server}`];
  return Object.hasOwn(setsOf, name) ? (setsOf[name] ?? []) : [];
}
