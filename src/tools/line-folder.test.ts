import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import { createLineFolder } from './line-folder.ts';
import { plainText } from './output-bound.ts';
import { filterText } from './text-filter.ts';

const fold = (text: string) => filterText(text, [createLineFolder()]);

test('of a progress line only its last state remains', () => {
  assert.equal(fold('fetching\n10%\r20%\r100%\ndone\n'), 'fetching\n100%\ndone\n');
  assert.equal(fold('10%\r20%'), '20%');
});

test('a carriage return that nothing follows leaves the line', () => {
  assert.equal(fold('text\r'), 'text');
  assert.equal(fold('text\r\nmore'), 'text\nmore');
});

test('a backspace takes back one character, a whole one, and nothing before the line', () => {
  assert.equal(fold('N\bNA\bAM\bM\n'), 'NAM\n');
  assert.equal(fold('a😀\bb'), 'ab');
  assert.equal(fold('line\n\b\bx'), 'line\nx');
  assert.equal(fold('ab\r\b\bc'), 'c');
});

test('a line without end is let go in pieces instead of being held', () => {
  const folder = createLineFolder();
  let out = 0;
  for (let index = 0; index < 1_000; index++) out += folder.push('x'.repeat(1_000)).length;
  assert.ok(out >= 1_000_000 - 8_192 - 1_000);
  assert.equal(out + folder.end().length, 1_000_000);
});

test('where the output is cut into pieces makes no difference', () => {
  const printed = fc.array(fc.constantFrom('\r', '\n', '\b', 'a', 'bc', '😀', ' ')).map((pieces) => pieces.join(''));
  fc.assert(
    fc.property(printed, (text) => {
      const folder = createLineFolder();
      assert.equal(Array.from(text, (piece) => folder.push(piece)).join('') + folder.end(), fold(text));
    }),
  );
});

test('what a program drew for a terminal reads as plain text', () => {
  const printed = '\u001b[32mbuild\u001b[0m\r\n[#   ] 25%\r\u001b[K[####] 100%\r\n\u0007done\u0000\r\n';
  assert.equal(plainText(printed), 'build\n[####] 100%\ndone\n');
});
