import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeeperThan, jsonExcess } from './json-depth.ts';

const deeper = (text: string, depthMax: number) => isDeeperThan(Buffer.from(text), depthMax);

test('depth is counted in brackets of both kinds, and only those that are open at once', () => {
  assert.equal(deeper('[{"a":[1]}]', 3), false);
  assert.equal(deeper('[{"a":[1]}]', 2), true);
  assert.equal(deeper(`[${Array.from({ length: 1_000 }, () => '{}').join()}]`, 2), false);
});

test('brackets in strings do not count, whatever is escaped there', () => {
  for (const text of ['["[[[["]', '["\\"[[[["]', '["\\\\\\"[[["]', '{"[[[[":"{{{{"}']) {
    assert.equal(deeper(text, 1), false, text);
  }
  assert.equal(deeper('["\\\\",[[]]]', 2), true);
});

test('a string of quotes that are all escaped takes one pass', () => {
  assert.equal(deeper(`["${'\\"'.repeat(1_000_000)}[[["]`, 1), false);
});

test('what is no JSON is left to the parser', () => {
  assert.equal(deeper('"never ended [[[[[[', 2), false);
  assert.equal(deeper(']]]]]][', 2), false);
});

test('values are counted where they stand, in lists and in objects', () => {
  const excess = (text: string) => jsonExcess(Buffer.from(text), { depthMax: 3, valuesMax: 5 });
  assert.equal(excess('[1,2,3,4,5]'), null);
  assert.equal(excess('[1,2,3,4,5,6]'), 'values');
  assert.equal(excess('{"a":{},"b":{},"c":{}}'), 'values');
  assert.equal(excess('["1,2,3,4,5,6,7,8,9"]'), null);
  assert.equal(excess('[[[[1,2]]]]'), 'depth');
});
