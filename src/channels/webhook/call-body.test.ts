import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readCallBody } from './call-body.ts';

const read = (text: string | Uint8Array, type = 'application/json') => readCallBody(Buffer.from(text), type);

test('JSON is read whatever it is called, and what is none is kept as text', () => {
  assert.deepEqual(read('{"a":1}'), { text: '{"a":1}', fields: { a: 1 } });
  assert.deepEqual(read('{"a":1}', 'text/plain').fields, { a: 1 });
  assert.deepEqual(read('hello'), { text: 'hello', fields: undefined });
  assert.deepEqual(read(Buffer.from([0xff])).text, '\uFFFD');
});

test('a form has fields, and the JSON that some platforms hide in one is what counts', () => {
  const type = 'application/x-www-form-urlencoded';
  assert.deepEqual(read('text=hello+you&user=U1', type).fields, { text: 'hello you', user: 'U1' });
  assert.deepEqual(read(`payload=${encodeURIComponent('{"a":1}')}`, type), { text: '{"a":1}', fields: { a: 1 } });
  const deep = encodeURIComponent('['.repeat(5_000));
  assert.equal(read(`payload=${deep}`, type).fields, undefined);
});

test('what is nested without end is refused', () => {
  assert.throws(() => read('['.repeat(5_000)), { name: 'HttpProblem', status: 400 });
});
