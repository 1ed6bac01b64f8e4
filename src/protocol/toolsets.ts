/** The names of sets of tools: what a configuration can ask for. Which tools are in them is known to `tools/toolsets.ts`. */

/** `mcp-NAME` besides these: the tools of one MCP server. */
export const toolsetNames = [
  'core',
  'safe',
  'files',
  'terminal',
  'web',
  'browser',
  'memory',
  'skills',
  'people',
  'mcp',
] as const;
export type ToolsetName = (typeof toolsetNames)[number];

export const toolsetWords: Readonly<Record<ToolsetName, string>> = {
  core: 'everything below, and the tools of all MCP servers',
  safe: 'only looks at files: for what strangers can set off',
  files: 'reading, writing, changing and searching files',
  terminal: 'commands and background processes',
  web: 'searching the web and reading pages',
  browser: 'a real browser',
  memory: 'remembering between sessions',
  skills: 'instructions for certain tasks, and writing them',
  people: 'questions, lists and files for the person',
  mcp: 'the tools of all MCP servers',
};

const serverPattern = /^mcp-[A-Za-z0-9_-]{1,64}$/;

export function isToolset(name: string): boolean {
  return toolsetNames.some((known) => known === name) || serverPattern.test(name);
}
