import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { noTokens, type UsageSum } from '../protocol/usage.ts';
import { createStyle } from '../tui/style.ts';
import { firstDay, usageLines } from './status-usage.ts';

const sum: UsageSum = {
  ...noTokens,
  day: '2026-01-31',
  channel: 'web',
  user: 'owner',
  provider: 'openai',
  model: 'gpt',
  purpose: 'answer',
  calls: 2,
  inputTokens: 1_000,
  cachedTokens: 500,
  outputTokens: 30,
  usd: 0.5,
  unpricedCalls: 0,
};

describe('the sums of usage', () => {
  test('are shown by day, channel, user, model and purpose, and what has no price is said', () => {
    const unpriced: UsageSum = { ...sum, day: '2026-01-30', channel: 'cli', model: 'own', usd: 0, unpricedCalls: 2 };
    const title: UsageSum = { ...sum, purpose: 'title', calls: 1, inputTokens: 10, cachedTokens: 0, usd: 0.25 };
    assert.deepEqual(usageLines('2026-01-25', [sum, title, unpriced], createStyle(false)), [
      'since 2026-01-25: 5 calls, 2,010 in (1,000 cached, 49 %), 90 out, $0.75, and 2 calls of unknown cost',
      '',
      'DAY         CALLS  INPUT  CACHED  SHARE  OUTPUT  COST',
      '2026-01-31  3      1,010  500     49 %   60      $0.75',
      '2026-01-30  2      1,000  500     50 %   30      cost unknown',
      '',
      'CHANNEL  CALLS  INPUT  CACHED  SHARE  OUTPUT  COST',
      'web      3      1,010  500     49 %   60      $0.75',
      'cli      2      1,000  500     50 %   30      cost unknown',
      '',
      'USER   CALLS  INPUT  CACHED  SHARE  OUTPUT  COST',
      'owner  5      2,010  1,000   49 %   90      $0.75, and 2 calls of unknown cost',
      '',
      'MODEL       CALLS  INPUT  CACHED  SHARE  OUTPUT  COST',
      'openai/gpt  3      1,010  500     49 %   60      $0.75',
      'openai/own  2      1,000  500     50 %   30      cost unknown',
      '',
      'PURPOSE  CALLS  INPUT  CACHED  SHARE  OUTPUT  COST',
      'answer   4      2,000  1,000   50 %   60      $0.50, and 2 calls of unknown cost',
      'title    1      10     0       0 %    30      $0.25',
      '',
      'Where the cost is not known, no price is known for the model: the sums leave those calls out.',
    ]);
    assert.deepEqual(usageLines('2026-01-25', [], createStyle(false)), ['no model was called since 2026-01-25']);
  });

  test('begin on the day that makes so many with today', () => {
    const now = new Date(2026, 2, 30, 0, 30).getTime();
    assert.deepEqual(
      [firstDay(now, 1), firstDay(now, 2), firstDay(now, 31)],
      ['2026-03-30', '2026-03-29', '2026-02-28'],
    );
  });
});
