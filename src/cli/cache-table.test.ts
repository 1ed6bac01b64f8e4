import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { countingIdSource } from '../lib/ids.ts';
import { noTokens, type ModelCallRecord } from '../protocol/usage.ts';
import { createStyle } from '../tui/style.ts';
import { cacheLines, reasonWords } from './cache-table.ts';

const ids = countingIdSource();
const at = new Date(2026, 0, 31, 9, 5).getTime();

function call(changes: Partial<ModelCallRecord>): ModelCallRecord {
  return {
    id: ids.next('mdl'),
    turnId: ids.next('trn'),
    purpose: 'answer',
    provider: 'openai',
    model: 'gpt',
    keyId: 'k',
    state: 'completed',
    startedAt: at,
    endedAt: at,
    usage: null,
    error: null,
    promptUnits: 4,
    promptUnitsKept: 4,
    prefixBreak: null,
    ...changes,
  };
}

const usage = { ...noTokens, inputTokens: 1_000, outputTokens: 20, usd: 0.01 };

describe('the table of model calls', () => {
  test('C96 shows per model call its tokens, cached tokens and the reason for every break', () => {
    const lines = cacheLines(
      [
        call({ usage, promptUnitsKept: 0, prefixBreak: 'first-call' }),
        call({ usage: { ...usage, inputTokens: 1_200, cachedTokens: 1_000, usd: null }, promptUnits: 6 }),
        call({ usage, prefixBreak: 'model-changed', promptUnitsKept: 2, model: 'other' }),
        call({ state: 'failed', error: 'HTTP 503:\noverloaded\u001b[2J' }),
        call({ state: 'lost', usage, purpose: 'title', prefixBreak: 'unexplained', promptUnitsKept: 1 }),
      ],
      createStyle(false),
    );
    assert.deepEqual(lines, [
      'WHEN              PURPOSE  MODEL         INPUT  CACHED  SHARE  OUTPUT  COST     PREFIX  NOTE',
      '2026-01-31 09:05  answer   openai/gpt    1,000  0       0 %    20      $0.0100  0/4     first call',
      '2026-01-31 09:05  answer   openai/gpt    1,200  1,000   83 %   20      ?        4/6',
      '2026-01-31 09:05  answer   openai/other  1,000  0       0 %    20      $0.0100  2/4     the model was changed',
      '2026-01-31 09:05  answer   openai/gpt    -      -       -      -       -        4/4     failed; HTTP 503: overloaded',
      '2026-01-31 09:05  title    openai/gpt    1,000  0       0 %    20      $0.0100  1/4     ' +
        'NO REASON ON RECORD: a bug in Talaria; the program died in it; its usage is an estimate',
      '',
      '5 calls, 4,200 in (1,000 cached, 23 %), 80 out, $0.0300, and 1 call of unknown cost',
      '2 broken prefixes, 1 without a reason',
    ]);
  });

  test('C96 has words for every reason', () => {
    const words = Object.values(reasonWords);
    assert.equal(new Set(words).size, words.length);
    for (const [reason, text] of Object.entries(reasonWords)) {
      assert.match(
        cacheLines([call({ prefixBreak: reason as never })], createStyle(false)).join('\n'),
        new RegExp(text),
      );
    }
  });
});
