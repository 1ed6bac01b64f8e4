import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { matchText, searchTerms } from './search-terms.ts';

test('a query is words and phrases, folded; signs mean nothing', () => {
  assert.deepEqual(searchTerms('Crème "two  WORDS" don’t !? 東京タワーtower'), [
    ['creme'],
    ['two', 'words'],
    ['don', 't'],
    ['東京タワー', 'tower'],
  ]);
  assert.deepEqual(searchTerms('" \' -- ()'), []);
  // However somebody writes them who has no such key.
  assert.deepEqual(searchTerms('Straße STRASSE Łódź Øre Ærø ışık ΟΔΟΣ'), [
    ['strasse'],
    ['strasse'],
    ['lodz'],
    ['ore'],
    ['aero'],
    ['isik'],
    ['οδοσ'],
  ]);
});

test('whatever stands in a text is found in it by its words', () => {
  const word = fc.oneof(
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 }),
    fc.constantFrom('a', 'ab', '漢字', 'é'),
  );
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 8 }), fc.nat(), (words, pick) => {
      const text = words.join(' ').toWellFormed();
      const terms = searchTerms((words[pick % words.length] ?? '').replaceAll('"', ' '));
      assert.notEqual(matchText(text, terms), null, JSON.stringify([text, terms]));
    }),
  );
});

test('marks stand around what was looked for, and nothing else changes', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme-ascii', maxLength: 200 }), fc.string({ maxLength: 5 }), (text, query) => {
      const plain = text.replaceAll(/[‹›…]/gu, '');
      const match = matchText(plain, searchTerms(query));
      if (match !== null) assert.equal(match.snippet.replaceAll(/[‹›]/gu, ''), plain);
    }),
  );
});

test('a long text is looked at where it matters, with the same outcome', () => {
  const filler = 'the quick brown fox jumps over the lazy dog. '.repeat(400);
  const cases: readonly (readonly [text: string, query: string, snippet: RegExp, isWhole: boolean])[] = [
    [`${filler}a needle here ${filler}`, 'Needle', /a ‹needle› here/, true],
    [`${filler}two needles here ${filler}`, 'needle', /two ‹needle›s here/, false],
    [`${filler}two needles ${filler} one needle ${filler}`, 'needle', /one ‹needle› the/, true],
    [`${filler}a needle ${filler} and hay ${filler}`, 'hay needle', /a ‹needle› the/, true],
    [`${filler}das Cafe\u0301 ${filler}`, 'café', /das ‹Cafe\u0301› the/, true],
    [`${filler}${'x'.repeat(5_000)}needle${'x'.repeat(5_000)} ${filler}`, 'needle', /x‹needle›x/, false],
    [`${'cab '.repeat(4_000)}and about it ${filler}`, 'ab', /and ‹ab›out it/, false],
    [`${filler}a green apple ${filler}`, '"green apple"', /a ‹green apple› the/, true],
  ];
  for (const [text, query, snippet, isWhole] of cases) {
    const match = matchText(text, searchTerms(query));
    assert.match(match?.snippet ?? '', snippet, query);
    assert.equal(match?.isWhole, isWhole, query);
  }
  assert.equal(matchText(filler, searchTerms('needle')), null);
});
