import assert from 'node:assert/strict';
import { test } from 'node:test';
import { displayWidth, formatTable } from './table.ts';

test('columns line up as a terminal shows them', () => {
  const rows = [
    ['NAME', 'COUNT', 'TITLE'],
    ['日本', '1', 'short'],
    ['e\u0301t\u00e9', '22', ''],
  ];
  assert.deepEqual(formatTable(rows, 80), ['NAME  COUNT  TITLE', '日本  1      short', 'e\u0301t\u00e9   22']);
});

test('only the last column is cut', () => {
  assert.deepEqual(formatTable([['name', 'a long title']], 12), ['name  a lon…']);
  assert.deepEqual(formatTable([['name', '日本日本']], 11), ['name  日本…']);
});

test('emoji are two columns wide, marks none', () => {
  assert.deepEqual(['a', '😀', 'e\u0301', '日'].map(displayWidth), [1, 2, 1, 2]);
});
