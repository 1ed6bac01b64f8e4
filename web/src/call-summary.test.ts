import assert from 'node:assert/strict';
import { test } from 'node:test';

import { callDetails, callSummary, durationText } from './call-summary.ts';

test('the summary is what tells most about the call, in one line', () => {
  assert.equal(callSummary('{"timeout_s":5,"command":"ls -la\\n  | sort"}'), 'ls -la | sort');
  assert.equal(callSummary('{"content":"long","path":"a.txt"}'), 'a.txt');
  assert.equal(callSummary('{"depth":2,"all":true}'), 'depth: 2, all: true');
  assert.equal(callSummary('{}'), '');
  assert.equal(callSummary(`{"command":"${'x'.repeat(500)}"}`).length, 120);
});

test('arguments that are no JSON, or no object, are shown as the model wrote them', () => {
  assert.equal(callSummary('{"command": "ls'), '{"command": "ls');
  assert.equal(callSummary('"ls"'), '"ls"');
  assert.equal(callSummary(''), '');
});

test('details show every argument, and nothing where the summary said it all', () => {
  assert.equal(
    callDetails('{"path":"a.txt","content":"one\\ntwo","mode":{"x":1}}'),
    ['path: a.txt', 'content:\none\ntwo', 'mode:\n{\n  "x": 1\n}'].join('\n'),
  );
  assert.equal(callDetails('{"command":"ls"}'), '');
  assert.equal(callDetails('{"command":"ls\\npwd"}'), 'command:\nls\npwd');
  assert.equal(callDetails('{}'), '');
  assert.equal(callDetails('not json'), '');
  assert.equal(callDetails('not\njson'), 'not\njson');
});

test('durations are as short as they can be said', () => {
  assert.deepEqual([40, 340, 4_900, 59_999, 61_000, 3_720_000].map(durationText), [
    '0 s',
    '0.3 s',
    '4 s',
    '59 s',
    '1 min 1 s',
    '1 h 2 min',
  ]);
});
