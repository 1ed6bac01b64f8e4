import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import { createEscapeStripper } from './escape-stripper.ts';
import { filterText } from './text-filter.ts';

const strip = (text: string) => filterText(text, [createEscapeStripper()]);

const cases: readonly [printed: string, clean: string][] = [
  ['\u001b[31mred\u001b[0m \u001b[1;38;5;9mbold\u001b[m', 'red bold'],
  ['\u001b[2J\u001b[H\u001b[?25lhidden cursor\u001b[?25h', 'hidden cursor'],
  ['\u001b]0;title\u0007text', 'text'],
  ['\u001b]8;;https://example.org\u001b\\link\u001b]8;;\u001b\\', 'link'],
  ['\u001bPq#0;2;0;0;0\u001b\\after a picture', 'after a picture'],
  ['\u001b(Bline drawing\u001b)0', 'line drawing'],
  ['\u001b7saved\u001b8\u001bM\u001b=', 'saved'],
  ['a\u0000b\u0001c\u007fd\u0085e\u009bf', 'abcdef'],
  ['tab\tand\nnewline', 'tab\tand\nnewline'],
  ['dos\r\nlines\r\r\n', 'dos\nlines\n'],
  ['10%\r20%\r', '10%\r20%'],
  ['over\b\bstrike', 'over\b\bstrike'],
  ['\u001b[31', ''],
  ['\u001b', ''],
  ['\u001b[3\nnot a sequence', '\nnot a sequence'],
  ['\u001b]never ended\nnext line', '\nnext line'],
  ['\u001b\u001b[31mtwice', 'twice'],
  ['\u001b]title\u001b[31mred', 'red'],
  ['snow ☃ and 😀 \u001b[1mbold 😀', 'snow ☃ and 😀 bold 😀'],
];

for (const [printed, clean] of cases) {
  test(`${JSON.stringify(printed)} is shown as ${JSON.stringify(clean)}`, () => {
    assert.equal(strip(printed), clean);
  });
}

test('a sequence that never ends gives the text back after a limit', () => {
  assert.ok(strip(`\u001b]${'x'.repeat(10_000)}`).length > 5_000);
  assert.ok(strip(`\u001b[${'1;'.repeat(10_000)}mtext`).endsWith('mtext'));
});

test('where the output is cut into pieces makes no difference', () => {
  const printed = fc
    .array(
      fc.constantFrom('\u001b', '[', ']', '3', 'm', '\\', '\r', '\n', '\b', '\u0007', 'a', '😀', '\u0000', ' ', 'P'),
    )
    .map((pieces) => pieces.join(''));
  fc.assert(
    fc.property(printed, (text) => {
      const stripper = createEscapeStripper();
      const pieceByPiece = Array.from(text, (piece) => stripper.push(piece)).join('') + stripper.end();
      assert.equal(pieceByPiece, strip(text));
      assert.doesNotMatch(pieceByPiece, /[^\P{Cc}\t\n\r\b]|\r\n/u);
    }),
  );
});
