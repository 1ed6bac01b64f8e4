/**
 * Which values of a configuration are secret: those at keys marked so in the schema, and passwords inside addresses
 * (`postgres://user:password@host`) wherever they stand.
 */
import { nodeAt, type KeyNode } from './key-tree.ts';

const addressWithPassword = /^([a-z][a-z0-9+.-]*:\/\/[^/?#\s:@]*:)([^/?#\s]+)(?=@)/i;

/** A copy of the value with every secret replaced. */
export function replaceSecrets(node: KeyNode, value: unknown, replace: (secret: string) => string): unknown {
  if (typeof value === 'string') {
    if (node.secret === true) return replace(value);
    return value.replace(addressWithPassword, (_, start: string, password: string) => start + replace(password));
  }
  if (typeof value !== 'object' || value === null) return value;
  const child = (step: string | number, inner: unknown) => {
    const next = nodeAt(node, [step]);
    return next === null ? inner : replaceSecrets(next, inner, replace);
  };
  if (Array.isArray(value)) return value.map((item: unknown, index) => child(index, item));
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, child(key, inner)]));
}

export function secretsOf(node: KeyNode, config: unknown): string[] {
  const secrets = new Set<string>();
  replaceSecrets(node, config, (secret) => {
    secrets.add(secret);
    return secret;
  });
  return [...secrets];
}

export function hasPassword(text: string): boolean {
  return addressWithPassword.test(text);
}
