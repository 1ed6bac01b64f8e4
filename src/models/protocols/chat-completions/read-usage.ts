/** What an answer used, in the spellings of all who speak this dialect. The numbers always fit together. Pure. */
import { noTokens, type TokenUsage } from '../../../protocol/usage.ts';

type Fields = Readonly<Record<string, unknown>>;

export interface ReadUsage {
  readonly usage: TokenUsage;
  readonly usd: number | null;
}

export const unknownUsage: ReadUsage = { usage: noTokens, usd: null };

/** Null if it is no account of usage. */
export function readUsage(value: unknown): ReadUsage | null {
  if (typeof value !== 'object' || value === null) return null;
  const usage = value as Fields;
  const read = inner(usage, 'prompt_tokens_details') ?? inner(usage, 'input_tokens_details') ?? {};
  const written = inner(usage, 'completion_tokens_details') ?? inner(usage, 'output_tokens_details') ?? {};
  const inputTokens = first(usage['prompt_tokens'], usage['input_tokens']);
  const total = first(usage['total_tokens']);
  // Some count reasoning apart: what is in the total and nowhere else was written.
  const outputTokens = Math.max(first(usage['completion_tokens'], usage['output_tokens']), total - inputTokens, 0);
  if (inputTokens === 0 && outputTokens === 0) return null;
  const cachedTokens = Math.min(
    inputTokens,
    first(read['cached_tokens'], usage['prompt_cache_hit_tokens'], usage['cached_tokens']),
  );
  const cacheWriteTokens = Math.min(
    inputTokens - cachedTokens,
    first(read['cache_write_tokens'], usage['cache_creation_input_tokens']),
  );
  const reasoningTokens = Math.min(outputTokens, first(written['reasoning_tokens'], usage['reasoning_tokens']));
  return { usage: { inputTokens, cachedTokens, cacheWriteTokens, outputTokens, reasoningTokens }, usd: costOf(usage) };
}

/** With a key of one's own at an aggregator, the model is paid elsewhere, and the aggregator says how much. */
function costOf(usage: Fields): number | null {
  const { cost } = usage;
  if (typeof cost !== 'number' || !Number.isFinite(cost) || cost < 0) return null;
  const upstream = inner(usage, 'cost_details')?.['upstream_inference_cost'];
  return usage['is_byok'] === true && typeof upstream === 'number' ? cost + upstream : cost;
}

function inner(fields: Fields, name: string): Fields | null {
  const value = fields[name];
  return typeof value === 'object' && value !== null ? (value as Fields) : null;
}

/** The first that is a number, as whole tokens; 0 if none is. */
function first(...values: readonly unknown[]): number {
  const found = values.find((value) => typeof value === 'number' && Number.isFinite(value) && value >= 0);
  return typeof found === 'number' ? Math.round(found) : 0;
}
