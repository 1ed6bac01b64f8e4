import assert from 'node:assert/strict';
import { test } from 'node:test';

import { hashOf, newChat, parseRoute } from './route.ts';

test('what an address says is what it was made from', () => {
  for (const route of [
    newChat,
    { session: 'notes', seq: null },
    { session: 'über alles. 2', seq: 12 },
    { session: 'a/b?c#d%', seq: null },
  ])
    assert.deepEqual(parseRoute(hashOf(route)), route);
});

test('an address that names no session is a new chat', () => {
  for (const hash of ['', '#', '#/', '#/s/', '#/x/y', '#/s/a/b/c', '#/s/a/-1'])
    assert.deepEqual(parseRoute(hash), newChat);
});

test('an address with a stray percent sign is taken as it stands', () => {
  assert.deepEqual(parseRoute('#/s/50%'), { session: '50%', seq: null });
});
