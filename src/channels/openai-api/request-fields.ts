/** Reading fields of a request that may hold anything. What is absent and what is null are the same. Pure. */
import { badRequest } from './api-error.ts';

export type Fields = Readonly<Record<string, unknown>>;

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function fieldsOf(value: unknown, param: string | null): Fields {
  if (isFields(value)) return value;
  throw badRequest(param === null ? 'The body must be a JSON object.' : `\`${param}\` must be an object.`, param);
}

export function flag(fields: Fields, name: string, otherwise: boolean): boolean {
  const value = fields[name] ?? otherwise;
  if (typeof value === 'boolean') return value;
  throw badRequest(`\`${name}\` must be true or false.`, name);
}

export function optionalText(fields: Fields, name: string): string | null {
  const value = fields[name] ?? null;
  if (value === null || typeof value === 'string') return value;
  throw badRequest(`\`${name}\` must be a string.`, name);
}

/** Given, and neither null nor false nor 0 nor an empty list or string: it asks for something. */
export function isAskedFor(value: unknown): boolean {
  if (value === undefined || value === null || value === false || value === 0 || value === '') return false;
  return !(Array.isArray(value) && value.length === 0);
}

/** A field like `{ "type": "text" }`: its type; null if the field is absent. */
export function typeOf(value: unknown): unknown {
  if (value === undefined || value === null) return null;
  return isFields(value) ? value['type'] : value;
}
