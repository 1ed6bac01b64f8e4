/**
 * YAML text to plain values, with the place of every key and value and with `${NAME}` replaced. A key with nothing
 * behind it counts as not set and is left out. Anchors, aliases and merge keys (`<<`) are followed. Never throws; a
 * file that is not valid YAML yields its mistakes and no value. What the keys mean is left to others.
 */
import type { Alias, Document, Node, Pair, ParsedNode, Scalar, YAMLMap, YAMLSeq } from 'yaml';
import { assert } from '../lib/assert.ts';
import { resolveReferences, shieldReferences, unshieldReferences, type Environment } from './environment.ts';
import { formatPath, type KeyPath } from './key-tree.ts';
import { configFileName, type Position, type Problem } from './problem.ts';
import { syntaxMessage, type Yaml } from './yaml-syntax.ts';

/** Aliases multiply what a small file means; beyond this it is no configuration. */
const valuesMax = 20_000;
const depthMax = 50;

export interface Place {
  /** Where the key is written; for an item of a list, where its value is. */
  readonly key: Position;
  readonly value: Position;
}

export interface YamlReading {
  readonly isValidYaml: boolean;
  readonly value: unknown;
  readonly problems: readonly Problem[];
  /** Of the nearest key at or above the path that is in the file. */
  placeOf(path: KeyPath): Place;
  /** Whether the value at this path was read from the environment, wholly or in part. */
  isFromEnvironment(path: KeyPath): boolean;
}

export function readYaml(yaml: Yaml, text: string, environment: Environment): YamlReading {
  const lines = new yaml.LineCounter();
  const source = shieldReferences(text);
  const document = yaml.parseDocument(source, {
    lineCounter: lines,
    prettyErrors: false,
    intAsBigInt: true,
    logLevel: 'error',
  });
  const walk = new YamlWalk(yaml, source, document, environment, (offset) => {
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  });
  const isValidYaml = walk.reportSyntax();
  const value = isValidYaml ? walk.read(document.contents, []) : undefined;
  return {
    isValidYaml,
    value,
    problems: walk.problems,
    placeOf: (path) => walk.placeOf(path),
    isFromEnvironment: (path) => walk.fromEnvironment.has(pathId(path)),
  };
}

function pathId(path: KeyPath): string {
  return path.join('\0');
}

class YamlWalk {
  readonly problems: Problem[] = [];
  readonly fromEnvironment = new Set<string>();
  readonly #yaml: Yaml;
  readonly #source: string;
  readonly #document: Document.Parsed;
  readonly #environment: Environment;
  readonly #positionAt: (offset: number) => Position;
  readonly #places = new Map<string, Place>();
  /** The collections being read, to notice one that contains itself. */
  readonly #open = new Set<Node>();
  #values = 0;

  constructor(
    yaml: Yaml,
    source: string,
    document: Document.Parsed,
    environment: Environment,
    positionAt: (offset: number) => Position,
  ) {
    this.#yaml = yaml;
    this.#source = source;
    this.#document = document;
    this.#environment = environment;
    this.#positionAt = positionAt;
  }

  /** False if the text is broken in a way that makes its meaning a guess. */
  reportSyntax(): boolean {
    let isValid = true;
    let lastLine = 0;
    for (const error of [...this.#document.errors, ...this.#document.warnings]) {
      const { offset, message, isFatal } = syntaxMessage(this.#yaml, this.#source, this.#document, error);
      const position = this.#positionAt(offset);
      isValid &&= !isFatal;
      // One slip makes the parser stumble several times in the same line.
      if (isFatal && position.line === lastLine) continue;
      lastLine = position.line;
      this.problems.push({ file: configFileName, ...position, path: '', message: unshieldReferences(message) });
    }
    return isValid;
  }

  placeOf(path: KeyPath): Place {
    for (let length = path.length; length >= 0; length--) {
      const place = this.#places.get(pathId(path.slice(0, length)));
      if (place !== undefined) return place;
    }
    const start = { line: 1, column: 1 };
    return { key: start, value: start };
  }

  read(node: unknown, path: KeyPath, keyPosition?: Position): unknown {
    if (!this.#yaml.isNode(node)) return null;
    const position = this.#startOf(node);
    this.#places.set(pathId(path), { key: keyPosition ?? position, value: position });
    this.#values += 1;
    if (this.#values > valuesMax || path.length > depthMax) {
      const limit = this.#values > valuesMax ? `more than ${valuesMax} values` : `more than ${depthMax} levels`;
      // Said once: everything after it would say the same.
      if (this.#values <= valuesMax + 1) this.#report(position, path, `the file has ${limit}; aliases count each time`);
      this.#values = Math.max(this.#values, valuesMax + 1);
      return null;
    }
    if (this.#yaml.isAlias(node)) return this.#readAlias(node, path, keyPosition);
    if (this.#yaml.isScalar(node)) return this.#readScalar(node, path);
    if (this.#open.has(node)) {
      this.#report(position, path, 'this value contains itself');
      return null;
    }
    this.#open.add(node);
    const value = this.#yaml.isMap(node) ? this.#readMap(node, path) : this.#readList(node, path);
    this.#open.delete(node);
    return value;
  }

  #readAlias(alias: Alias, path: KeyPath, keyPosition: Position | undefined): unknown {
    const target = alias.resolve(this.#document);
    if (target === undefined) {
      this.#report(this.#startOf(alias), path, `\`*${alias.source}\` refers to an anchor that is not set above it`);
      return null;
    }
    return this.read(target, path, keyPosition);
  }

  #readScalar(node: Scalar, path: KeyPath): unknown {
    const { value } = node;
    if (typeof value === 'bigint') {
      const number = Number(value);
      // Ids of some platforms are longer than a number is exact; as text they keep every digit.
      return Number.isSafeInteger(number) ? number : (node.source ?? String(value));
    }
    if (typeof value !== 'string') return value;
    const resolved = resolveReferences(unshieldReferences(value), this.#environment);
    if (resolved.names.length > 0) this.fromEnvironment.add(pathId(path));
    const at = this.#startOf(node);
    for (const name of resolved.missing) {
      const advice = 'set it there or in .env';
      this.#report(at, path, `\`\${${name}}\` is not set in the environment; ${advice}`);
    }
    for (const text of resolved.malformed) {
      // What follows the name may be a secret.
      const start = /^\$\{\w{0,64}/.exec(text)?.[0] ?? '';
      this.#report(at, path, `\`${start}…\` is not of the form \`\${NAME}\`; write \`$\${\` for a plain \`\${\``);
    }
    return resolved.text;
  }

  #readList(node: YAMLSeq, path: KeyPath): unknown[] {
    return node.items.map((item, index) => this.read(item, [...path, index]));
  }

  #readMap(node: YAMLMap, path: KeyPath): Record<string, unknown> {
    // No prototype, so that a key named `__proto__` is a key like any other.
    const values = Object.create(null) as Record<string, unknown>;
    for (const merged of node.items.filter((pair) => isMergePair(this.#yaml, pair))) {
      for (const source of this.#mergeSources(merged, path)) {
        for (const [key, value] of Object.entries(source)) if (!Object.hasOwn(values, key)) values[key] = value;
      }
    }
    for (const pair of node.items) {
      if (isMergePair(this.#yaml, pair)) continue;
      const name = this.#keyName(pair, path);
      if (name === null) continue;
      const value = this.read(pair.value, [...path, name], this.#startOf(pair.key as Node));
      if (value === null) delete values[name];
      else values[name] = value;
    }
    return values;
  }

  #mergeSources(pair: Pair, path: KeyPath): Record<string, unknown>[] {
    const value = this.#yaml.isAlias(pair.value) ? pair.value.resolve(this.#document) : pair.value;
    const sources: unknown[] = this.#yaml.isSeq(value) ? value.items : [pair.value];
    const place = this.placeOf(path);
    return sources.flatMap((source) => {
      const read = this.read(source, path);
      // The section itself stays where it is written, not where the merged one is.
      this.#places.set(pathId(path), place);
      if (typeof read === 'object' && read !== null && !Array.isArray(read)) return [{ ...read }];
      if (read !== null)
        this.#report(this.#startOf(pair.key as Node), path, '`<<` takes in other sections: `<<: *name`');
      return [];
    });
  }

  #keyName(pair: Pair, path: KeyPath): string | null {
    const { key } = pair;
    if (this.#yaml.isScalar(key) && key.value !== null && key.value !== '__proto__') {
      return unshieldReferences(typeof key.value === 'string' ? key.value : (key.source ?? ''));
    }
    const position = this.#yaml.isNode(key) ? this.#startOf(key) : this.placeOf(path).value;
    this.#report(position, path, 'a key must be a simple name');
    return null;
  }

  #startOf(node: Node): Position {
    const { range } = node as ParsedNode;
    assert(Array.isArray(range), 'a parsed node has a place');
    return this.#positionAt(range[0]);
  }

  #report(position: Position, path: KeyPath, message: string): void {
    this.problems.push({ file: configFileName, ...position, path: formatPath(path), message });
  }
}

function isMergePair(yaml: Yaml, pair: Pair): boolean {
  return yaml.isScalar(pair.key) && pair.key.value === '<<';
}
