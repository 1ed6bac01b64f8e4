/**
 * The tools an agent has. Fixed once built: a changed set is a new registry with a higher generation. The definitions
 * stand in one order whatever order the tools came in, because their order is part of every prompt's frozen start. Tools of
 * other programs are described in the prompt only as long as all of them fit into it; else they are found by a search.
 */
import { assert } from '../lib/assert.ts';
import type { ToolDefinition } from '../protocol/messages.ts';
import { createToolSearch } from './tool-search.ts';
import type { Tool } from './tool.ts';

/** What every provider accepts as a tool's name. */
const namePattern = /^[a-zA-Z][a-zA-Z0-9_-]{0,63}$/;

export interface ToolRegistry {
  get(name: string): Tool | undefined;
  /** Sorted by name; the same array every time. */
  definitions(): readonly ToolDefinition[];
  /** Another number for another set of tools. */
  readonly generation: number;
}

export interface RegistryOptions {
  readonly generation?: number;
  /** Tools of other programs, and how many bytes the descriptions of all tools together may have with them. */
  readonly others?: { readonly tools: readonly Tool[]; readonly bytesMax: number };
}

export function createToolRegistry(
  own: readonly Tool[],
  { generation = 1, others }: RegistryOptions = {},
): ToolRegistry {
  const everything = [...own, ...(others?.tools ?? [])];
  const fits = others === undefined || others.tools.length === 0 || bytesOf(everything) <= others.bytesMax;
  const tools = fits ? everything : [...own, ...createToolSearch(others.tools)];
  const byName = new Map<string, Tool>();
  for (const tool of tools) {
    const { name } = tool.definition;
    assert(namePattern.test(name), `${JSON.stringify(name)} is no name for a tool`);
    assert(!byName.has(name), `two tools are named ${name}`);
    byName.set(name, tool);
  }
  const names = [...byName.keys()].sort();
  const definitions = Object.freeze(names.flatMap((name) => byName.get(name)?.definition ?? []));
  return { get: (name) => byName.get(name), definitions: () => definitions, generation };
}

function bytesOf(tools: readonly Tool[]): number {
  return tools.reduce((sum, { definition }) => sum + Buffer.byteLength(JSON.stringify(definition)), 0);
}
