import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Person, Role } from '../store/store.ts';
import { createAuthorize, type ChannelPolicy } from './authorize.ts';

const person = (userId: string, role: Role, channel = 'telegram'): Person => ({
  channel,
  userId,
  name: `name of ${userId}`,
  role,
  addedAt: 0,
});

function rolesIn(policy: Partial<ChannelPolicy>, people: readonly Person[] = []) {
  const authorize = createAuthorize({
    trusted: ['cli', 'web'],
    policy: (channel) => (channel === 'telegram' ? { allowedUsers: [], owners: [], ...policy } : null),
    people: () => Promise.resolve(people),
  });
  return (id: string, name = '', channel = 'telegram') => authorize(channel, { id, name });
}

test('nobody is let in by default, and through the terminal or the web page comes the owner', async () => {
  const role = rolesIn({});
  assert.deepEqual(
    [await role('1'), await role('1', 'owner', 'slack'), await role('1', '', 'cli'), await role('1', '', 'web')],
    [null, null, 'owner', 'owner'],
  );
});

test('those in the list are let in by id, or by name without regard to case and @', async () => {
  const role = rolesIn({ allowedUsers: ['12345', '@Ada', 'Grace Hopper'] });
  assert.deepEqual(
    await Promise.all([
      role('12345', 'whoever'),
      role('9', 'ada'),
      role('9', '@ADA'),
      role('9', 'grace hopper'),
      role('9', 'Eve'),
      role('9', ''),
    ]),
    ['user', 'user', 'user', 'user', null, null],
  );
});

test('where the platform gives out names, only those count: nobody gets in by calling themselves like somebody', async () => {
  const authorize = createAuthorize({
    trusted: [],
    policy: () => ({ allowedUsers: ['@Ada'], owners: ['grace'] }),
    people: () => Promise.resolve([]),
  });
  const role = (name: string, handle: string) => authorize('telegram', { id: '9', name, handle });
  assert.deepEqual(
    await Promise.all([role('Augusta King', 'ada'), role('Ada', 'eve'), role('ada', ''), role('x', 'Grace')]),
    ['user', null, null, 'owner'],
  );
});

test('nobody gets in by calling themselves like an id', async () => {
  const role = rolesIn({ allowedUsers: ['12345', 'U012ABCDE', '*x'], owners: ['777', 'W99ZZZZZ'] });
  for (const name of ['12345', 'U012ABCDE', 'u012abcde', '777', 'W99ZZZZZ', '*', '@12345']) {
    assert.equal(await role('9', name), null, name);
  }
});

test('a star lets everybody in, as a user', async () => {
  const role = rolesIn({ allowedUsers: ['*'] });
  assert.deepEqual([await role('1'), await role('2', 'anybody')], ['user', 'user']);
});

test('owners are those in their list; without one, whom an approval made it', async () => {
  const listed = rolesIn({ owners: ['5'] }, [person('6', 'owner'), person('7', 'user')]);
  assert.deepEqual([await listed('5'), await listed('6'), await listed('7')], ['owner', 'user', 'user']);
  const unlisted = rolesIn({}, [person('6', 'owner'), person('7', 'user')]);
  assert.deepEqual([await unlisted('5'), await unlisted('6'), await unlisted('7')], [null, 'owner', 'user']);
});

test('an approval counts on its own channel only', async () => {
  const role = rolesIn({}, [person('6', 'user', 'slack')]);
  assert.equal(await role('6'), null);
});

test('who lets in a single id and names no owner means themselves; a name or a second one is no owner', async () => {
  const of = (allowedUsers: string[], people: Person[] = []) => rolesIn({ allowedUsers }, people)('12345', 'ada');
  assert.equal(await of(['12345']), 'owner');
  assert.equal(await of(['ada']), 'user');
  assert.equal(await of(['12345', '6']), 'user');
  assert.equal(await of(['12345'], [person('6', 'owner')]), 'user');
});
