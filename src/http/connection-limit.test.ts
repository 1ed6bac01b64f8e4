import assert from 'node:assert/strict';
import { Socket } from 'node:net';
import { test } from 'node:test';
import { ConnectionLimit } from './connection-limit.ts';

const sockets = (count: number) =>
  Array.from({ length: count }, () => new Socket()) as [Socket, Socket, Socket, Socket];

test('the connection that has been quiet longest gives way', () => {
  const [a, b, c, d] = sockets(4);
  const limit = new ConnectionLimit(2);
  assert.deepEqual([limit.add(a), limit.add(b)], [null, null]);
  limit.move(a, 'served');
  limit.move(a, 'quiet');
  assert.equal(limit.add(c), b);
  assert.equal(limit.add(d), a);
  assert.equal(limit.size, 2);
});

test('one that has asked for nothing goes before one that is still sending, and that before a newcomer', () => {
  const [a, b, c, d] = sockets(4);
  const limit = new ConnectionLimit(2);
  limit.add(a);
  limit.move(a, 'asking');
  limit.add(b);
  assert.equal(limit.add(c), b);
  limit.move(c, 'served');
  assert.equal(limit.add(d), a);
});

test('when all are being served the newcomer goes', () => {
  const [a, b, c] = sockets(3);
  const limit = new ConnectionLimit(2);
  for (const socket of [a, b]) {
    limit.add(socket);
    limit.move(socket, 'served');
  }
  assert.equal(limit.add(c), c);
  assert.equal(limit.size, 2);
  limit.delete(a);
  limit.move(a, 'quiet');
  assert.equal(limit.size, 1);
});
