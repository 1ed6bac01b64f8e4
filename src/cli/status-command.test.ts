import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeApi, FakeHome } from '../../test/support/fake-api.ts';
import { statusText } from './status-command.ts';

test('the status shows model, fallback, resting keys and what today cost', async () => {
  const now = 1_000_000;
  const status = await new FakeApi(new FakeHome(), {
    status: {
      model: { provider: 'openai', name: 'gpt' },
      fallback: [
        { provider: 'anthropic', name: 'claude' },
        { provider: 'ollama', name: 'qwen' },
      ],
      keys: [
        { provider: 'openai', key: 'a1b2', reason: null, rests_until: null },
        { provider: 'openai', key: 'c3d4', reason: 'rate-limit', rests_until: now + 120_000 },
      ],
      usage: {
        input_tokens: 1_000,
        cached_tokens: 900,
        output_tokens: 50,
        reasoning_tokens: 10,
        usd: 1.5,
        unpriced_calls: 2,
        today_usd: 0.25,
      },
      prefix_breaks: 1,
    },
  }).status();
  const lines = statusText('http://x', status, now).split('\n');
  assert.deepEqual(lines.slice(1, 5), [
    'model     openai gpt',
    'fallback  anthropic claude, ollama qwen',
    'keys      1 of 2 work',
    '          openai c3d4 rests after rate-limit, for 2 min more',
  ]);
  assert.ok(lines.includes('tokens    1,000 in (900 cached, 90 %), 50 out (10 reasoning)'));
  assert.ok(lines.includes('cost      $0.25 today, $1.50, and 2 calls of unknown cost in all'));
  assert.ok(lines.includes('prompts   1 broke their prefix without a reason'));
});
