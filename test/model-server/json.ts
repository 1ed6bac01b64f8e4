/** Reading JSON that may hold anything: what is not of the wanted kind counts as empty. */

export type Json = Readonly<Record<string, unknown>>;

export function objectOf(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export function parsedOr(text: string, fallback: unknown): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return fallback;
  }
}

export function without(object: Json, key: string): Json {
  const { [key]: _left, ...rest } = object;
  return rest;
}
