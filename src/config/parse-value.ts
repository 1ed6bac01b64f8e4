/**
 * What a value means that was typed on a command line, for the key it is meant for: where a text is wanted it is taken
 * as it is, so that keys and passwords need no quoting; where a list is wanted, one plain value is a list of it;
 * everything else is read as YAML. `null` always means "not set".
 */
import type { KeyNode, KeyShape } from './key-tree.ts';
import { shieldReferences, unshieldReferences } from './environment.ts';
import type { Yaml } from './yaml-syntax.ts';

export type ParsedValue =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'bad'; readonly message: string };

export function parseValue(yaml: Yaml, node: KeyNode, typed: string): ParsedValue {
  const text = typed.trim();
  if (text === 'null') return { kind: 'value', value: null };
  if (node.shape.kind === 'list' && /^[^[{'"]/.test(text)) return { kind: 'value', value: [text] };
  const isQuoted = /^(['"]).*\1$/s.test(text) && text.length > 1;
  const isTakenAsItIs = wantsText(node.shape) && !isQuoted && !(wantsMore(node.shape) && /^[[{]/.test(text));
  return isTakenAsItIs ? { kind: 'value', value: text } : parseYamlValue(yaml, text);
}

function wantsText(shape: KeyShape): boolean {
  if (shape.kind === 'either') return shape.options.some((option) => wantsText(option.shape));
  return shape.kind === 'text' || shape.kind === 'choice';
}

/** Besides a text. */
function wantsMore(shape: KeyShape): boolean {
  return shape.kind === 'either';
}

/** Any YAML value, with `${NAME}` left as it is. */
export function parseYamlValue(yaml: Yaml, text: string): ParsedValue {
  const document = yaml.parseDocument(shieldReferences(text), { intAsBigInt: true, merge: true, logLevel: 'error' });
  const [error] = document.errors;
  if (error !== undefined)
    return { kind: 'bad', message: `not valid YAML; quotes may be missing: ${firstLine(error.message)}` };
  try {
    return { kind: 'value', value: plain(document.toJS()) };
  } catch (cause) {
    return {
      kind: 'bad',
      message: `not valid YAML: ${firstLine(cause instanceof Error ? cause.message : String(cause))}`,
    };
  }
}

function plain(value: unknown): unknown {
  if (typeof value === 'string') return unshieldReferences(value);
  // Beyond what a number can be exactly, digits are kept as text.
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plain(inner)]));
}

function firstLine(message: string): string {
  return unshieldReferences(message.split('\n', 1)[0] ?? '').replace(/ at line \d+, column \d+:?$/, '');
}
