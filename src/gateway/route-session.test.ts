import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isSharedPlace, ownerOf, personOf, sessionKeyOf, type Whereabouts } from './route-session.ts';

const sender = { id: '7' };
const inTelegram = (place: Whereabouts['place'], id = '7'): Whereabouts => ({
  channel: 'telegram',
  sender: { id },
  place,
});

test('a direct chat is one session', () => {
  assert.equal(sessionKeyOf(inTelegram({ kind: 'direct', chat: '42' })), 'telegram:direct:42');
  assert.equal(ownerOf(inTelegram({ kind: 'direct', chat: '42' })), 'telegram:7');
});

test('in a group each user has their own, unless groups are shared', () => {
  const group = inTelegram({ kind: 'group', chat: '-42' });
  assert.deepEqual([sessionKeyOf(group), ownerOf(group)], ['telegram:group:-42:7', 'telegram:7']);
  assert.deepEqual([sessionKeyOf(group, true), ownerOf(group, true)], ['telegram:group:-42', 'telegram:group:-42']);
});

test('a thread is shared', () => {
  const thread = inTelegram({ kind: 'thread', chat: '-42', thread: '9' });
  assert.deepEqual([sessionKeyOf(thread), ownerOf(thread)], ['telegram:thread:-42:9', 'telegram:group:-42']);
});

test("the terminal's and the web page's sessions are the owner's", () => {
  for (const channel of ['cli', 'web'])
    assert.equal(ownerOf({ channel, sender, place: { kind: 'direct', chat: 'x' } }), 'owner');
});

/** Short, and of few characters, so that a collision is found if there is one. */
const id = fc.oneof(
  fc.stringMatching(/^[a:%]{0,3}$/),
  fc.constantFrom(
    '',
    'group',
    'direct',
    'thread',
    '3A',
    '%3A',
    '%3A.',
    'a\ud800',
    'a\udc00',
    'a\0',
    'a\n',
    '\ufffd',
    'a\ufffd',
  ),
);
const whereabouts = fc.record({
  channel: fc.constantFrom('telegram', 'slack', 't:', 't'),
  sender: fc.record({ id }),
  place: fc.record(
    { kind: fc.constantFrom('direct' as const, 'group' as const, 'thread' as const), chat: id, thread: id },
    { requiredKeys: ['kind', 'chat'] },
  ),
});

/** Everything that makes two messages belong together, in words that can't be mistaken. */
function meant({ channel, place, sender: { id: user } }: Whereabouts, shared: boolean): string {
  const isAlone = place.kind === 'group' && place.thread === undefined && !shared;
  const kind = place.kind === 'group' && place.thread !== undefined ? 'thread' : place.kind;
  return JSON.stringify([channel, kind, place.chat, place.thread ?? null, isAlone ? user : null]);
}

test('two messages have one key exactly if they belong together, whatever characters their ids hold', () => {
  const stored = (text: string) => Buffer.from(text).toString();
  fc.assert(
    fc.property(whereabouts, whereabouts, fc.boolean(), fc.boolean(), (one, other, oneShared, otherShared) => {
      const keys = [sessionKeyOf(one, oneShared), sessionKeyOf(other, otherShared)];
      assert.equal(keys[0] === keys[1], meant(one, oneShared) === meant(other, otherShared));
      for (const key of keys) assert.equal(stored(key), key, 'a key is stored as it is');
    }),
    { numRuns: 20_000 },
  );
});

test('two people have one owner exactly if they share the place', () => {
  const whose = ({ channel, place, sender: { id: user } }: Whereabouts, shared: boolean) =>
    JSON.stringify(isSharedPlace(place, shared) ? [channel, 'chat', place.chat] : [channel, 'user', user]);
  fc.assert(
    fc.property(whereabouts, whereabouts, fc.boolean(), fc.boolean(), (one, other, oneShared, otherShared) => {
      const isSame = ownerOf(one, oneShared) === ownerOf(other, otherShared);
      assert.equal(isSame, whose(one, oneShared) === whose(other, otherShared));
    }),
    { numRuns: 20_000 },
  );
});

test('an owner says which person it is, and that a shared place is none', () => {
  fc.assert(
    fc.property(whereabouts, fc.boolean(), (where, shared) => {
      const isPerson = !isSharedPlace(where.place, shared);
      assert.deepEqual(
        personOf(ownerOf(where, shared)),
        isPerson ? { channel: where.channel, id: where.sender.id } : null,
      );
    }),
  );
  assert.equal(personOf('owner'), null);
});
