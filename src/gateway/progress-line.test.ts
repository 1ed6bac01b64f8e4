import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { beatAfterMs, callInWords, durationInWords, oneLine, progressLine } from './progress-line.ts';

void describe('the progress line', () => {
  void test('says which tool works on what, and for how long', () => {
    const words = callInWords({ name: 'terminal', arguments: '{"cwd":"/x","command":"npm\\n  test"}' });
    assert.equal(progressLine({ words, since: 1_000 }, 13_900, 200), 'terminal: npm test · 12 s');
  });

  void test('a call that says nothing readable is named by its tool', () => {
    for (const written of ['', 'no json', '[]', 'null', '{"count":3}', '{"text":""}']) {
      assert.equal(callInWords({ name: 'clock', arguments: written }), 'clock');
    }
    assert.equal(callInWords({ name: 'note', arguments: '{"about":"tea","count":3}' }), 'note: tea');
  });

  void test('times are short words', () => {
    const times = [0, 999, 59_999, 60_000, 61_000, 3_600_000, 3_661_000, 90_000_000].map(durationInWords);
    assert.deepEqual(times, ['0 s', '0 s', '59 s', '1 min', '1 min 1 s', '1 h', '1 h 1 min', '25 h']);
  });

  void test('a line is one line within its limit, opens no code block and cuts no character', () => {
    assert.equal(oneLine('a\r\n\tb   c', 10), 'a b c');
    assert.equal(oneLine('```js and ~~~~ too', 40), "'js and ' too");
    assert.equal(oneLine('abcdefgh', 5), 'abcd…');
    assert.equal(oneLine('abc😀😀', 5), 'abc…');
    assert.equal(progressLine({ words: 'x'.repeat(50), since: 0 }, 12_000, 20), `${'x'.repeat(12)}… · 12 s`);
    assert.equal(progressLine({ words: '', since: 0 }, 12_000, 20), '');
  });

  void test('the longer it lasts, the more seldom its seconds go on', () => {
    assert.deepEqual([0, 59_999, 60_000, 600_000].map(beatAfterMs), [10_000, 10_000, 30_000, 120_000]);
  });
});
