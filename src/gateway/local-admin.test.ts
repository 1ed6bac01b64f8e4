import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chatMessage, echo, openTestGateway } from './test-gateway.ts';

test('people who ask, are approved and are revoked are seen through the API', async () => {
  const gateway = await openTestGateway({ answer: echo });
  const { api } = gateway;
  await gateway.intake.receive(
    chatMessage('hi', { sender: { id: '5', name: 'Eve' }, place: { kind: 'direct', chat: '5' } }),
  );
  await gateway.clock.advance(0);
  const code = /approve (\S+)$/.exec(gateway.deliveries[0]?.text ?? '')?.[1] ?? '';
  assert.deepEqual(
    (await api.people()).pending.map(({ userId, name }) => [userId, name]),
    [['5', 'Eve']],
  );
  await assert.rejects(api.approve('WRONG-WRONG', 'user'), { reason: 'not-found' });
  assert.deepEqual((await api.approve(code, 'user')).userId, '5');
  const report = await api.people();
  assert.deepEqual([report.people.length, report.pending.length, report.refused.length], [1, 0, 1]);
  assert.deepEqual([await api.revoke('chat', '5'), await api.revoke('chat', '5')], [true, false]);
  await gateway.close();
});

test('too many wrong codes are told as busy', async () => {
  const gateway = await openTestGateway({ answer: echo });
  for (let tries = 0; tries < 5; tries += 1) await gateway.api.approve('WRONG', 'user').catch(() => {});
  await assert.rejects(gateway.api.approve('WRONG', 'user'), { reason: 'busy', message: /minutes/ });
  await gateway.close();
});

test('a text is sent through a channel with no model, and a wrong target says what is wrong', async () => {
  const gateway = await openTestGateway({ answer: echo });
  await gateway.api.sendTo('chat:-5/9', 'hello there');
  await gateway.clock.advance(0);
  assert.deepEqual(
    gateway.deliveries.map(({ target, text, sessionId }) => [target, text, sessionId]),
    [['-5/9', 'hello there', null]],
  );
  for (const [target, text, words] of [
    ['chat', 'x', /CHANNEL:PLACE/],
    [':x', 'x', /CHANNEL:PLACE/],
    ['smoke:1', 'x', /No channel named smoke .* cli, chat/],
    ['chat:1', ' ', /nothing to send/],
  ] as const) {
    await assert.rejects(gateway.api.sendTo(target, text), words);
  }
  await gateway.close();
});

test('a key of the HTTP API is said once, kept by its hash, and can be removed', async () => {
  const gateway = await openTestGateway({ answer: echo });
  const { api } = gateway;
  const key = await api.addApiKey('laptop');
  assert.match(key, /^tal_[\w-]{43}$/);
  assert.deepEqual(
    (await gateway.store.read.apiKeys()).map(({ name, sha256 }) => [name, sha256]),
    [['laptop', `hash of ${key.length}`]],
  );
  assert.ok(!JSON.stringify(await api.apiKeys()).includes(key));
  await assert.rejects(api.addApiKey('laptop'), { reason: 'bad-request', message: /already/ });
  await assert.rejects(api.addApiKey('../x'), { reason: 'bad-request' });
  await assert.rejects(api.addApiKey('owner'), { reason: 'bad-request' });
  assert.deepEqual([await api.removeApiKey('laptop'), await api.removeApiKey('laptop')], [true, false]);
  await gateway.close();
});

test('what was allowed for longer than once is listed, and asks again once it is revoked', async () => {
  const gateway = await openTestGateway({ answer: echo });
  const { api, store } = gateway;
  await store.addGrant({ sessionId: null, kind: 'command', subject: 'make deploy', shown: 'make deploy' });
  const [grant] = await api.grants();
  assert.deepEqual(
    { ...grant, grantedAt: 0 },
    { id: grant?.id, sessionId: null, kind: 'command', shown: 'make deploy', grantedAt: 0 },
  );
  const id = grant?.id ?? 0;
  assert.deepEqual([await api.revokeGrant(id), await api.revokeGrant(id), await api.grants()], [true, false, []]);
  await gateway.close();
});
