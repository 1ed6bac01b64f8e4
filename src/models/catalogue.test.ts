import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { catalogue } from './catalogue-data.ts';
import { cataloguedOn, findModel } from './catalogue.ts';
import { isProvider } from './providers.ts';

describe('the catalogue', () => {
  test('has a date', () => {
    assert.match(cataloguedOn, /^20\d{2}-\d{2}-\d{2}$/);
  });

  for (const [provider, rows] of Object.entries(catalogue)) {
    test(`of ${provider} has each name once, and only numbers that make sense`, () => {
      assert.ok(isProvider(provider));
      const names = rows.flatMap((row) => row.names);
      assert.deepEqual([...new Set(names)], names);
      for (const { names: own, contextLength, outputTokensMax, price, longPrice } of rows) {
        const [name = ''] = own;
        assert.ok(contextLength === null || contextLength >= 8_000, name);
        assert.ok(outputTokensMax === null || (outputTokensMax > 0 && outputTokensMax <= (contextLength ?? 0)), name);
        for (const { input, cachedInput, cacheWrite, cacheWriteLong, output } of [
          price,
          longPrice?.price ?? null,
        ].filter((one) => one !== null)) {
          // Unknown is null; nothing that is in here is for nothing.
          assert.ok(cachedInput > 0 && cachedInput <= input && input < output, name);
          assert.ok(input <= cacheWrite && cacheWrite <= cacheWriteLong, name);
        }
        if (longPrice !== null) assert.ok((price?.input ?? Infinity) < longPrice.price.input, name);
      }
    });
  }
});

describe('a model is found', () => {
  const price = (provider: string, name: string) => findModel(provider, name)?.price?.input ?? null;

  test('by its name', () => {
    assert.deepEqual(findModel('anthropic', 'claude-sonnet-5-5'), {
      contextLength: 1_000_000,
      outputTokensMax: 128_000,
      reasons: true,
      seesImages: true,
      price: { input: 2, cachedInput: 0.1, cacheWrite: 2.5, cacheWriteLong: 4, output: 10 },
      longPrice: null,
      quirks: [],
    });
  });

  const names: readonly (readonly [what: string, provider: string, name: string, input: number])[] = [
    ['with a date', 'anthropic', 'claude-haiku-4-5-20251001', 1],
    ['with a date in parts', 'openai', 'gpt-4o-2024-08-06', 2.5],
    ['as the latest', 'anthropic', 'claude-sonnet-4-5-latest', 3],
    ['as a preview', 'google', 'gemini-2.5-flash-preview-05-20', 0.3],
    ['with a folder before it', 'google', 'models/gemini-3.8-flash', 1.5],
    ['with another sign', 'openai', 'GPT-6.1-Sol', 2],
    ['under an older name', 'deepseek', 'deepseek-v4-flash', 0.3],
    ['with its maker', 'groq', 'openai/gpt-oss-120b', 0.15],
    ['at an aggregator', 'openrouter', 'anthropic/claude-sonnet-5.5', 2],
    ['at an aggregator that follows it', 'openrouter', '~openai/gpt-6.1-sol', 2],
    ['in a variant', 'openrouter', 'x-ai/grok-4.7:exacto', 2],
  ];
  for (const [what, provider, name, input] of names) {
    test(what, () => {
      assert.equal(price(provider, name), input);
    });
  }

  test('for nothing where its name says so', () => {
    assert.equal(price('openrouter', 'deepseek/deepseek-v4-flash:free'), 0);
  });

  test('without a price where others than its maker set it', () => {
    for (const [provider, name] of [
      ['openrouter', 'deepseek/deepseek-v4-pro'],
      ['openrouter', 'openai/gpt-6.1-sol:batch'],
      ['nous', 'anthropic/claude-sonnet-5.5'],
      ['openai-codex', 'gpt-6.1-sol'],
      ['custom', 'claude-sonnet-5-5'],
      ['custom', 'anthropic/claude-sonnet-5.5'],
    ] as const) {
      const found = findModel(provider, name);
      assert.deepEqual([found?.price, found?.longPrice, found?.reasons], [null, null, true], `${provider} ${name}`);
    }
  });

  test('without limits and a price if it is newer than what is known of its family', () => {
    const newer = { contextLength: null, outputTokensMax: null, price: null, longPrice: null, quirks: [] };
    const can = { reasons: true, seesImages: true };
    for (const [provider, name] of [
      ['openai', 'gpt-6.2-sol'],
      ['anthropic', 'claude-opus-7'],
      ['anthropic', 'claude-sonnet-5-5-fast'],
      ['openrouter', 'google/gemini-5-neon'],
      ['custom', 'grok-5'],
    ] as const) {
      assert.deepEqual(findModel(provider, name), { ...newer, ...can }, `${provider} ${name}`);
    }
    assert.deepEqual(findModel('zai', 'glm-6'), { ...newer, reasons: true, seesImages: false });
  });

  test('only if it is that one: a name like it says nothing', () => {
    for (const [provider, name] of [
      ['openai', 'gpt-4-turbo'],
      ['openai', 'gpt-5-chat-latest'],
      ['openai', 'claude-sonnet-5-5'],
      ['anthropic', 'claude-3-5-haiku-latest'],
      ['mistral', 'mistral-medium-2505'],
      ['xai', 'grok-4.20-0309-non-reasoning'],
      ['openrouter', 'claude-sonnet-5.5'],
      ['openrouter', 'somebody/claude-sonnet-5.5'],
      ['toString', 'x'],
      ['openai', ''],
    ] as const) {
      assert.equal(findModel(provider, name), null, `${provider} ${name}`);
    }
  });
});
