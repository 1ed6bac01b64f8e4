import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import type { ServerSentEvent } from '../protocols/protocol.ts';
import { createEventReader } from './event-reader.ts';

function readAll(bytes: Uint8Array, cuts: readonly number[] = []): ServerSentEvent[] {
  const reader = createEventReader();
  const borders = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  const events = borders.flatMap((from, index) =>
    reader.push(bytes.subarray(from, borders[index + 1] ?? bytes.length)),
  );
  return [...events, ...reader.finish()];
}

const bytesOf = (text: string) => new TextEncoder().encode(text);
const event = (data: string, name = ''): ServerSentEvent => ({ name, data });

test('events have a name, or none, and lines of data', () => {
  const text = ': hello\n\nevent: ping\ndata: {}\n\nid: 7\nretry: 10\ndata: a\ndata:b\n\n';
  assert.deepEqual(readAll(bytesOf(text)), [event('{}', 'ping'), event('a\nb')]);
});

test('lines end in every way there is, also mixed', () => {
  assert.deepEqual(
    readAll(bytesOf('data: 1\r\n\r\ndata: 2\r\rdata: 3\n\ndata: 4\r\n\n')),
    ['1', '2', '3', '4'].map((data) => event(data)),
  );
});

test('a mark at the very beginning is no part of it', () => {
  assert.deepEqual(readAll(bytesOf('\ufeffdata: 1\n\n')), [event('1')]);
});

test('wherever the bytes are cut, the events are the same', () => {
  const text = '\ufeffdata: {"a":"ü€😀"}\r\n\r\n: c\r\rdata: [DONE]\n\nevent: é\rdata: x\r\ndata: y\r\n\r\n';
  const whole = readAll(bytesOf(text));
  assert.equal(whole.length, 3);
  fc.assert(
    fc.property(fc.array(fc.nat(200), { maxLength: 30 }), (cuts) => {
      assert.deepEqual(readAll(bytesOf(text), cuts), whole);
    }),
  );
});

test('an event of a megabyte comes whole', () => {
  const data = JSON.stringify({ text: 'ü'.repeat(500_000) });
  const cuts = Array.from({ length: 200 }, (_, index) => index * 5_003);
  assert.deepEqual(readAll(bytesOf(`data: ${data}\n\n`), cuts), [event(data)]);
});

test('an event without end is given up', () => {
  const reader = createEventReader();
  const chunk = bytesOf(`data: ${'x'.repeat(1024 * 1024)}\n`);
  for (let count = 0; count < 18; count++) reader.push(chunk);
  assert.equal(reader.isOverflown, true);
  assert.deepEqual([reader.push(chunk), reader.finish()], [[], []]);
});

test('a last event that lacks only its blank line counts; one that was cut does not', () => {
  assert.deepEqual(readAll(bytesOf('data: {"a":1}\n\ndata: [DONE]')), [event('{"a":1}'), event('[DONE]')]);
  assert.deepEqual(readAll(bytesOf('data: {"a":1}\n\ndata: {"a":')), [event('{"a":1}')]);
  assert.deepEqual(readAll(bytesOf('data: {"a":1}\n\ndata: {"a":2}\n')), [event('{"a":1}'), event('{"a":2}')]);
});

test('what is no event stream is seen by its first character, and shown', () => {
  const shapeOf = (text: string) => {
    const reader = createEventReader();
    for (const byte of bytesOf(text)) reader.push(Uint8Array.of(byte));
    return [reader.shape, reader.preview];
  };
  assert.deepEqual(shapeOf(''), ['unknown', '']);
  assert.deepEqual(shapeOf('\n  {"error":1}'), ['other', '\n  {"error":1}']);
  assert.deepEqual(shapeOf('[{}]'), ['other', '[{}]']);
  assert.deepEqual(shapeOf('<html>'), ['other', '<html>']);
  assert.deepEqual(shapeOf('Bad Gateway'), ['events', 'Bad Gateway']);
  assert.deepEqual(shapeOf('data: 1\n\n'), ['events', '']);
});
