import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sessionKeyOf } from './route-session.ts';

const sender = { id: '7', name: 'Ada' };

test('a direct chat is one session', () => {
  assert.equal(
    sessionKeyOf({ channel: 'telegram', sender, place: { kind: 'direct', chat: '42' } }),
    'telegram:direct:42',
  );
});

test('in a group each user has their own', () => {
  assert.equal(
    sessionKeyOf({ channel: 'telegram', sender, place: { kind: 'group', chat: '42' } }),
    'telegram:group:42:7',
  );
});

test('a thread is shared', () => {
  const place = { kind: 'thread', chat: '42', thread: '9' } as const;
  assert.equal(sessionKeyOf({ channel: 'telegram', sender, place }), 'telegram:thread:42:9');
});

test('a colon in a name can not reach into another session', () => {
  const forged = sessionKeyOf({ channel: 'cli', sender, place: { kind: 'direct', chat: 'a:b' } });
  const honest = sessionKeyOf({ channel: 'cli', sender, place: { kind: 'direct', chat: 'a', thread: 'b' } });
  assert.notEqual(forged, honest);
});
