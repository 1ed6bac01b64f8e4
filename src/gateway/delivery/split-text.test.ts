import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { partCharsMin, splitText } from './split-text.ts';

void describe('splitting a text', () => {
  void test('a text that fits stays as it is', () => {
    for (const text of ['', ' \n', 'hello\n', 'x'.repeat(100)]) assert.deepEqual(splitText(text, 100), [text]);
  });

  void test('the cut is after a paragraph, else a line, a sentence, a word', () => {
    const cases: Readonly<Record<string, readonly string[]>> = {
      'First one. And more.\n\nSecond\none here, long enough.': [
        'First one. And more.',
        'Second\none here, long enough.',
      ],
      'First line. Still the first\nand the second line.': ['First line. Still the first', 'and the second line.'],
      'It is so. Is it (not so?) And then on': ['It is so. Is it (not so?)', 'And then on'],
      'many words that go on and on without': ['many words that go on and on', 'without'],
    };
    for (const [text, parts] of Object.entries(cases)) assert.deepEqual(splitText(text, 30), parts);
  });

  void test('a pause that would leave most of the part empty is passed over', () => {
    assert.deepEqual(splitText(`Hm.\n\n${'x'.repeat(40)}`, 30), [`Hm.\n\n${'x'.repeat(25)}`, 'x'.repeat(15)]);
  });

  void test('a character is never cut in two', () => {
    assert.deepEqual(splitText('😀'.repeat(20), 25), ['😀'.repeat(12), '😀'.repeat(8)]);
    assert.deepEqual(splitText('🇩🇪'.repeat(8), 26), ['🇩🇪'.repeat(6), '🇩🇪'.repeat(2)]);
    assert.deepEqual(splitText('👩‍👩‍👧‍👦'.repeat(3), 28), ['👩‍👩‍👧‍👦'.repeat(2), '👩‍👩‍👧‍👦']);
    const heap = `e${'\u0301'.repeat(200)}`;
    assert.equal(splitText(heap, 50).join(''), heap, 'a heap of accents is no character');
  });

  void test('a code block that is cut is closed and opened again in its language', () => {
    const code = ['one();', 'two();', 'three();', 'four();', 'five();'].join('\n');
    assert.deepEqual(splitText(`Look:\n\`\`\`ts\n${code}\n\`\`\`\nThat is all.`, 40), [
      'Look:\n```ts\none();\ntwo();\nthree();\n```',
      '```ts\nfour();\nfive();\n```\nThat is all.',
    ]);
    assert.deepEqual(splitText(`  ~~~~ py\n  ${'a'.repeat(40)}\n  ~~~~`, 50), [
      `  ~~~~ py\n  ${'a'.repeat(31)}\n  ~~~~`,
      `  ~~~~ py\n${'a'.repeat(9)}\n  ~~~~`,
    ]);
  });

  void test('a cut right before the closing fence opens no empty block', () => {
    const text = `\`\`\`\n${'a'.repeat(20)}\n\`\`\`\nand then a longer text that follows`;
    assert.deepEqual(splitText(text, 30), [
      `\`\`\`\n${'a'.repeat(20)}\n\`\`\``,
      'and then a longer text that',
      'follows',
    ]);
    const withSpaces = `\`\`\`\n${'a'.repeat(20)}\n\`\`\`    \nand then a longer text`;
    assert.deepEqual(splitText(withSpaces, 30), [`\`\`\`\n${'a'.repeat(20)}\n\`\`\``, 'and then a longer text']);
  });

  void test('a text does not end inside its code for being longer than a part', () => {
    assert.deepEqual(splitText(`\`\`\`\n${'b\n'.repeat(20)}`, 30), [
      `\`\`\`\n${'b\n'.repeat(11)}\`\`\``,
      `\`\`\`\n${'b\n'.repeat(9)}`.trimEnd(),
    ]);
  });

  void test('of blank space that is too long nothing is sent', () => {
    assert.deepEqual(splitText('\n '.repeat(200), 30), []);
    assert.deepEqual(splitText(`a${'\n'.repeat(200)}b`, 30), ['a', 'b']);
  });

  void test('whatever the text, the parts are within the limit, complete and whole by themselves', () => {
    fc.assert(
      fc.property(markdown, fc.integer({ min: partCharsMin, max: 120 }), (text, charsMax) => {
        const parts = splitText(text, charsMax);
        assert.deepEqual(splitText(text, charsMax), parts);
        for (const part of parts) {
          assert.ok(part.length <= charsMax, `${part.length} > ${charsMax}`);
          assert.ok(part.isWellFormed());
          assert.equal(fenceLines(part).length % 2, 0, part);
          if (text.length > charsMax) assert.notEqual(part.trim(), '');
        }
        assert.equal(essence(parts.join('\n')), essence(text));
      }),
      { numRuns: 1_000 },
    );
  });

  void test('whatever the characters, nothing is lost and no part is too long', () => {
    const anything = fc.string({
      unit: fc.constantFrom('a', '`', '~', ' ', '\n', '.', '😀', '\ud800'),
      maxLength: 400,
      size: 'max',
    });
    fc.assert(
      fc.property(anything, fc.integer({ min: partCharsMin, max: 60 }), (text, charsMax) => {
        const parts = splitText(text, charsMax);
        assert.ok(parts.every((part) => part.length <= charsMax));
        // A block that is opened again repeats its language, so there may be more than there was.
        const sent = parts.join('');
        let found = -1;
        for (const letter of text.replaceAll(/[^a.😀]/gu, '')) {
          found = sent.indexOf(letter, found + 1);
          assert.notEqual(found, -1);
        }
      }),
      { numRuns: 1_000 },
    );
  });
});

const word = fc.constantFrom('word', 'a', 'longer-word', '😀', 'end.', 'Is it?', 'x'.repeat(70), '日本語。', '`code`');
const prose = fc
  .array(fc.tuple(word, fc.constantFrom(' ', '  ', '\n', '\n\n', '\n\n\n')), { maxLength: 25, size: 'max' })
  .map((words) => words.map(([text, after]) => text + after).join(''));
const block = fc
  .tuple(fc.constantFrom('```', '~~~'), fc.constantFrom('', 'ts', ' sh', 'x'.repeat(9)), prose)
  .map(([marker, language, code]) => `\n${marker}${language}\n${code}\n${marker}\n`);
const markdown = fc.array(fc.oneof(prose, block), { maxLength: 8, size: 'max' }).map((pieces) => pieces.join(''));

function fenceLines(text: string): string[] {
  return text.split('\n').filter((line) => /^\s*(```|~~~)/.test(line));
}

/** What must be there, however it is laid out: all but blanks and fences. */
function essence(text: string): string {
  return text
    .split('\n')
    .filter((line) => !/^\s*(```|~~~)/.test(line))
    .join('')
    .replaceAll(/\s/g, '');
}
