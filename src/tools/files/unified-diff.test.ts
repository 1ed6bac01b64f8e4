import assert from 'node:assert/strict';
import test from 'node:test';
import { seededRandom } from '../../lib/random.ts';
import { unifiedDiff } from './unified-diff.ts';

const diff = (before: string, after: string) => unifiedDiff(before, after, { charsMax: 1_000_000 });
const numbered = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, at) => `${from + at}\n`).join('');

test('a diff has three lines around each change, and says where they are', () => {
  assert.equal(
    diff(numbered(1, 20), numbered(1, 20).replace('10\n', 'ten\n')),
    '@@ -7,7 +7,7 @@\n 7\n 8\n 9\n-10\n+ten\n 11\n 12\n 13',
  );
  assert.equal(diff('', 'a\nb\n'), '@@ -0,0 +1,2 @@\n+a\n+b');
  assert.equal(diff('a\n', ''), '@@ -1,1 +0,0 @@\n-a');
  assert.equal(diff('a\n', 'a\n'), '');
  assert.equal(diff('a', 'a\n'), '@@ -1,1 +1,1 @@\n-a\n\\ no newline at the end\n+a');
});

test('what a diff says leads from the one text to the other, for many texts', () => {
  const random = seededRandom(7);
  const draw = (below: number) => (random.bytes(1)[0] ?? 0) % below;
  for (let round = 0; round < 500; round += 1) {
    const before = Array.from({ length: draw(30) }, () => `l${draw(6)}\n`);
    const after = before.flatMap((line) => (draw(5) === 0 ? [] : draw(5) === 0 ? [line, `n${draw(4)}\n`] : [line]));
    assert.equal(applied(before.join(''), diff(before.join(''), after.join(''))), after.join(''), `round ${round}`);
  }
});

test('texts that differ in everything are one block for another, within the limit', () => {
  const [before, after] = [numbered(1, 2_000), numbered(5_000, 7_000)];
  assert.equal(applied(before, diff(before, after)), after);
  assert.ok(unifiedDiff(before, after, { charsMax: 1_000 }).length <= 1_000);
});

function applied(text: string, difference: string): string {
  const lines = text.split(/(?<=\n)/).filter((line) => line !== '');
  const out: string[] = [];
  let at = 0;
  for (const row of difference.split('\n')) {
    const [, start, count] = /^@@ -(\d+),(\d+)/.exec(row) ?? [];
    if (start !== undefined) {
      const next = Number(start) - (count === '0' ? 0 : 1);
      out.push(...lines.slice(at, next));
      at = next;
    } else if (row.startsWith('+')) {
      out.push(`${row.slice(1)}\n`);
    } else if (row !== '') {
      assert.equal(lines[at], `${row.slice(1)}\n`);
      if (row.startsWith(' ')) out.push(lines[at] ?? '');
      at += 1;
    }
  }
  return [...out, ...lines.slice(at)].join('');
}
