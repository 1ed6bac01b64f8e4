import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HttpProblem } from './http-message.ts';
import { readLines } from './read-lines.ts';

const limits = { bytesMax: 1_000, lineBytesMax: 100, depthMax: 3 };

async function* inPieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.byteLength; start += size) yield bytes.subarray(start, start + size);
}

const lines = (text: string | Uint8Array, size: number) =>
  Array.fromAsync(readLines({ body: inPieces(Buffer.from(text), size) }, limits));

const refused = (status: number) => (error: unknown) => error instanceof HttpProblem && error.status === status;

test('lines are the same however the body is cut, letters of several bytes included', async () => {
  for (const size of [1, 2, 3, 7, 1_000]) {
    assert.deepEqual(await lines('größe\n\nzwei 😀\nlast', size), ['größe', '', 'zwei 😀', 'last']);
    assert.deepEqual(await lines('one\n', size), ['one']);
    assert.deepEqual(await lines('', size), []);
  }
});

test('a line and a body over the limit are refused before they are whole', async () => {
  await assert.rejects(lines('x'.repeat(101), 10), refused(413));
  await assert.rejects(lines(`${'x'.repeat(50)}\n`.repeat(20), 10), refused(413));
  assert.equal((await lines('x'.repeat(100), 10)).length, 1);
});

test('a line of JSON that is nested too deeply is refused, and those before it are given out', async () => {
  assert.deepEqual(await lines('[[[1]]]\n{"a":"[[[["}\n', 10), ['[[[1]]]', '{"a":"[[[["}']);
  const given: string[] = [];
  const read = async () => {
    for await (const line of readLines({ body: inPieces(Buffer.from('[1]\n[[[[1]]]]\n[2]\n'), 10) }, limits))
      given.push(line);
  };
  await assert.rejects(read(), refused(400));
  assert.deepEqual(given, ['[1]']);
});

test('what is no UTF-8 is refused', async () => {
  await assert.rejects(lines(Uint8Array.of(0x61, 0xff, 0x0a), 10), refused(400));
});
