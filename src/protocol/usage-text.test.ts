import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { countingIdSource } from '../lib/ids.ts';
import { noTokens, type ModelCallRecord, type Usage } from './usage.ts';
import { costText, noUsage, shareText, tokensText, totalOfCalls, usdText } from './usage-text.ts';

const ids = countingIdSource();

function call(usage: Usage | null): ModelCallRecord {
  return {
    id: ids.next('mdl'),
    turnId: null,
    purpose: 'answer',
    provider: 'openai',
    model: 'gpt',
    keyId: 'k',
    state: 'completed',
    startedAt: 0,
    endedAt: 1,
    usage,
    error: null,
    promptUnits: 1,
    promptUnitsKept: 0,
    prefixBreak: 'first-call',
  };
}

describe('usage in words', () => {
  test('a call without usage counts, and costs nothing; one without a price is said to have none', () => {
    const usage: Usage = { ...noTokens, inputTokens: 10, cachedTokens: 4, outputTokens: 2, usd: 0.5 };
    const total = totalOfCalls([call(usage), call({ ...usage, usd: null }), call(null)]);
    assert.deepEqual(total, {
      ...noUsage,
      calls: 3,
      inputTokens: 20,
      cachedTokens: 8,
      outputTokens: 4,
      usd: 0.5,
      unpricedCalls: 1,
    });
    assert.equal(costText(total), '$0.50, and 1 call of unknown cost');
    assert.equal(costText({ usd: 0, unpricedCalls: 2 }), 'cost unknown');
    assert.equal(costText(noUsage), '$0');
  });

  test('small sums are not rounded to nothing', () => {
    assert.deepEqual([0, 0.000_01, 0.000_1, 0.004_21, 0.123, 12.3].map(usdText), [
      '$0',
      'less than $0.0001',
      '$0.0001',
      '$0.0042',
      '$0.12',
      '$12.30',
    ]);
  });

  test('shares are rounded down', () => {
    assert.deepEqual([shareText(999, 1000), shareText(1, 1), shareText(0, 0)], ['99 %', '100 %', '-']);
    assert.equal(
      tokensText({ ...noTokens, inputTokens: 1_234, cachedTokens: 1_000, outputTokens: 56, reasoningTokens: 20 }),
      '1,234 in (1,000 cached, 81 %), 56 out (20 reasoning)',
    );
    assert.equal(tokensText(noTokens), '0 in, 0 out');
  });
});
