/**
 * A tool as a server lists it, within limits and with a fingerprint of all that it said: what a model reads, and what is
 * believed about what the tool does. Two lists with the same words in another order have the same fingerprints.
 */
import { hash } from 'node:crypto';
import { anyObject, isMap } from './clean-schema.ts';
import type { SeenTool, ToolHints } from './mcp-server.ts';

export const toolsPerServerMax = 256;
const nameCharsMax = 256;
const descriptionCharsMax = 16_000;
const schemaCharsMax = 65_536;
/** Of all tools of a server together; what is beyond it is known by its fingerprint alone. */
const keptCharsMax = 2_000_000;
const hintNames = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'] as const;

export interface ListedTool {
  readonly name: string;
  readonly description?: string | undefined;
  readonly inputSchema?: unknown;
  readonly annotations?: unknown;
}

/** In the order of their names; of two with the same name the first. */
export function seenTools(listed: readonly ListedTool[]): readonly SeenTool[] {
  const byName = new Map<string, SeenTool>();
  for (const tool of listed.slice(0, toolsPerServerMax)) {
    if (tool.name === '' || tool.name.length > nameCharsMax || byName.has(tool.name)) continue;
    byName.set(tool.name, seenTool(tool));
  }
  let chars = 0;
  return [...byName.values()]
    .sort((one, other) => (one.name < other.name ? -1 : 1))
    .map((tool) => {
      chars += JSON.stringify([tool.description, tool.inputSchema]).length;
      return chars <= keptCharsMax ? tool : { ...tool, description: '', inputSchema: anyObject };
    });
}

function seenTool({ name, description = '', inputSchema, annotations }: ListedTool): SeenTool {
  const hints = hintsOf(annotations);
  const schema = isMap(inputSchema) ? inputSchema : anyObject;
  return {
    name,
    description: description.slice(0, descriptionCharsMax).toWellFormed(),
    inputSchema: JSON.stringify(schema).length <= schemaCharsMax ? schema : anyObject,
    hints,
    hash: hash('sha256', sortedJson([name, description, schema, hints])),
  };
}

function hintsOf(annotations: unknown): ToolHints {
  if (!isMap(annotations)) return {};
  return Object.fromEntries(
    hintNames.flatMap((name) => {
      const value = annotations[name];
      return typeof value === 'boolean' ? [[name, value]] : [];
    }),
  );
}

/** JSON in which the order of keys says nothing. */
export function sortedJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) => {
    if (!isMap(inner)) return inner;
    const keys = Object.keys(inner).sort();
    return Object.fromEntries(keys.map((key) => [key, inner[key]]));
  });
}
