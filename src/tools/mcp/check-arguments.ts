/**
 * Looks over a call's arguments before they go to the server, so that a model learns of a plain mistake at once. Light on
 * purpose: the top level only, no patterns of the server's making. The server checks the rest. Pure.
 */
import type { ParsedArguments } from '../tool.ts';
import { isMap, type Schema } from './clean-schema.ts';

const kindWords: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  null: 'null',
};

export type CallArguments = Readonly<Record<string, unknown>>;

export function checkArguments(schema: Schema, input: unknown): ParsedArguments<CallArguments> {
  if (!isMap(input)) return { ok: false, problem: 'they must be a JSON object.' };
  const properties = isMap(schema['properties']) ? schema['properties'] : {};
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  const problems = [
    ...required.flatMap((key) =>
      typeof key === 'string' && !Object.hasOwn(input, key) ? `\`${key}\` is missing` : [],
    ),
    ...Object.entries(input).flatMap(([key, value]) => {
      if (Object.hasOwn(properties, key)) return kindProblem(key, properties[key], value);
      return schema['additionalProperties'] === false ? [`unknown key \`${key}\``] : [];
    }),
  ];
  return problems.length === 0 ? { ok: true, value: input } : { ok: false, problem: `${problems.join('; ')}.` };
}

function kindProblem(key: string, schema: unknown, value: unknown): string[] {
  if (!isMap(schema)) return [];
  const kinds = [schema['type']].flat().filter((kind) => typeof kind === 'string');
  if (kinds.length === 0 || kinds.some((kind) => isOfKind(kind, value)) || schema['nullable'] === true) return [];
  return [`\`${key}\` must be ${kinds.map((kind) => kindWords[kind] ?? kind).join(' or ')}`];
}

function isOfKind(kind: string, value: unknown): boolean {
  switch (kind) {
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isMap(value);
    case 'null':
      return value === null;
    case 'integer':
      return typeof value === 'number' && Number.isInteger(value);
    default:
      return !Object.hasOwn(kindWords, kind) || typeof value === kind;
  }
}
