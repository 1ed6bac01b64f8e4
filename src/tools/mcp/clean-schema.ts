/**
 * The schema of a tool's arguments as a model is told it: what helps nobody or what some provider rejects is taken out,
 * references are put in place, words of the server are kept short. Never longer than a limit: then only the shape stays,
 * and at last not even that. Pure, and the same for the same schema.
 */
import { visibleText } from './visible-text.ts';

const schemaBytesMax = 8_192;
const depthMax = 10;
const wordsCharsMax = 400;
const itemsMax = 200;
/** More than ever fit into the bytes; a few references to each other can stand for billions. */
const nodesMax = 4_000;

/** What a call's arguments are checked by, and what a model can use. */
const keptKeys = new Set(
  [
    'type description properties required additionalProperties items prefixItems enum const anyOf oneOf allOf not format',
    'minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength minItems maxItems uniqueItems',
    'nullable default',
  ].flatMap((words) => words.split(' ')),
);
/** Of names that the server chose, not of keywords. */
const namesBelow = new Set(['properties']);

export type Schema = Readonly<Record<string, unknown>>;

export const anyObject: Schema = Object.freeze({ type: 'object', properties: {} });

export function cleanSchema(schema: Schema): Schema {
  return fitting(schema, [new Set(), new Set(['description'])]);
}

/** Without anything that could be a sentence of the server's, as far as names are none. */
export function schemaShape(schema: Schema): Schema {
  return fitting(schema, [new Set(['description', 'default', 'enum', 'const', 'format'])]);
}

/** With as few keys left out as fit. */
function fitting(schema: Schema, leftOut: readonly ReadonlySet<string>[]): Schema {
  for (const without of leftOut) {
    const cleaned = cleanRoot(schema, without);
    if (Buffer.byteLength(JSON.stringify(cleaned)) <= schemaBytesMax) return cleaned;
  }
  return anyObject;
}

function cleanRoot(root: Schema, without: ReadonlySet<string>): Schema {
  const cleaned = clean({ root, without, seen: { nodes: 0 } }, root, 0);
  if (!isMap(cleaned)) return anyObject;
  // Some providers take no choice at the top: what all of its branches have in common is left to the server.
  const { anyOf: _any, oneOf: _one, allOf: _all, not: _not, enum: _enum, ...rest } = cleaned;
  return { ...rest, type: 'object', properties: isMap(rest['properties']) ? rest['properties'] : {} };
}

interface Place {
  readonly root: Schema;
  /** Keys that are left out. */
  readonly without: ReadonlySet<string>;
  readonly seen: { nodes: number };
}

function clean(place: Place, node: unknown, depth: number): unknown {
  if (typeof node === 'boolean') return node;
  if (!isMap(node)) return {};
  place.seen.nodes += 1;
  if (depth > depthMax || place.seen.nodes > nodesMax) return {};
  const target = referred(place.root, node);
  if (target !== null) return clean(place, target, depth + 1);
  const kept: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(node)) {
    if (!keptKeys.has(key) || place.without.has(key)) continue;
    kept[key] = cleanValue(place, key, value, depth);
  }
  return kept;
}

function cleanValue(place: Place, key: string, value: unknown, depth: number): unknown {
  if (key === 'description') return typeof value === 'string' ? visibleText(value, wordsCharsMax) : '';
  if (namesBelow.has(key)) {
    if (!isMap(value)) return {};
    const entries = Object.entries(value).slice(0, itemsMax);
    return Object.fromEntries(entries.map(([name, inner]) => [name, clean(place, inner, depth + 1)]));
  }
  if (['anyOf', 'oneOf', 'allOf', 'prefixItems'].includes(key)) {
    return Array.isArray(value) ? value.slice(0, itemsMax).map((inner) => clean(place, inner, depth + 1)) : [];
  }
  if (['items', 'additionalProperties', 'not'].includes(key)) return clean(place, value, depth + 1);
  return value;
}

/** What `#/$defs/NAME` stands for; null if the node refers to nothing, or to what is not there. */
function referred(root: Schema, node: Schema): unknown {
  const reference = node['$ref'];
  if (typeof reference !== 'string' || !reference.startsWith('#/')) return null;
  let found: unknown = root;
  for (const step of reference.slice(2).split('/')) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~');
    if (!isMap(found) || !Object.hasOwn(found, key)) return null;
    found = found[key];
  }
  return isMap(found) ? found : null;
}

export function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
