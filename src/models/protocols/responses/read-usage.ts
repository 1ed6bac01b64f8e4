/** What a response says that it used. The input counts everything that was read, from the cache or not. */
import type { TokenUsage } from '../../../protocol/usage.ts';

export function readUsage(usage: unknown): { readonly usage: TokenUsage; readonly usd: number | null } {
  const input = member(usage, 'input_tokens_details');
  const output = member(usage, 'output_tokens_details');
  const cost = member(usage, 'cost');
  return {
    usage: {
      inputTokens: count(usage, 'input_tokens'),
      cachedTokens: count(input, 'cached_tokens'),
      cacheWriteTokens: count(input, 'cache_write_tokens'),
      outputTokens: count(usage, 'output_tokens'),
      reasoningTokens: count(output, 'reasoning_tokens'),
    },
    // An aggregator's word.
    usd: typeof cost === 'number' ? cost : null,
  };
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

function count(value: unknown, name: string): number {
  const found = member(value, name);
  return typeof found === 'number' ? found : 0;
}
