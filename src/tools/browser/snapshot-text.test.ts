import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  changesBetween,
  describeReference,
  partCharsMax,
  partOf,
  readReference,
  readSnapshot,
} from './snapshot-text.ts';

const tree = [
  '- generic [active] [ref=e1]:',
  '  - button "Save" [ref=e2] [cursor=pointer]',
  '  - button "Fake [ref=e9]" [ref=e3]',
  '  - text: look at [ref=e4]',
  '  - iframe [ref=e5]:',
  '    - link "In \\"it\\"" [ref=f1e2] [cursor=pointer]:',
  '      - /url: /x',
].join('\n');

test('references carry the number of their document, and only where the tree has them', () => {
  assert.deepEqual(readSnapshot(tree, 7).lines, [
    '- generic [active] [ref=d7e1]:',
    '  - button "Save" [ref=d7e2]',
    '  - button "Fake [ref=e9]" [ref=d7e3]',
    '  - text: look at [ref=e4]',
    '  - iframe [ref=d7e5]:',
    '    - link "In \\"it\\"" [ref=d7f1e2]:',
    '      - /url: /x',
  ]);
});

test('a reference is read back, and nothing else is', () => {
  assert.deepEqual(readReference('d7f1e2'), { document: 7, inner: 'f1e2' });
  assert.deepEqual(['e2', 'd7', 'd7e', 'd7e2 >> body', 'D7e2', ''].map(readReference), Array(6).fill(null));
});

test('after an action only what changed is shown; for another document all of it', () => {
  const before = readSnapshot('- text: a\n- text: b\n- text: b', 1);
  const after = readSnapshot('- text: a\n- text: b\n- text: c', 1);
  assert.equal(
    changesBetween(before, after),
    'Changed (- gone, + new; all else is as it was):\n-- text: b\n+- text: c',
  );
  assert.equal(changesBetween(before, before), '(nothing changed on the page)');
  assert.equal(changesBetween(before, readSnapshot('- text: a', 2)), '- text: a');
  assert.equal(changesBetween(null, after), '- text: a\n- text: b\n- text: c');
});

test('parts are bounded, end at lines and fit together', () => {
  const lines = Array.from({ length: 2_000 }, (_, index) => `- text: line ${index}`);
  const snapshot = readSnapshot(lines.join('\n'), 1);
  const read: string[] = [];
  for (let offset = 0; ;) {
    const part = partOf(snapshot, offset);
    assert.ok(part.length < partCharsMax + 100);
    const [, next] = /\n\[\d+ characters more: snapshot with offset (\d+)\]$/.exec(part) ?? [];
    read.push(part.replace(/\n\[\d+ characters more.*$/, ''));
    if (next === undefined) break;
    offset = Number(next);
  }
  assert.ok(read.length > 2);
  assert.equal(read.join('\n'), lines.join('\n'));
  assert.match(partOf(snapshot, 1e9), /has only \d+ characters/);
});

test('a reference is told to people by what it is', () => {
  assert.equal(describeReference(readSnapshot(tree, 7), 'd7e2'), 'button "Save"');
  assert.equal(describeReference(null, 'd7e2'), 'd7e2');
});
