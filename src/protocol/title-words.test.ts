import assert from 'node:assert/strict';
import { test } from 'node:test';
import { saysLittle, titleFrom } from './title-words.ts';

test('a title is the first words on one line, cut between two words', () => {
  assert.equal(titleFrom('  how do\n I bake\tbread? '), 'how do I bake bread?');
  assert.equal(titleFrom('word '.repeat(30)), `${'word '.repeat(12).trim()}…`);
  assert.ok(titleFrom('😀'.repeat(100)).isWellFormed());
});

test('a greeting says little, and anything else says enough', () => {
  for (const title of ['', '👋', 'hi', 'Hello!', 'Hey there…', 'Guten Morgen', '你好', 'ping?', '...'])
    assert.equal(saysLittle(title), true, title);
  for (const title of ['hi, fix the build', 'bread', 'tests fail', 'hello world in C', '天气', 'pingpong'])
    assert.equal(saysLittle(title), false, title);
});
