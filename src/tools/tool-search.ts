/**
 * Tools that are too many to be described in every prompt: they are found with `tool_search` and used through `tool_use`.
 * Both stand in the prompt instead, so that finding a tool changes nothing of its frozen start.
 */
import * as z from 'zod/mini';
import type { ToolDefinition } from '../protocol/messages.ts';
import { defineTool } from './define-tool.ts';
import { boundText } from './output-bound.ts';
import type { ParsedArguments, SideBySide, Tool, ToolOutcome } from './tool.ts';

const foundMax = 8;
const namesShownMax = 40;

const searchSchema = z.strictObject({ query: z.string().check(z.describe('What you want to do, in a few words.')) });
const useSchema = z.strictObject({ name: z.string(), arguments: z.record(z.string(), z.unknown()) });

/** The two tools that stand for all of these. */
export function createToolSearch(hidden: readonly Tool[]): readonly Tool[] {
  const byName = new Map(hidden.map((tool) => [tool.definition.name, tool]));
  const search = defineTool({
    name: 'tool_search',
    description: `Finds more tools (${hidden.length} of them: ${groupsOf(hidden)}). Use what you find with tool_use.`,
    effect: 'read',
    replay: 'safe',
    schema: searchSchema,
    run: async ({ query }) => ({ kind: 'finished', text: answerTo(query, hidden) }),
  });
  return [search, createToolUse(byName)];
}

interface Use {
  readonly tool: Tool;
  readonly input: unknown;
}

function createToolUse(byName: ReadonlyMap<string, Tool>): Tool {
  const { definition } = defineTool({
    name: 'tool_use',
    description: 'Uses a tool that tool_search found.',
    effect: 'write',
    replay: 'never',
    schema: useSchema,
    run: () => Promise.reject(new Error('not run itself')),
  });
  return {
    definition,
    // Those of all hidden tools together: what is not known of each is taken for the worst.
    effect: 'write',
    replay: 'never',
    parse(input): ParsedArguments<Use> {
      const read = useSchema.safeParse(input);
      if (!read.success)
        return { ok: false, problem: 'it takes the `name` of a tool and its `arguments` as an object.' };
      const tool = byName.get(read.data.name);
      if (tool === undefined) {
        return { ok: false, problem: `tool_search knows no tool named ${JSON.stringify(read.data.name)}.` };
      }
      const inner = tool.parse(read.data.arguments);
      return inner.ok ? { ok: true, value: { tool, input: inner.value } } : inner;
    },
    run(use, context): Promise<ToolOutcome> {
      const { tool, input } = use as Use;
      return tool.run(input, context);
    },
    async answered(use, answer, context, asked): Promise<ToolOutcome> {
      const { tool, input } = use as Use;
      const noAnswer: ToolOutcome = { kind: 'failed', text: 'The tool that asked can not take an answer any more.' };
      return (await tool.answered?.(input, answer, context, asked)) ?? noAnswer;
    },
    sideBySide(use): SideBySide {
      const { tool, input } = use as Use;
      return tool.sideBySide?.(input) ?? (tool.effect === 'read' ? 'any' : 'alone');
    },
  };
}

/** By servers: what the model may look for at all. */
function groupsOf(hidden: readonly Tool[]): string {
  const groups = new Set(hidden.map(({ server, definition }) => server ?? definition.name));
  return boundText([...groups].sort().join(', '), 300);
}

function answerTo(query: string, hidden: readonly Tool[]): string {
  const definitions = hidden.map(({ definition }) => definition);
  const found = ranked(query, definitions).slice(0, foundMax);
  if (found.length === 0) {
    const names = definitions.slice(0, namesShownMax).map(({ name }) => name);
    return `Nothing fits. There are: ${names.join(', ')}${definitions.length > names.length ? ', …' : ''}`;
  }
  return boundText(found.map((definition) => JSON.stringify(definition)).join('\n'));
}

/** By how many of the words stand in the name (twice as good) or the description; those with none are left out. */
function ranked(query: string, definitions: readonly ToolDefinition[]): readonly ToolDefinition[] {
  const words = [...new Set(query.toLowerCase().match(/[\p{L}\p{N}]{2,}/gu))];
  const scored = definitions.map((definition) => {
    const name = definition.name.toLowerCase();
    const text = definition.description.toLowerCase();
    const score = words.reduce((sum, word) => sum + (name.includes(word) ? 2 : 0) + (text.includes(word) ? 1 : 0), 0);
    return { definition, score };
  });
  return scored
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || (a.definition.name < b.definition.name ? -1 : 1))
    .map(({ definition }) => definition);
}
