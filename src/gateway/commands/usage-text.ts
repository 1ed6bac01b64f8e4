/** Tokens and money in words. What is not known is said, never counted as nothing. */
import type { ModelCallRecord, UsageSum } from '../../protocol/usage.ts';

export interface UsageTotal {
  readonly calls: number;
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly outputTokens: number;
  /** Of the calls with a known price. */
  readonly usd: number;
  readonly unpricedCalls: number;
}

const noUsage: UsageTotal = { calls: 0, inputTokens: 0, cachedTokens: 0, outputTokens: 0, usd: 0, unpricedCalls: 0 };

export function totalOfCalls(records: readonly ModelCallRecord[]): UsageTotal {
  return records.map(ofCall).reduce(added, noUsage);
}

export function totalOfSums(sums: readonly UsageSum[]): UsageTotal {
  return sums.reduce(added, noUsage);
}

function ofCall({ usage }: ModelCallRecord): UsageTotal {
  if (usage === null) return { ...noUsage, calls: 1 };
  return { ...usage, calls: 1, usd: usage.usd ?? 0, unpricedCalls: usage.usd === null ? 1 : 0 };
}

function added(total: UsageTotal, more: UsageTotal): UsageTotal {
  return {
    calls: total.calls + more.calls,
    inputTokens: total.inputTokens + more.inputTokens,
    cachedTokens: total.cachedTokens + more.cachedTokens,
    outputTokens: total.outputTokens + more.outputTokens,
    usd: total.usd + more.usd,
    unpricedCalls: total.unpricedCalls + more.unpricedCalls,
  };
}

export function countText(count: number): string {
  return count.toLocaleString('en-US');
}

export function usdText(usd: number): string {
  if (usd === 0) return '$0';
  if (usd < 0.000_1) return 'less than $0.0001';
  return `$${usd.toFixed(usd < 0.1 ? 4 : 2)}`;
}

/** `3 calls, 1,234 tokens in (1,000 cached), 56 out, $0.0042`. */
export function usageLine(total: UsageTotal): string {
  const { calls, inputTokens, cachedTokens, outputTokens, usd, unpricedCalls } = total;
  const cached = cachedTokens === 0 ? '' : ` (${countText(cachedTokens)} cached)`;
  const tokens = `${countText(inputTokens)} tokens in${cached}, ${countText(outputTokens)} out`;
  const known = unpricedCalls > 0 && usd === 0 ? 'cost unknown' : usdText(usd);
  const unknown = unpricedCalls > 0 && usd > 0 ? `, and ${unpricedCalls} of unknown cost` : '';
  return `${calls} ${calls === 1 ? 'call' : 'calls'}, ${tokens}, ${known}${unknown}`;
}
