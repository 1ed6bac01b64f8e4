import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  argumentsObject,
  contentWords,
  isBlank,
  jsonText,
  resultText,
  toolName,
  toolParameters,
} from './message-parts.ts';
import { callId } from './test-runtime.ts';

test('arguments that are a JSON object stay as the model wrote them', () => {
  for (const text of [
    '{}',
    '{"n":12345678901234567890}',
    '{ "a" : [1, {"b": null}] }',
    '{"b":1,"a":2}',
    '{"x":"\\ud83d\\ude00"}',
  ]) {
    assert.deepEqual(JSON.parse(argumentsObject(text)), JSON.parse(text));
  }
  assert.equal(argumentsObject(' {"n":12345678901234567890} \n'), '{"n":12345678901234567890}');
});

test('arguments that are anything else are sent as none', () => {
  for (const text of ['', ' ', '{"a', 'null', '[1]', '"x"', '7', 'do it']) assert.equal(argumentsObject(text), '{}');
});

test('half a surrogate pair never leaves, written or escaped', () => {
  assert.equal(jsonText('a\ud800b'), '"a\ufffdb"');
  assert.equal(argumentsObject('{"a":"\ud800"}'), '{"a":"\ufffd"}');
  assert.equal(argumentsObject('{"a":["\\ud800",{"\\uDC00":1}]}'), '{"a":["\ufffd",{"\ufffd":1}]}');
});

test('space of any language is blank', () => {
  assert.deepEqual(['', ' \n\t', '\u00a0\u3000\ufeff', '\u001c\u0085\u0000', '.', ' a '].map(isBlank), [
    true,
    true,
    true,
    true,
    false,
    false,
  ]);
});

test('names become what providers accept', () => {
  assert.deepEqual(['echo', 'a.b c', '', 'é', 'x'.repeat(100)].map(toolName), [
    'echo',
    'a_b_c',
    'unnamed',
    '_',
    'x'.repeat(64),
  ]);
});

test('parameters are always those of an object', () => {
  const parameters = (given: Record<string, unknown>) =>
    toolParameters({ name: 'a', description: '', parameters: given });
  assert.equal(parameters({}), '{"type":"object"}');
  assert.equal(parameters({ properties: {}, type: 'object' }), '{"type":"object","properties":{}}');
});

test('results say what became of their call', () => {
  const told = (outcome: 'finished' | 'failed' | 'unknown' | 'skipped', text: string, isFlagged: boolean) =>
    resultText({ kind: 'tool-result', callId: callId(1), outcome, text }, isFlagged);
  assert.deepEqual(
    [told('finished', 'ok', true), told('failed', 'no', true), told('failed', 'no', false), told('unknown', 'x', true)],
    ['ok', 'no', '[failed] no', '[outcome unknown] x'],
  );
  assert.deepEqual(
    [told('skipped', 'x', false), told('finished', ' \n', true), told('unknown', '', true)],
    ['[not run] x', '(It finished and said nothing.)', '[outcome unknown] (Whether it finished is not known.)'],
  );
});

test('what can not be shown is named', () => {
  const content = { sha256: 'x', bytes: 12, mediaType: 'image/png' };
  assert.equal(
    contentWords({ kind: 'image', content }),
    "[An image (image/png, 12 bytes) was attached; you can't see it here.]",
  );
  assert.equal(
    contentWords({ kind: 'file', name: 'a"b.pdf', content: { ...content, mediaType: 'application/pdf' } }),
    `[A file named "a\\"b.pdf" (application/pdf, 12 bytes) was attached; you can't see it here.]`,
  );
  assert.equal(
    contentWords({
      kind: 'file',
      name: 'b.csv',
      content: { ...content, mediaType: 'text/csv' },
      path: 'received/1-b.csv',
    }),
    '[A file named "b.csv" (text/csv, 12 bytes) was attached: it is in the workspace as "received/1-b.csv".]',
  );
});
