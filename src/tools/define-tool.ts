/**
 * Builds a tool from one schema: what the model is told and what is checked can't differ. The JSON Schema is kept
 * small, because it is sent with every request; a wrong argument comes back as a sentence the model can act on.
 */
import * as z from 'zod/mini';
import { assert } from '../lib/assert.ts';
import { argumentProblem } from './argument-problem.ts';
import type { SideBySide, Tool, ToolContext, ToolEffect, ToolOutcome, ToolReplay } from './tool.ts';

export interface ToolSpec<Schema extends z.ZodMiniObject> {
  readonly name: string;
  readonly description: string;
  readonly effect: ToolEffect;
  readonly replay: ToolReplay;
  /** A `z.strictObject`: unknown keys are mistakes. */
  readonly schema: Schema;
  readonly run: (input: z.output<Schema>, context: ToolContext) => Promise<ToolOutcome>;
  /** Exactly if `replay` is `attach`. */
  readonly attach?: Tool<z.output<Schema>>['attach'];
  readonly sideBySide?: (input: z.output<Schema>) => SideBySide;
  readonly worksOn?: (input: z.output<Schema>) => readonly string[];
}

export function defineTool<Schema extends z.ZodMiniObject>(spec: ToolSpec<Schema>): Tool<z.output<Schema>> {
  const { name, description, effect, replay, schema, run, attach, sideBySide, worksOn } = spec;
  assert((attach !== undefined) === (replay === 'attach'), `${name} must say how to attach if, and only if, it can`);
  const knownKeys = Object.keys(schema.shape);
  return {
    definition: Object.freeze({ name, description, parameters: parametersOf(schema) }),
    effect,
    replay,
    parse(input) {
      const checked = schema.safeParse(input);
      if (checked.success) return { ok: true, value: checked.data };
      return { ok: false, problem: argumentProblem(checked.error.issues, knownKeys, input) };
    },
    run,
    ...(attach === undefined ? {} : { attach }),
    ...(sideBySide === undefined ? {} : { sideBySide }),
    ...(worksOn === undefined ? {} : { worksOn }),
  };
}

function parametersOf(schema: z.ZodMiniObject): Readonly<Record<string, unknown>> {
  const { $schema: _dialect, ...parameters } = z.toJSONSchema(schema, { io: 'input' });
  return Object.freeze(trimmed(parameters) as object) as Readonly<Record<string, unknown>>;
}

/** What a model keeps to without being told; whoever does not is told then. */
const untold: ReadonlySet<string> = new Set([
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'minimum',
  'maximum',
  'additionalProperties',
]);

/** Drops what tells a model nothing, and spells a constant in the way that every provider reads. */
function trimmed(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(trimmed);
  if (typeof node !== 'object' || node === null) return node;
  const kept: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(node)) {
    if (value === Number.MAX_SAFE_INTEGER || value === Number.MIN_SAFE_INTEGER || untold.has(key)) continue;
    if (key === 'const') kept['enum'] = [value];
    else kept[key] = trimmed(value);
  }
  return kept;
}
