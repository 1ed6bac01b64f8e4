import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import { boundText, createOutputBound, grouped, newestOf, outputCharsMax } from './output-bound.ts';

test('text within the limit is left as it is', () => {
  for (const text of ['', 'a', '😀'.repeat(100), 'x'.repeat(outputCharsMax)]) assert.equal(boundText(text), text);
});

test('of a longer text its beginning and its end remain, and a line says how much is missing', () => {
  const bounded = boundText(`${'a'.repeat(500)}${'b'.repeat(1_234_567)}${'c'.repeat(500)}`, 264);
  assert.equal(bounded, `${'a'.repeat(100)}\n[… 1,235,367 characters left out …]\n${'c'.repeat(100)}`);
});

test('one character too many is already cut, and the result is within the limit', () => {
  const bounded = boundText('x'.repeat(1_001), 1_000);
  assert.ok(bounded.length <= 1_000);
  assert.match(bounded, /^x+\n\[… 65 characters left out …\]\nx+$/);
});

test('no character is cut in half, and what remains and what is left out add up', () => {
  const texts = fc.string({ unit: fc.constantFrom('a', '😀', '\n', '☃'), maxLength: 600, size: 'max' });
  fc.assert(
    fc.property(texts, fc.integer({ min: 128, max: 300 }), (text, charsMax) => {
      const bounded = boundText(text, charsMax);
      assert.ok(bounded.isWellFormed());
      assert.ok(bounded.length <= charsMax);
      const marker = /\n\[… ([\d,]+) characters left out …\]\n/.exec(bounded);
      if (marker === null) assert.equal(bounded, text);
      else {
        const [head = '', tail = ''] = bounded.split(marker[0]);
        assert.ok(text.startsWith(head) && text.endsWith(tail));
        assert.equal(head.length + tail.length + Number(marker[1]?.replaceAll(',', '')), text.length);
      }
    }),
  );
});

test('pieces give the same as the whole', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ maxLength: 100 })), (pieces) => {
      const bound = createOutputBound(200);
      for (const piece of pieces) bound.push(piece);
      assert.equal(bound.text(), boundText(pieces.join(''), 200));
    }),
  );
});

test('a flood does not grow memory', () => {
  const bound = createOutputBound();
  const piece = 'y\n'.repeat(32_768);
  const before = process.memoryUsage().heapUsed;
  // 6.5 GB in all if it were kept.
  for (let index = 0; index < 100_000; index++) bound.push(piece);
  assert.ok(process.memoryUsage().heapUsed - before < 200_000_000);
  assert.match(bound.text(), /6,553,57\d,\d{3} characters left out/);
});

test('a limit that leaves no room is a bug', () => {
  assert.throws(() => createOutputBound(10), /leaves no room/);
});

test('the newest part of a text starts with a whole character', () => {
  assert.equal(newestOf('abc', 5), 'abc');
  assert.equal(newestOf('abc', 2), 'bc');
  assert.equal(newestOf('a😀b', 2), 'b');
});

test('large numbers are written in groups of three', () => {
  assert.deepEqual([0, 999, 1000, 1234567].map(grouped), ['0', '999', '1,000', '1,234,567']);
});
