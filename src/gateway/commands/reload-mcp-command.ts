/** `/reload-mcp`: connects to the MCP servers anew. Conversations have what came and went from their next turn on. */
import { say, type Command } from './command.ts';
import type { McpReloadNote } from './services.ts';

/** Commands answer within a second. */
const waitMs = 800;
const namesMax = 20;
const problemCharsMax = 300;

export const reloadMcpCommand: Command = {
  name: 'reload-mcp',
  usage: '',
  summary: 'connect to the MCP servers again',
  role: 'owner',
  repetition: 'idempotent',
  async run(_call, { reloadMcp }) {
    const note = (await reloadMcp?.(waitMs)) ?? { added: [], removed: [], states: [] };
    if (note.states.length === 0) return say('There are no MCP servers. Add one with: talaria mcp add');
    return say([...note.states.map(stateLine), ...changeLines(note)].join('\n'));
  },
};

function stateLine({ name, state, tools, problem }: McpReloadNote['states'][number]): string {
  const count = `${tools} ${tools === 1 ? 'tool' : 'tools'}`;
  return `- ${name}: ${state}, ${count}${problem === null ? '' : `. ${problem.slice(0, problemCharsMax).toWellFormed()}`}`;
}

function changeLines({ added, removed, states }: McpReloadNote): string[] {
  const isUnderWay = states.some(({ state }) => state === 'connecting');
  if (added.length === 0 && removed.length === 0)
    return [isUnderWay ? 'The rest is under way.' : 'The tools are the same.'];
  return [
    ...(added.length === 0 ? [] : [`New: ${listed(added)}`]),
    ...(removed.length === 0 ? [] : [`Gone: ${listed(removed)}`]),
    ...(isUnderWay ? ['The rest is under way.'] : []),
  ];
}

function listed(names: readonly string[]): string {
  const more = names.length - namesMax;
  return names.slice(0, namesMax).join(', ') + (more > 0 ? ` and ${more} more` : '');
}
