import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SessionId } from '../protocol/ids.ts';
import { createAuthorize, type ChannelPolicy } from './authorize.ts';
import { createIsOwners } from './owners-session.ts';

const person = (userId: string, role: 'owner' | 'user') =>
  ({ channel: 'telegram', userId, name: 'Ada', role, addedAt: 1 }) as const;

function isOwners(owner: string | null, rules: Partial<ChannelPolicy> = {}, kind = 'direct'): Promise<boolean> {
  const policy = (channel: string) => (channel === 'telegram' ? { allowedUsers: [], owners: [], ...rules } : null);
  const people = () => Promise.resolve([person('7', 'owner'), person('8', 'user')]);
  const authorize = createAuthorize({ trusted: ['cli', 'api'], policy, people });
  const session = () => Promise.resolve(owner === null ? null : { key: `telegram:${kind}:1`, owner });
  return createIsOwners({ authorize, policy, session })('ses_1' as SessionId);
}

test('a session is the owner’s own on the machine, and on any channel where they have the owner’s role', async () => {
  assert.equal(await isOwners('owner'), true);
  assert.equal(await isOwners('telegram:7'), true, 'the first who was approved');
  assert.equal(await isOwners('telegram:9', { owners: ['9'] }), true, 'named in the configuration');
});

test('nobody else’s is, nor a group, a program’s or one that is gone', async () => {
  assert.equal(await isOwners('telegram:8'), false);
  assert.equal(await isOwners('telegram:7', { owners: ['9'] }), false, 'with a list, nobody else is an owner');
  assert.equal(await isOwners('telegram:9', { allowedUsers: ['*'] }), false);
  assert.equal(await isOwners('telegram:group:7', {}, 'group'), false);
  assert.equal(await isOwners('telegram:7', {}, 'group'), false, 'others write there too');
  assert.equal(await isOwners('api:main'), false);
  assert.equal(await isOwners('slack:7'), false);
  assert.equal(await isOwners(null), false);
});
