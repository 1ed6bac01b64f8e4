/**
 * Names of servers' tools as models see them: `mcp_SERVER_TOOL`, in the characters and the length that every provider
 * takes. The same set of tools has the same names whatever order it comes in and whoever is connected. Pure.
 */
import { hash } from 'node:crypto';

const nameCharsMax = 64;
const serverCharsMax = 32;
const markChars = 8;

export interface ServerTool {
  readonly server: string;
  readonly tool: string;
}

/** In the order of what was given. */
export function nameTools(tools: readonly ServerTool[]): readonly string[] {
  const taken = new Map<string, string>();
  const names = new Set<string>();
  const sorted = tools.toSorted((one, other) => compare(one.server, other.server) || compare(one.tool, other.tool));
  for (const tool of sorted) {
    let name = plainName(tool);
    // `a` with `b_c` and `a_b` with `c` would be one: the first by name keeps it. A server that foresees the mark of another
    // name and takes it gets the next one.
    for (let round = 0; names.has(name); round += 1) name = marked(name, tool, round);
    names.add(name);
    taken.set(keyOf(tool), name);
  }
  return tools.map((tool) => taken.get(keyOf(tool)) ?? plainName(tool));
}

function plainName(tool: ServerTool): string {
  const server = `mcp_${clean(tool.server)}_`;
  const name = `${server}${clean(tool.tool)}`;
  const isWhole = tool.server.length <= serverCharsMax && clean(tool.tool) === tool.tool && tool.tool !== '';
  return isWhole && name.length <= nameCharsMax ? name : marked(name, tool);
}

/** With a mark that belongs to this tool alone, where its own name can't be kept. */
function marked(name: string, tool: ServerTool, round = 0): string {
  const server = `mcp_${clean(tool.server).slice(0, serverCharsMax)}_`;
  const rest = name.startsWith(server) ? name.slice(server.length) : clean(tool.tool);
  const mark = `_${hash('sha256', `${keyOf(tool)}${round === 0 ? '' : round}`).slice(0, markChars)}`;
  return `${server}${rest}`.slice(0, nameCharsMax - mark.length) + mark;
}

function clean(text: string): string {
  return text.replace(/[^A-Za-z0-9_-]/g, '_');
}

function keyOf({ server, tool }: ServerTool): string {
  return JSON.stringify([server, tool]);
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}
