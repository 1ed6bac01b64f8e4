import assert from 'node:assert/strict';
import test from 'node:test';
import { scriptedRuntime } from '../models/scripted-model.ts';
import { estimateTokens, priced, reservation } from './call-cost.ts';

const price = { input: 3, cachedInput: 0.3, cacheWrite: 3.75, cacheWriteLong: 6, output: 15 };
const usage = {
  inputTokens: 1_000_000,
  cachedTokens: 600_000,
  cacheWriteTokens: 300_000,
  outputTokens: 100_000,
  reasoningTokens: 50_000,
};

test('a call costs its plain, cached and written input and all of its output', () => {
  assert.equal(priced(usage, null, price, 'short').usd, 0.1 * 3 + 0.6 * 0.3 + 0.3 * 3.75 + 0.1 * 15);
  assert.equal(priced(usage, null, price, 'long').usd, 0.1 * 3 + 0.6 * 0.3 + 0.3 * 6 + 0.1 * 15);
});

test('what the provider says it cost counts, and an unknown price stays unknown', () => {
  assert.deepEqual(priced(usage, 0.42, null, 'short'), { ...usage, usd: 0.42 });
  assert.deepEqual(priced(usage, null, null, 'short'), { ...usage, usd: null });
  assert.equal(priced(usage, 0.42, price, 'short').usd, 0.42);
});

test('a long prompt may cost more, all of it', () => {
  const tiered = { ...price, above: { inputTokens: 200_000, price: { ...price, input: 6, output: 30 } } };
  const plain = { ...usage, inputTokens: 200_000, cachedTokens: 0, cacheWriteTokens: 0 };
  assert.equal(priced(plain, null, tiered, 'short').usd, 0.2 * 3 + 0.1 * 15);
  assert.equal(priced({ ...plain, inputTokens: 200_001 }, null, tiered, 'short').usd, 0.200001 * 6 + 0.1 * 30);
});

test('a reservation is for a prompt that nothing is cached of, and an answer of usual length', () => {
  const runtime = scriptedRuntime({ price, outputTokensMax: 1_000 });
  assert.equal(reservation(runtime, 1_000_000), 3.75 + 0.015);
  assert.equal(reservation({ ...runtime, outputTokensMax: 64_000 }, 0), (4_096 * 15) / 1_000_000);
  assert.equal(reservation({ ...runtime, price: null }, 1_000), null);
});

test('tokens are estimated from bytes, so that other scripts are not underestimated', () => {
  assert.equal(estimateTokens(['abcd', 'efgh']), 2);
  assert.equal(estimateTokens(['日本語の文']), 4);
});
