/** Tokens and money in words, and sums over model calls. What is not known is said, never counted as nothing. */
import { noTokens, type ModelCallRecord, type TokenUsage, type UsageSum } from './usage.ts';

export interface UsageTotal extends TokenUsage {
  readonly calls: number;
  /** Of the calls with a known price. */
  readonly usd: number;
  readonly unpricedCalls: number;
}

export const noUsage: UsageTotal = { ...noTokens, calls: 0, usd: 0, unpricedCalls: 0 };

export function totalOfCalls(records: readonly ModelCallRecord[]): UsageTotal {
  let total = noUsage;
  for (const { usage } of records) {
    if (usage === null) total = { ...total, calls: total.calls + 1 };
    else total = added(total, { ...usage, calls: 1, usd: usage.usd ?? 0, unpricedCalls: usage.usd === null ? 1 : 0 });
  }
  return total;
}

export function totalOfSums(sums: readonly UsageSum[]): UsageTotal {
  return sums.reduce(added, noUsage);
}

function added(total: UsageTotal, more: UsageTotal): UsageTotal {
  return {
    calls: total.calls + more.calls,
    inputTokens: total.inputTokens + more.inputTokens,
    cachedTokens: total.cachedTokens + more.cachedTokens,
    cacheWriteTokens: total.cacheWriteTokens + more.cacheWriteTokens,
    outputTokens: total.outputTokens + more.outputTokens,
    reasoningTokens: total.reasoningTokens + more.reasoningTokens,
    usd: total.usd + more.usd,
    unpricedCalls: total.unpricedCalls + more.unpricedCalls,
  };
}

export function countText(count: number): string {
  return count.toLocaleString('en-US');
}

/** `$12.30`, and as many places as it takes to see small sums: `$0.0042`. */
export function usdText(usd: number): string {
  if (usd === 0) return '$0';
  if (usd < 0.000_1) return 'less than $0.0001';
  return `$${usd.toFixed(usd < 0.1 ? 4 : 2)}`;
}

/** `?` where no price is known. */
export function knownUsdText(usd: number | null): string {
  return usd === null ? '?' : usdText(usd);
}

/** What a total cost, with what is not known about it. */
export function costText({ usd, unpricedCalls }: Pick<UsageTotal, 'usd' | 'unpricedCalls'>): string {
  if (unpricedCalls === 0) return usdText(usd);
  if (usd === 0) return 'cost unknown';
  return `${usdText(usd)}, and ${unpricedCalls} ${unpricedCalls === 1 ? 'call' : 'calls'} of unknown cost`;
}

/** `1,234 in (1,000 cached, 81 %), 56 out (20 reasoning)`. */
export function tokensText(usage: TokenUsage): string {
  const cached =
    usage.cachedTokens === 0
      ? ''
      : ` (${countText(usage.cachedTokens)} cached, ${shareText(usage.cachedTokens, usage.inputTokens)})`;
  const reasoning = usage.reasoningTokens === 0 ? '' : ` (${countText(usage.reasoningTokens)} reasoning)`;
  return `${countText(usage.inputTokens)} in${cached}, ${countText(usage.outputTokens)} out${reasoning}`;
}

/** Rounded down: 100 % is said only of all. */
export function shareText(part: number, whole: number): string {
  return whole === 0 ? '-' : `${Math.floor((part / whole) * 100)} %`;
}
