/** What a model call costs: before it as a reservation, after it from what was used. Unknown prices stay unknown. */
import type { ModelRequest, Price, Runtime } from '../models/model.ts';
import type { TokenUsage, Usage } from '../protocol/usage.ts';

const bytesPerToken = 4;
/** Longer answers are rare; one that is longer may overrun a budget by its rest. */
const reservedOutputTokens = 4_096;
const million = 1_000_000;

/** A rough count, from the bytes that are sent. */
export function estimateTokens(texts: readonly string[]): number {
  let bytes = 0;
  for (const text of texts) bytes += Buffer.byteLength(text);
  return Math.ceil(bytes / bytesPerToken);
}

/** The most that a call is likely to cost, with nothing read from a cache. */
export function reservation(runtime: Runtime, inputTokens: number): number | null {
  if (runtime.price === null) return null;
  const price = priceAt(runtime.price, inputTokens);
  const outputTokens = Math.min(runtime.outputTokensMax, reservedOutputTokens);
  return (inputTokens * Math.max(price.input, price.cacheWrite) + outputTokens * price.output) / million;
}

/** `usd`: what the provider itself says it cost. */
export function priced(
  usage: TokenUsage,
  usd: number | null,
  price: Price | null,
  pace: ModelRequest['cachePace'],
): Usage {
  return { ...usage, usd: usd ?? (price === null ? null : costOf(usage, priceAt(price, usage.inputTokens), pace)) };
}

/** Some providers charge more for the whole call when the prompt is long. */
function priceAt(price: Price, inputTokens: number): Price {
  return price.above !== undefined && inputTokens > price.above.inputTokens ? price.above.price : price;
}

function costOf(usage: TokenUsage, price: Price, pace: ModelRequest['cachePace']): number {
  const { inputTokens, cachedTokens, cacheWriteTokens, outputTokens } = usage;
  const plain = Math.max(0, inputTokens - cachedTokens - cacheWriteTokens);
  const write = pace === 'long' ? price.cacheWriteLong : price.cacheWrite;
  const input = plain * price.input + cachedTokens * price.cachedInput + cacheWriteTokens * write;
  return (input + outputTokens * price.output) / million;
}
