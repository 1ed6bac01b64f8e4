import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom, systemRandom } from '../lib/random.ts';
import { hashOfCode, newCode, pairingTtlMs } from './pairing.ts';
import { chatMessage, echo, openTestGateway, type TestGateway } from './test-gateway.ts';

const stranger = (id: string, externalId: string, kind: 'direct' | 'group' = 'direct') =>
  chatMessage('let me in', { sender: { id, name: `Stranger ${id}` }, externalId, place: { kind, chat: id } });

const open = (owners: string[] = []) => openTestGateway({ answer: echo, policy: { allowedUsers: [], owners } });

async function told(gateway: TestGateway): Promise<string[]> {
  await gateway.clock.advance(0);
  return gateway.deliveries.splice(0).map(({ text }) => text);
}

async function codeFor(gateway: TestGateway, id: string): Promise<string> {
  await gateway.intake.receive(stranger(id, `code ${id}`));
  const [text = ''] = await told(gateway);
  const [, code] = /approve ([0-9A-Z-]+)$/.exec(text) ?? [];
  assert.ok(code, text);
  return code;
}

test('a stranger gets a code, is let in with it, and is answered from then on', async () => {
  const gateway = await open();
  const code = await codeFor(gateway, '1');
  assert.deepEqual(await gateway.store.read.sessions({ limit: 9 }), [], 'nothing of theirs is stored');
  const approved = await gateway.pairing.approve(code.toLowerCase().replace('-', ' '), 'user');
  assert.ok(approved.kind === 'approved');
  assert.deepEqual([approved.person.userId, approved.person.name], ['1', 'Stranger 1']);
  const receipt = await gateway.intake.receive(stranger('1', 'second'));
  assert.equal(receipt.kind, 'accepted');
  await gateway.close();
});

test('the first to be approved is the owner, the next ones are as approved', async () => {
  const gateway = await open();
  for (const id of ['1', '2']) await gateway.pairing.approve(await codeFor(gateway, id), 'user');
  assert.deepEqual(
    (await gateway.store.read.people()).map(({ userId, role }) => [userId, role]),
    [
      ['1', 'owner'],
      ['2', 'user'],
    ],
  );
  await gateway.close();
});

test('where owners are configured, nobody becomes one by being the first', async () => {
  const gateway = await open(['99']);
  await gateway.pairing.approve(await codeFor(gateway, '1'), 'user');
  assert.deepEqual(
    (await gateway.store.read.people()).map(({ role }) => role),
    ['user'],
  );
  await gateway.close();
});

test('a code works once, not after its time, and wrong ones lock the door', async () => {
  const gateway = await open();
  const code = await codeFor(gateway, '1');
  await gateway.pairing.approve(code, 'user');
  assert.equal((await gateway.pairing.approve(code, 'user')).kind, 'wrong');
  const late = await codeFor(gateway, '2');
  await gateway.clock.advance(pairingTtlMs + 1);
  const results: string[] = [];
  for (let tries = 0; tries < 6; tries += 1) results.push((await gateway.pairing.approve(late, 'user')).kind);
  assert.equal(results.at(-1), 'locked');
  assert.ok(!results.includes('approved'));
  await gateway.close();
});

test('the same message again, and more messages, give no second code', async () => {
  const gateway = await open();
  await gateway.intake.receive(stranger('1', 'same'));
  await gateway.intake.receive(stranger('1', 'same'));
  await gateway.intake.receive(stranger('1', 'other'));
  const texts = await told(gateway);
  assert.equal(texts.filter((text) => text.includes('pairing approve')).length, 1);
  const before = texts.length;
  for (let count = 0; count < 20; count += 1) await gateway.intake.receive(stranger('1', `more ${count}`));
  assert.ok(before + (await told(gateway)).length <= 2, 'one who goes on is not answered on and on');
  await gateway.close();
});

test('three may wait at a time; the fourth is told to come again', async () => {
  const gateway = await open();
  for (const id of ['1', '2', '3']) await codeFor(gateway, id);
  await gateway.intake.receive(stranger('4', 'fourth'));
  assert.match((await told(gateway)).join(), /Too many people/);
  assert.equal((await gateway.store.read.pairings(gateway.clock.now())).length, 3);
  await gateway.close();
});

test('in a group a stranger is passed over in silence, and is on record', async () => {
  const gateway = await open();
  const receipt = await gateway.intake.receive(stranger('1', 'g', 'group'));
  assert.deepEqual([receipt.kind, await told(gateway)], ['handled', []]);
  assert.deepEqual(
    (await gateway.store.read.refusals(9)).map(({ userId, count }) => [userId, count]),
    [['1', 1]],
  );
  assert.deepEqual(await gateway.store.read.pairings(gateway.clock.now()), []);
  await gateway.close();
});

test('a stranger who presses a button is refused and on record', async () => {
  const gateway = await open();
  const answer = await gateway.press({ ...stranger('1', 'p'), value: '/new yes' });
  assert.deepEqual(answer, { text: 'You are not allowed to do this.', settled: false });
  assert.equal((await gateway.store.read.refusals(9)).length, 1);
  await gateway.close();
});

test('a code has fifty bits, and is the same however it is typed', () => {
  const codes = new Set(Array.from({ length: 1_000 }, () => newCode(systemRandom)));
  assert.equal(codes.size, 1_000);
  for (const code of codes) assert.match(code, /^[0-9A-HJKMNP-TV-Z]{5}-[0-9A-HJKMNP-TV-Z]{5}$/);
  const code = newCode(seededRandom(3));
  for (const typed of [
    code.toLowerCase(),
    code.replace('-', ''),
    ` ${code} `,
    code.replaceAll('0', 'o').replaceAll('1', 'l'),
  ])
    assert.equal(hashOfCode(typed), hashOfCode(code));
});
