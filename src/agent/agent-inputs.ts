/**
 * Everything an agent is made of, declared once: what has to be built anew when it changes (`rebuild`), and what is
 * looked at turn by turn (`per turn`). Whoever builds an agent is given only what was read through this table, never the
 * configuration itself, so that an option can't be used and forgotten here. Reading never throws: what is missing or of
 * the wrong type is null, and what is not in the table does not count. Defaults and mistakes are left to the
 * configuration.
 */
import type { ApiMode } from '../models/model.ts';
import { efforts } from '../protocol/usage.ts';

/** What is not in the file: it is asked for when the inputs are read. */
export interface LiveInputs {
  /** Goes up whenever the tools there are have changed. */
  readonly registryGeneration: () => number;
  /** Those of the session's channel; a set. */
  readonly toolsets: readonly string[];
  /** Whatever else the agent depends on, as JSON has it; null and an empty map are the same as nothing. */
  readonly extra?: unknown;
}

// --- readers -------------------------------------------------------------------------------------------------------

type Reader<T> = (value: unknown) => T | null;
type Shape = Readonly<Record<string, Reader<unknown>>>;
type ShapeOutput<S extends Shape> = { readonly [Key in keyof S]: ReturnType<S[Key]> };

const text: Reader<string> = (value) => (typeof value === 'string' ? value : null);
const number: Reader<number> = (value) => (typeof value === 'number' && Number.isFinite(value) ? value : null);
const flag: Reader<boolean> = (value) => (typeof value === 'boolean' ? value : null);

function oneOf<const Choice extends string>(...choices: readonly Choice[]): Reader<Choice> {
  return (value) => choices.find((choice) => choice === value) ?? null;
}

/** One item or a list; what can't be read among them is left out. */
function listOf<T>(item: Reader<T>): Reader<readonly T[]> {
  return (value) => {
    if (value === undefined || value === null) return null;
    const items = (Array.isArray(value) ? value : [value]).map(item).filter((read) => read !== null);
    return Array.isArray(value) || items.length > 0 ? items : null;
  };
}

function mapOf<S extends Shape>(shape: S): Reader<ShapeOutput<S>> {
  return (value) => {
    if (!isMap(value)) return null;
    const keys = Object.entries(shape).map(([key, read]) => [key, read(own(value, key))]);
    return Object.fromEntries(keys) as ShapeOutput<S>;
  };
}

// --- the table -----------------------------------------------------------------------------------------------------

const apiMode = oneOf<Exclude<ApiMode, 'offline'>>('chat_completions', 'responses', 'anthropic_messages');

/** Of each model that is configured: the main one, those that take over, and those for side jobs. */
const modelShape = {
  provider: text,
  name: text,
  base_url: text,
  api_mode: apiMode,
  api_key: listOf(text),
  context_length: number,
  max_output_tokens: number,
  stall_timeout_s: number,
  price: mapOf({ input: number, cached_input: number, cache_write: number, cache_write_long: number, output: number }),
};
const otherModel = mapOf(modelShape);

export type ModelInputs = ShapeOutput<typeof modelShape>;

/** Names of keys, wherever they stand, whose values are secrets. */
export const secretKeys: readonly string[] = ['api_key'] satisfies (keyof typeof modelShape)[];

type Use = 'rebuild' | 'per turn';
interface Row<U extends Use, T> {
  readonly use: U;
  readonly read: (config: unknown, live: LiveInputs) => T;
}

const fields = {
  ...section('rebuild', 'model', modelShape),
  fallback: row('rebuild', (config) => listOf(otherModel)(at(config, ['fallback']))),
  ...section('rebuild', 'auxiliary', {
    compression: otherModel,
    title: otherModel,
    approval: otherModel,
    vision: otherModel,
  }),
  ...section('rebuild', 'compression', {
    enabled: flag,
    threshold: number,
    target_ratio: number,
    protect_last_n: number,
  }),
  ...section('rebuild', 'terminal', {
    backend: oneOf('auto', 'bubblewrap', 'namespaces', 'landlock', 'docker', 'ssh', 'none'),
    cwd: text,
    timeout_s: number,
    network: listOf(text),
    folders: listOf(text),
    env: listOf(text),
    docker_image: text,
    ssh_target: text,
  }),
  toolsets: row('rebuild', (_config, live) => [...new Set(live.toolsets)].sort()),
  registry_generation: row('rebuild', (_config, live) => live.registryGeneration()),
  extra: row('rebuild', (_config, { extra = null }) =>
    isMap(extra) && Object.keys(extra).length === 0 ? null : extra,
  ),

  ...section('per turn', 'agent', {
    reasoning_effort: oneOf(...efforts),
    max_iterations: number,
    api_max_retries: number,
    trouble_deadline_s: number,
  }),
  ...section('per turn', 'gateway', { busy_mode: oneOf('steer', 'queue', 'interrupt') }),
  ...section('per turn', 'budget', { session_usd: number, day_usd: number }),
};

type Fields = typeof fields;
type FieldsOf<U extends Use> = {
  [Key in keyof Fields]: Fields[Key] extends Row<U, unknown> ? Key : never;
}[keyof Fields];

/** By flat dotted keys: `inputs['model.name']`. */
export type AgentInputs = { readonly [Key in keyof Fields]: ReturnType<Fields[Key]['read']> };
/** All that may go into an agent that outlives the turn. */
export type RebuildInputs = Pick<AgentInputs, FieldsOf<'rebuild'>>;
/** What is assigned to an agent at the start of each turn. */
export type TurnInputs = Pick<AgentInputs, FieldsOf<'per turn'>>;

export const rebuildKeys = keysOf('rebuild');
export const turnKeys = keysOf('per turn');

/** `config` is the resolved configuration, but nothing is taken for granted about it. */
export function readAgentInputs(config: unknown, live: LiveInputs): AgentInputs {
  const values = Object.entries(fields).map(([key, { read }]) => [key, read(config, live)]);
  return Object.fromEntries(values) as AgentInputs;
}

function row<U extends Use, T>(use: U, read: (config: unknown, live: LiveInputs) => T): Row<U, T> {
  return { use, read };
}

type SectionRows<U extends Use, Name extends string, S extends Shape> = {
  readonly [Key in keyof S & string as `${Name}.${Key}`]: Row<U, ReturnType<S[Key]>>;
};

/** A row for each key of a section of the configuration. */
function section<U extends Use, Name extends string, S extends Shape>(
  use: U,
  name: Name,
  shape: S,
): SectionRows<U, Name, S> {
  const rows = Object.entries(shape).map(([key, read]) => [
    `${name}.${key}`,
    row(use, (config) => read(at(config, [name, key]))),
  ]);
  return Object.fromEntries(rows) as SectionRows<U, Name, S>;
}

function keysOf<U extends Use>(use: U): readonly FieldsOf<U>[] {
  const keys = Object.entries(fields).flatMap(([key, { use: its }]) => (its === use ? [key] : []));
  return keys as FieldsOf<U>[];
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What a map holds itself; undefined if it does not, or is none. */
function own(value: unknown, key: string): unknown {
  return isMap(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

function at(value: unknown, path: readonly string[]): unknown {
  return path.reduce(own, value);
}
