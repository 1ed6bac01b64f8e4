/**
 * The JSON Schema of config.yaml, for editors. It comes from the one schema and says in its terms what the program
 * also accepts: `${NAME}` where a number or one of a few words is wanted, and sections left empty.
 */
import * as z from 'zod/mini';
import { configSchema, keyNotes } from './schema.ts';

export const jsonSchemaFileName = 'config.schema.json';

interface Schema {
  readonly [keyword: string]: unknown;
  readonly type?: string | readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | false;
  readonly propertyNames?: Schema;
  readonly items?: Schema;
}

const reference: Schema = { type: 'string', pattern: '^\\$\\{[A-Za-z_][A-Za-z0-9_]*\\}$' };

export function jsonSchema(): Schema {
  const annotated = z.toJSONSchema(configSchema, { io: 'input', metadata: keyNotes, reused: 'inline' }) as Schema;
  const { $schema, type: _, ...root } = forEditors(annotated);
  return { $schema, title: 'Talaria configuration', type: ['object', 'null'], ...root };
}

export function jsonSchemaText(): string {
  return `${JSON.stringify(jsonSchema(), null, 2)}\n`;
}

function forEditors(schema: Schema): Schema {
  const { secret, expects: _expects, unset: _unset, description, default: standard, ...rest } = schema;
  const notes = {
    ...(description === undefined ? {} : { description }),
    ...(standard === undefined ? {} : { default: standard }),
    ...(secret === true ? { writeOnly: true } : {}),
  };
  if (rest.anyOf !== undefined) return { ...notes, ...rest, anyOf: flatten(rest.anyOf.map(forEditors)) };
  if (rest.type === 'array') return { ...notes, ...rest, items: forEditors(rest.items ?? {}) };
  if (rest.type === 'object') return { ...notes, ...rest, ...objectForEditors(rest) };
  const isPlainText =
    rest.type === 'null' || (rest.type === 'string' && !('enum' in rest || 'format' in rest || 'pattern' in rest));
  return isPlainText ? { ...notes, ...rest } : { ...notes, anyOf: [rest, reference] };
}

function objectForEditors({ properties, additionalProperties, propertyNames }: Schema): Schema {
  return {
    type: ['object', 'null'],
    ...(properties === undefined
      ? {}
      : { properties: Object.fromEntries(Object.entries(properties).map(([key, value]) => [key, forEditors(value)])) }),
    ...(typeof additionalProperties === 'object' ? { additionalProperties: forEditors(additionalProperties) } : {}),
    ...(propertyNames === undefined ? {} : { propertyNames: { pattern: propertyNames['pattern'] } }),
  };
}

/** Alternatives of alternatives in one list, each once. */
function flatten(options: readonly Schema[]): Schema[] {
  const flat = options.flatMap((option) => (option.anyOf === undefined ? [option] : option.anyOf));
  return flat.filter((option, index) => flat.indexOf(option) === index);
}
