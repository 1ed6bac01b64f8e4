import assert from 'node:assert/strict';
import { test } from 'node:test';
import { efforts } from '../../../protocol/usage.ts';
import { testRuntime } from '../test-runtime.ts';
import { thinkingOff, thinkingSetting, wantsBindingHeader, wantsInterleavedHeader } from './thinking-setting.ts';

const adaptive = { type: 'adaptive', display: 'summarized' };
const bound = { ...adaptive, block_binding: { prefix_mismatch_behavior: 'drop_block' } };
const setting = (model: string, effort: Parameters<typeof thinkingSetting>[1]) =>
  thinkingSetting(testRuntime({ model }), effort);

test('older models are given a budget, and only if somebody asked for it', () => {
  const models = [
    'claude-3-7-sonnet-20250219',
    'claude-sonnet-4-20250514',
    'claude-opus-4-1',
    'claude-sonnet-4-5-20250929',
    'anthropic/claude-haiku-4.5',
  ];
  for (const model of models) {
    assert.deepEqual(setting(model, null), {}, model);
    assert.deepEqual(setting(model, 'none'), {}, model);
    assert.deepEqual(setting(model, 'low'), { thinking: { type: 'enabled', budget_tokens: 4096 } }, model);
  }
});

test('a budget is at least what the API wants and leaves room for the answer', () => {
  const budget = (outputTokensMax: number, effort: 'minimal' | 'max') =>
    thinkingSetting(testRuntime({ outputTokensMax }), effort).thinking?.budget_tokens;
  assert.deepEqual(
    [
      budget(64_000, 'max'),
      budget(16_000, 'max'),
      budget(16_000, 'minimal'),
      budget(1_366, 'max'),
      budget(1_000, 'max'),
    ],
    [32_768, 12_000, 1_024, 1_024, undefined],
  );
});

test('newer models are told an effort instead', () => {
  for (const model of [
    'claude-opus-4-6',
    'claude-sonnet-5',
    'claude-opus-5-5',
    'claude-haiku-5-5',
    'claude-fable-5-1',
  ]) {
    const words = efforts.slice(1).map((effort) => setting(model, effort).output_config?.effort);
    assert.deepEqual(words, ['low', 'low', 'medium', 'high', 'max'], model);
    assert.equal(setting(model, 'high').thinking?.type, 'adaptive', model);
  }
});

test('each generation is kept from thinking in its own way', () => {
  const least = { thinking: adaptive, output_config: { effort: 'low' } };
  const table = {
    'claude-opus-4-6': {},
    'claude-opus-4-8': {},
    'claude-sonnet-5': { thinking: { type: 'disabled' } },
    'claude-opus-5': { thinking: { type: 'disabled' } },
    'claude-haiku-5-5': { thinking: { type: 'disabled' } },
    'claude-sonnet-5-5': { thinking: { type: 'between_tools' } },
    'claude-opus-5-5': { ...least, thinking: bound },
    'claude-fable-5': least,
    'claude-mythos-preview': least,
    'claude-novel-7': { ...least, thinking: bound },
    'glm-5.3': { thinking: { type: 'disabled' } },
  };
  for (const [model, expected] of Object.entries(table)) {
    assert.deepEqual(setting(model, 'none'), expected, model);
    assert.deepEqual(thinkingOff(testRuntime({ model })), expected, model);
  }
});

test('a model that thinks by itself shows its thoughts; what others do is their own choice', () => {
  assert.deepEqual(setting('claude-sonnet-5', null), { thinking: adaptive });
  assert.deepEqual(setting('claude-opus-4-8', null), {});
  assert.deepEqual(setting('glm-5.3', null), {});
});

test('a model that does not think is asked for nothing', () => {
  const runtime = testRuntime({ model: 'claude-sonnet-5-5', reasons: false });
  for (const effort of [null, ...efforts]) assert.deepEqual(thinkingSetting(runtime, effort), {});
  assert.deepEqual(thinkingOff(runtime), {});
});

test('thoughts between calls need a header from 4 to 4.5', () => {
  const wants = (model: string) => wantsInterleavedHeader(testRuntime({ model }));
  assert.deepEqual(
    ['claude-3-7-sonnet-latest', 'claude-opus-4-0', 'claude-haiku-4-5', 'claude-opus-4-6', 'glm-5.3'].map(wants),
    [false, true, true, false, false],
  );
});

test('the newest models are told to pass over thoughts whose prompt has changed, by their maker alone', () => {
  const wants = (model: string, provider = 'anthropic') => wantsBindingHeader(testRuntime({ model, provider }));
  assert.deepEqual(
    ['claude-sonnet-5-5', 'claude-haiku-5-5', 'claude-fable-5-1', 'claude-opus-5', 'claude-fable-5', 'glm-5.3'].map(
      (model) => wants(model),
    ),
    [true, true, true, false, false, false],
  );
  assert.equal(wants('claude-sonnet-5-5', 'custom'), false);
  assert.deepEqual(setting('claude-sonnet-5-5', null), { thinking: bound });
  assert.deepEqual(thinkingSetting(testRuntime({ model: 'claude-sonnet-5-5', provider: 'custom' }), null), {
    thinking: adaptive,
  });
});
