/**
 * Changes or removes one value in the text of a YAML file and leaves everything else as it is, to the byte: comments, order,
 * blank lines, the way things are aligned. Where the place is too unusual for that, the file is written anew from its
 * parsed form, which still keeps comments and order. Either way the result means exactly what was asked, or it is
 * refused. The text must be valid YAML with keys at its top.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Document, Node, Pair, ParsedNode, YAMLMap } from 'yaml';
import { shieldReferences, unshieldReferences } from './environment.ts';
import type { KeyPath } from './key-tree.ts';
import type { Yaml } from './yaml-syntax.ts';

export type YamlEdit =
  | { readonly kind: 'edited'; readonly text: string }
  /** The place is shared through an alias, or is no section: a person must decide. */
  | { readonly kind: 'stuck' };

interface Spot {
  /** The innermost collection on the way that exists. */
  readonly parent: YAMLMap | null;
  readonly isInline: boolean;
  /** The last pair on the way that exists; null for an item of a list. */
  readonly pair: Pair | null;
  /** The value there. */
  readonly value: unknown;
  /** The steps that do not exist yet; empty if the value is there. */
  readonly missing: KeyPath;
}

export function setInYaml(yaml: Yaml, text: string, path: KeyPath, value: unknown): YamlEdit {
  const source = shieldReferences(text);
  const wanted = parse(yaml, source);
  if (!setInDocument(yaml, wanted, path, shieldAll(value))) return { kind: 'stuck' };
  const meaning: unknown = wanted.toJS();
  const spliced = splice(yaml, source, path, value);
  if (spliced !== null) {
    const result = parse(yaml, shieldReferences(spliced));
    if (result.errors.length === 0 && isDeepStrictEqual(result.toJS(), meaning)) {
      return { kind: 'edited', text: unshieldReferences(spliced) };
    }
  }
  return { kind: 'edited', text: unshieldReferences(wanted.toString({ lineWidth: 0 })) };
}

/** Takes out what stands there, and sections of which nothing is left with it. */
export function removeInYaml(yaml: Yaml, text: string, path: KeyPath): YamlEdit {
  const source = shieldReferences(text);
  const wanted = parse(yaml, source);
  let gone = path;
  for (; gone.length > 1; gone = gone.slice(0, -1)) {
    const parent = wanted.getIn(gone.slice(0, -1), true);
    if (!yaml.isMap(parent)) return { kind: 'stuck' };
    if (parent.items.length > 1) break;
  }
  if (!wanted.hasIn(path) || !wanted.deleteIn(gone)) return { kind: 'stuck' };
  let meaning: unknown;
  try {
    meaning = wanted.toJS();
  } catch {
    // An alias elsewhere reads what would go.
    return { kind: 'stuck' };
  }
  const cut = cutLines(yaml, source, gone);
  const result = parse(yaml, cut ?? '');
  if (cut !== null && result.errors.length === 0 && isDeepStrictEqual(result.toJS() ?? {}, meaning)) {
    return { kind: 'edited', text: unshieldReferences(cut) };
  }
  return { kind: 'edited', text: unshieldReferences(wanted.toString({ lineWidth: 0 })) };
}

/** Null where it does not have lines of its own. */
function cutLines(yaml: Yaml, source: string, path: KeyPath): string | null {
  const spot = findSpot(yaml, parse(yaml, source), path);
  if (spot === null || spot.pair === null || spot.isInline || spot.missing.length > 0) return null;
  const key = rangeOf(spot.pair.key as Node)[0];
  const start = key - columnOf(source, key);
  const end = endOfLine(source, endOf(yaml, spot.pair));
  if (source.slice(start, key).trim() !== '') return null;
  return source.slice(0, start) + source.slice(end).replace(/^\r?\n/, '');
}

function parse(yaml: Yaml, source: string): Document.Parsed {
  return yaml.parseDocument(source, { intAsBigInt: true, merge: true, logLevel: 'error' });
}

function shieldAll(value: unknown): unknown {
  if (typeof value === 'string') return shieldReferences(value);
  if (Array.isArray(value)) return value.map(shieldAll);
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value) : value;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shieldAll(inner)]));
}

function setInDocument(yaml: Yaml, document: Document.Parsed, path: KeyPath, value: unknown): boolean {
  for (let length = 1; length < path.length; length++) {
    const node = document.getIn(path.slice(0, length), true);
    if (yaml.isCollection(node)) continue;
    if (yaml.isAlias(node) || (yaml.isScalar(node) && node.value !== null)) return false;
    // A section that is missing or empty so far.
    document.setIn(path.slice(0, length), document.createNode(nest(path.slice(length), value)));
    return true;
  }
  document.setIn(path, document.createNode(value));
  return true;
}

function nest(steps: KeyPath, value: unknown): unknown {
  return steps.reduceRight<unknown>((inner, step) => ({ [step]: inner }), value);
}

function splice(yaml: Yaml, source: string, path: KeyPath, value: unknown): string | null {
  const document = parse(yaml, source);
  const spot = findSpot(yaml, document, path);
  if (spot === null) return null;
  if (spot.missing.length === 0) return replaceValue(yaml, source, spot, value);
  if (spot.parent === null) {
    const start = source === '' || source.endsWith('\n') ? source : `${source}\n`;
    return spot.pair === null ? `${start}${blockLines(yaml, spot.missing, value, 0).join('\n')}\n` : null;
  }
  if (spot.isInline) return addInline(yaml, source, spot, value);
  return addLines(yaml, source, spot, value);
}

/** Null where the way leads through something other than sections. */
function findSpot(yaml: Yaml, document: Document.Parsed, path: KeyPath): Spot | null {
  let spot: Spot = { parent: null, isInline: false, pair: null, value: document.contents, missing: path };
  for (const [index, step] of path.entries()) {
    const node = spot.value;
    if (isEmpty(yaml, node)) return spot;
    if (yaml.isSeq(node) && typeof step === 'number' && yaml.isNode(node.items[step])) {
      const isInline = spot.isInline || node.flow === true;
      spot = { parent: null, isInline, pair: null, value: node.items[step], missing: path.slice(index + 1) };
      continue;
    }
    if (!yaml.isMap(node)) return null;
    const isInline = spot.isInline || node.flow === true;
    const pair = node.items.find((item) => yaml.isScalar(item.key) && item.key.value === step) ?? null;
    if (pair === null) return { parent: node, isInline, pair: null, value: null, missing: path.slice(index) };
    spot = { parent: node, isInline, pair, value: pair.value, missing: path.slice(index + 1) };
  }
  return spot;
}

function isEmpty(yaml: Yaml, node: unknown): boolean {
  return node === null || (yaml.isScalar(node) && node.value === null && (node.source ?? '') === '');
}

function replaceValue(yaml: Yaml, source: string, spot: Spot, value: unknown): string | null {
  const { pair, isInline, value: node } = spot;
  const rendered = renderInline(yaml, value, isInline);
  if (isEmpty(yaml, node)) {
    if (pair === null) return null;
    const colon = source.indexOf(':', rangeOf(pair.key as Node)[1]);
    return `${source.slice(0, colon + 1)} ${rendered}${source.slice(colon + 1)}`;
  }
  if (!yaml.isNode(node)) return null;
  const isOneLine = yaml.isScalar(node)
    ? node.type !== 'BLOCK_LITERAL' && node.type !== 'BLOCK_FOLDED'
    : yaml.isAlias(node) || (yaml.isCollection(node) && node.flow === true);
  const hasMark = !yaml.isAlias(node) && (node.anchor !== undefined || node.tag !== undefined);
  if (!isOneLine || hasMark) return null;
  const [start, end] = rangeOf(node);
  return `${source.slice(0, start)}${rendered}${source.slice(end)}`;
}

function addInline(yaml: Yaml, source: string, { parent, missing }: Spot, value: unknown): string | null {
  const [step, ...rest] = missing;
  if (parent === null || step === undefined) return null;
  const [start, end] = rangeOf(parent);
  const inside = source.slice(start + 1, end - 1).trimEnd();
  const entry = renderInline(yaml, { [step]: nest(rest, value) }, true).replace(/^\{\s*|\s*\}$/g, '');
  const joint = parent.items.length === 0 ? ' ' : ', ';
  return `${source.slice(0, start + 1)}${inside}${joint}${entry} ${source.slice(end - 1)}`;
}

function addLines(yaml: Yaml, source: string, { parent, pair, missing }: Spot, value: unknown): string | null {
  const first = parent?.items[0];
  const last = pair ?? parent?.items.at(-1);
  if (first === undefined || last === undefined) return null;
  const indent = columnOf(source, rangeOf(first.key as Node)[0]) + (pair === null ? 0 : 2);
  const lines = blockLines(yaml, missing, value, indent);
  const newline = source.includes('\r\n') ? '\r\n' : '\n';
  const end = endOfLine(source, pair === null ? endOf(yaml, last) : rangeOf(last.key as Node)[1]);
  return source.slice(0, end) + lines.map((line) => newline + line).join('') + source.slice(end);
}

function blockLines(yaml: Yaml, steps: KeyPath, value: unknown, indent: number): string[] {
  return steps.map((step, depth) => {
    const key = `${' '.repeat(indent + 2 * depth)}${renderInline(yaml, String(step), false)}:`;
    return depth === steps.length - 1 ? `${key} ${renderInline(yaml, value, false)}` : key;
  });
}

function renderInline(yaml: Yaml, value: unknown, isInline: boolean): string {
  if (typeof value === 'string' && /[\r\n]/.test(value)) return JSON.stringify(value);
  if (!isInline && (typeof value !== 'object' || value === null))
    return yaml.stringify(value, { lineWidth: 0 }).trimEnd();
  // Inside `{ }` more characters need quotes; a list around the value makes the library see that.
  const options = { collectionStyle: 'flow', lineWidth: 0, doubleQuotedAsJSON: true } as const;
  return yaml.stringify([value], options).trimEnd().slice(1, -1).trim();
}

/** Where the last thing written below this pair ends. */
function endOf(yaml: Yaml, pair: Pair): number {
  const node = pair.value;
  if (yaml.isMap(node) && node.flow !== true) {
    const last = node.items.at(-1);
    if (last !== undefined) return endOf(yaml, last);
  }
  if (yaml.isSeq(node) && node.flow !== true) {
    const last = node.items.at(-1);
    if (yaml.isNode(last)) return rangeOf(last)[1];
  }
  return isEmpty(yaml, node) || !yaml.isNode(node) ? rangeOf(pair.key as Node)[1] : rangeOf(node)[1];
}

function rangeOf(node: Node): readonly [start: number, end: number] {
  const [start, end] = (node as ParsedNode).range;
  return [start, end];
}

function columnOf(source: string, offset: number): number {
  return offset - (source.lastIndexOf('\n', offset - 1) + 1);
}

function endOfLine(source: string, offset: number): number {
  // A block of text ends behind its last line break.
  if (offset > 0 && source[offset - 1] === '\n') return source[offset - 2] === '\r' ? offset - 2 : offset - 1;
  const found = source.slice(offset).search(/\r?\n|$/);
  return offset + found;
}
