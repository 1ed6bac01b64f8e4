import assert from 'node:assert/strict';
import test from 'node:test';
import { createReadFileTool } from './read-file-tool.ts';
import { plainFileDeps } from './test-file-deps.ts';
import { workedOn } from './worked-on.ts';
import { createWriteFileTool } from './write-file-tool.ts';

test('paths that lead to the same file have the same answer', () => {
  for (const path of ['a/b.txt', './a/b.txt', 'a//b.txt', 'x/../a/b.txt', 'a/b.txt/', 'A/B.TXT']) {
    assert.deepEqual(workedOn(path), ['a/b.txt'], path);
  }
  assert.deepEqual(workedOn('a\u0308'), workedOn('\u00e4'));
  assert.notDeepEqual(workedOn('a'), workedOn('b'));
});

test('a path that could be any file in the workspace stands alone', () => {
  assert.equal(workedOn('/somewhere/a.txt'), 'alone');
});

test('reading and writing the same file do not happen side by side', () => {
  const read = createReadFileTool(plainFileDeps).sideBySide?.({ path: './a.txt' });
  const write = createWriteFileTool(plainFileDeps).sideBySide?.({ path: 'a.txt', content: '' });
  assert.deepEqual([read, write], [['a.txt'], ['a.txt']]);
});
