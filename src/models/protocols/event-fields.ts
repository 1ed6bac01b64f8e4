/** Reads the JSON of an event without trusting it: a member that is not what it should be is an empty one. */
export type Fields = Readonly<Record<string, unknown>>;

/** Null if it is no JSON object. */
export function parseFields(data: string): Fields | null {
  try {
    const value: unknown = JSON.parse(data);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : null;
  } catch {
    return null;
  }
}

export function asFields(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

export function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
