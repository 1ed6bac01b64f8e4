/**
 * The schema as a plain tree of keys: what the documentation, the suggestions, the wording of mistakes and the search
 * for secrets walk over. Knows how zod keeps its definitions; nothing else does.
 */
import type * as z from 'zod/mini';
import { AssertionFailure, unreachable } from '../lib/assert.ts';
import { configSchema, keyNotes, type KeyNote } from './schema.ts';

export type KeyShape =
  | { readonly kind: 'section'; readonly keys: ReadonlyMap<string, KeyNode> }
  /** Any name may stand there, each with the same kind of value. */
  | { readonly kind: 'named'; readonly name: KeyNode; readonly value: KeyNode }
  | { readonly kind: 'list'; readonly item: KeyNode }
  | { readonly kind: 'either'; readonly options: readonly KeyNode[] }
  | { readonly kind: 'choice'; readonly values: readonly string[] }
  | { readonly kind: 'number'; readonly whole: boolean; readonly min: number | null; readonly max: number | null }
  | { readonly kind: 'boolean' }
  | { readonly kind: 'text' };

export interface KeyNode extends KeyNote {
  /** Undefined if the schema gives none; the default of a section is what its keys say. */
  readonly default: unknown;
  readonly shape: KeyShape;
}

export type KeyPath = readonly (string | number)[];

type Schema = z.core.$ZodTypes;

export function keyTree(): KeyNode {
  return nodeOf(configSchema);
}

function nodeOf(type: z.core.$ZodType): KeyNode {
  const schema = type as Schema;
  const note = keyNotes.get(schema);
  const { def } = schema['_zod'];
  switch (def.type) {
    case 'default':
      return { ...nodeOf(def.innerType), ...note, default: def.defaultValue };
    case 'prefault': {
      const inner = nodeOf(def.innerType);
      // `{}` makes a section take the defaults of its keys; it is not their value.
      return { ...inner, ...note, default: inner.shape.kind === 'section' ? undefined : def.defaultValue };
    }
    case 'nullable':
      return { ...nodeOf(def.innerType), ...note };
    case 'pipe':
      return { ...nodeOf(def.in), ...note };
    default:
      return { description: '', secret: false, ...note, default: undefined, shape: shapeOf(schema) };
  }
}

function shapeOf(schema: Schema): KeyShape {
  const { def } = schema['_zod'];
  switch (def.type) {
    case 'object': {
      const keys = Object.entries(def.shape);
      return { kind: 'section', keys: new Map(keys.map(([name, type]) => [name, nodeOf(type)])) };
    }
    case 'record':
      return { kind: 'named', name: nodeOf(def.keyType), value: nodeOf(def.valueType) };
    case 'array':
      return { kind: 'list', item: nodeOf(def.element) };
    case 'union':
      return { kind: 'either', options: def.options.map(nodeOf) };
    case 'enum':
      return { kind: 'choice', values: Object.values(def.entries).map(String) };
    case 'number':
      return {
        kind: 'number',
        whole: 'format' in def,
        min: boundOf(def.checks, 'greater_than'),
        max: boundOf(def.checks, 'less_than'),
      };
    case 'boolean':
      return { kind: 'boolean' };
    case 'string':
      return { kind: 'text' };
    default:
      throw new AssertionFailure(`the schema holds a key of type ${def.type}`);
  }
}

function boundOf(checks: readonly z.core.$ZodCheck[] = [], kind: 'greater_than' | 'less_than'): number | null {
  for (const check of checks) {
    const { def } = (check as z.core.$ZodChecks)['_zod'];
    // Whole numbers end where they stop being exact; that is no limit to tell anyone about.
    if (def.check === kind && Math.abs(Number(def.value)) < Number.MAX_SAFE_INTEGER) return Number(def.value);
  }
  return null;
}

/** The node at a path, or null if no key can stand there. Where there are alternatives, the first that fits. */
export function nodeAt(node: KeyNode, path: KeyPath): KeyNode | null {
  const [step, ...rest] = path;
  if (step === undefined) return node;
  const { shape } = node;
  switch (shape.kind) {
    case 'section': {
      const next = shape.keys.get(String(step));
      return next === undefined ? null : nodeAt(next, rest);
    }
    case 'named':
      return nodeAt(below(node, shape.value), rest);
    case 'list':
      return /^\d{1,6}$/.test(String(step)) ? nodeAt(below(node, shape.item), rest) : null;
    case 'either':
      for (const option of shape.options) {
        const found = nodeAt(below(node, option), path);
        if (found !== null) return found;
      }
      return null;
    case 'choice':
    case 'number':
    case 'boolean':
    case 'text':
      return null;
    default:
      return unreachable(shape);
  }
}

/** What is below a secret is secret. */
export function below(parent: KeyNode, child: KeyNode): KeyNode {
  return parent.secret === true ? { ...child, secret: true } : child;
}

/** The keys that may stand below this node, alternatives looked through; null if it is no section. */
export function sectionKeys(node: KeyNode): ReadonlyMap<string, KeyNode> | null {
  if (node.shape.kind === 'section') return node.shape.keys;
  if (node.shape.kind !== 'either') return null;
  for (const option of node.shape.options) {
    const keys = sectionKeys(option);
    if (keys !== null) return keys;
  }
  return null;
}

export function formatPath(path: KeyPath): string {
  return path.map((step, index) => (typeof step === 'number' ? `[${step}]` : index === 0 ? step : `.${step}`)).join('');
}

export function valueAt(value: unknown, path: KeyPath): unknown {
  return path.reduce<unknown>(
    (inner, step) =>
      typeof inner === 'object' && inner !== null && Object.hasOwn(inner, step)
        ? (inner as Record<string | number, unknown>)[step]
        : undefined,
    value,
  );
}
