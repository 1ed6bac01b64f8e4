/**
 * What zod found, in sentences for the person who wrote the file. A value is shown only if it can't be a secret: not
 * at a key that holds one, and not if it came from the environment.
 */
import type * as z from 'zod/mini';
import { unreachable } from '../lib/assert.ts';
import { nearest } from '../lib/nearest.ts';
import { formatPath, nodeAt, sectionKeys, type KeyNode, type KeyPath } from './key-tree.ts';

export interface Explanation {
  readonly path: KeyPath;
  /** Whether the mistake is the key itself or its value. */
  readonly at: 'key' | 'value';
  readonly message: string;
}

export interface ExplainDeps {
  readonly root: KeyNode;
  readonly valueAt: (path: KeyPath) => unknown;
  readonly isFromEnvironment: (path: KeyPath) => boolean;
}

type Issue = z.core.$ZodIssue;

/** Longer values are cut: the place says which one is meant. */
const shownCharsMax = 40;

export function explainIssue(deps: ExplainDeps, issue: Issue): Explanation[] {
  const path = issue.path as KeyPath;
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => ({
        path: [...path, key],
        at: 'key',
        message: unknownKey(deps.root, [...path, key]),
      }));
    case 'invalid_union':
      return explainUnion(deps, path, issue.errors);
    case 'invalid_key':
      return [
        {
          path,
          at: 'key',
          message: `\`${String(path.at(-1))}\` can't stand here: it must be ${nameWords(deps, path)}`,
        },
      ];
    case 'custom':
      return [{ path, at: 'key', message: `\`${formatPath(path)}\` ${issue.message}` }];
    case 'too_small':
      if (issue.origin === 'string' && issue.minimum === 1)
        return [{ path, at: 'value', message: `\`${formatPath(path)}\` must not be empty` }];
      return [wrongValue(deps, path)];
    case 'invalid_type':
    case 'invalid_value':
    case 'invalid_format':
    case 'too_big':
    case 'not_multiple_of':
    case 'invalid_element':
      return [wrongValue(deps, path)];
    default:
      return unreachable(issue);
  }
}

/** The alternative that the writer must have meant: the one whose outermost kind fits. */
function explainUnion(deps: ExplainDeps, path: KeyPath, alternatives: readonly Issue[][]): Explanation[] {
  const meant = alternatives.filter(
    (issues) => !issues.some((issue) => issue.path.length === 0 && issue.code === 'invalid_type'),
  );
  const [only] = meant;
  if (meant.length !== 1 || only === undefined) return [wrongValue(deps, path)];
  return only.flatMap((issue) => explainIssue(deps, { ...issue, path: [...path, ...issue.path] }));
}

function wrongValue(deps: ExplainDeps, path: KeyPath): Explanation {
  const node = nodeAt(deps.root, path);
  const value = deps.valueAt(path);
  const isHidden = (node?.secret ?? false) || deps.isFromEnvironment(path);
  const meant = node === null || isHidden ? null : nearestChoice(node, value);
  if (meant !== null) {
    const message = `\`${formatPath(path)}\` can't be ${show(value)}; did you mean \`${meant}\`?`;
    return { path, at: 'value', message };
  }
  const shown = isHidden ? '' : `, not ${show(value)}`;
  const hint = node === null ? '' : hintFor(node, value, isHidden);
  const words = node === null ? 'something else' : expectation(node);
  return { path, at: 'value', message: `\`${formatPath(path)}\` must be ${words}${shown}${hint}` };
}

function hintFor(node: KeyNode, value: unknown, isHidden: boolean): string {
  const { shape } = node;
  if (shape.kind === 'text' && (typeof value === 'number' || typeof value === 'boolean')) {
    return '; put quotes around it';
  }
  if (shape.kind === 'number' && typeof value === 'string' && /^-?[\d.]+$/.test(value) && !isHidden) {
    return '; remove the quotes around it';
  }
  return '';
}

function nearestChoice({ shape }: KeyNode, value: unknown): string | null {
  return shape.kind === 'choice' && typeof value === 'string' ? (nearest(value, shape.values)[0] ?? null) : null;
}

export function unknownKey(root: KeyNode, path: KeyPath): string {
  const name = String(path.at(-1));
  const parent = nodeAt(root, path.slice(0, -1));
  const known = [...((parent === null ? null : sectionKeys(parent))?.keys() ?? [])];
  const start = `unknown key \`${formatPath(path)}\``;
  const [meant] = nearest(name, known);
  if (meant !== undefined) return `${start}; did you mean \`${meant}\`?`;
  const home = sectionWith(root, name, []);
  if (home !== null)
    return `${start}; it belongs ${home.length === 0 ? 'at the left margin' : `under \`${formatPath(home)}\``}`;
  return known.length === 0 ? start : `${start}; known here: ${known.join(', ')}`;
}

/** The first section in the file's order that has a key of this name. */
function sectionWith(node: KeyNode, name: string, path: KeyPath): KeyPath | null {
  if (node.shape.kind !== 'section') return null;
  if (node.shape.keys.has(name)) return path;
  for (const [key, child] of node.shape.keys) {
    const found = sectionWith(child, name, [...path, key]);
    if (found !== null) return found;
  }
  return null;
}

function nameWords(deps: ExplainDeps, path: KeyPath): string {
  const parent = nodeAt(deps.root, path.slice(0, -1));
  return parent?.shape.kind === 'named' ? expectation(parent.shape.name) : 'another name';
}

/** Completes "must be …". */
export function expectation(node: KeyNode): string {
  if (node.expects !== undefined) return node.expects;
  const { shape } = node;
  switch (shape.kind) {
    case 'section':
      return `a section with keys of its own, such as \`${[...shape.keys.keys()][0] ?? ''}:\``;
    case 'named':
      return 'a section of names, each with a value';
    case 'list':
      return `a list (each item ${expectation(shape.item)})`;
    case 'either':
      return shape.options.map(expectation).join(' or ');
    case 'choice':
      return `one of ${shape.values.join(', ')}`;
    case 'number':
      return `${shape.whole ? 'a whole number' : 'a number'}${rangeWords(shape.min, shape.max)}`;
    case 'boolean':
      return 'true or false';
    case 'text':
      return 'text';
    default:
      return unreachable(shape);
  }
}

function rangeWords(min: number | null, max: number | null): string {
  if (min !== null && max !== null) return ` from ${min} to ${max}`;
  if (min !== null) return ` of at least ${min}`;
  return max === null ? '' : ` of at most ${max}`;
}

function show(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a section';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value !== 'string') return `a ${typeof value}`;
  return JSON.stringify(value.length > shownCharsMax ? `${value.slice(0, shownCharsMax)}…` : value);
}
