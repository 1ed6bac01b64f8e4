import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TestChat } from './commands/test-chat.ts';
import { contentBytesMax } from './intake.ts';
import { chatMessage, echo, openTestGateway } from './test-gateway.ts';

test('what is not meant for the agent is handled by leaving no trace', async () => {
  const gateway = await openTestGateway({ answer: echo });
  const place = { kind: 'group', chat: 'g' } as const;
  const receipts = await Promise.all([
    gateway.intake.receive(chatMessage('hello everybody', { place, isAddressed: false })),
    gateway.intake.receive(chatMessage('/new', { place, isAddressed: false })),
    gateway.intake.receive(chatMessage('hi', { place, isAddressed: false, sender: { id: '99', name: 'Stranger' } })),
  ]);
  assert.deepEqual(receipts, [{ kind: 'handled' }, { kind: 'handled' }, { kind: 'handled' }]);
  await gateway.clock.advance(0);
  assert.deepEqual(
    [await gateway.store.read.sessions({ limit: 9 }), await gateway.store.read.refusals(9), gateway.deliveries],
    [[], [], []],
  );
  await gateway.close();
});

test('where no mention is needed, what people say in a group counts, and a stranger still leaves no trace', async () => {
  const place = { kind: 'group', chat: 'g' } as const;
  const stranger = { sender: { id: '99', name: 'Stranger' } };
  for (const requiresMention of [true, false]) {
    const chat = await TestChat.open({ requiresMention });
    const { intake, store } = chat.gateway;
    await chat.says('hello everybody', { place, isAddressed: false });
    await chat.says('hi', { place, isAddressed: false, ...stranger });
    assert.deepEqual(chat.prompts, requiresMention ? [] : [['hello everybody']]);
    assert.deepEqual(await store.read.refusals(9), []);
    const talk = chatMessage('', { place, isAddressed: false });
    assert.deepEqual(
      [await intake.mayFetch(talk), await intake.mayFetch({ ...talk, ...stranger })],
      [!requiresMention, false],
    );
    assert.equal(await intake.mayFetch(chatMessage('', { place })), true);
    await chat.close();
  }
});

test('an answer goes to the target that the place names', async () => {
  const gateway = await openTestGateway({ answer: echo });
  const place = { kind: 'thread', chat: '-5', thread: '9', target: '-5/9' } as const;
  const receipt = await gateway.intake.receive(chatMessage('hello', { place }));
  assert.ok(receipt.kind === 'accepted');
  await gateway.drain.whenIdle(receipt.sessionId);
  await gateway.intake.receive(chatMessage('/help', { place }));
  await gateway.clock.advance(0);
  assert.deepEqual(
    gateway.deliveries.map(({ target }) => target),
    ['-5/9', '-5/9'],
  );
  assert.deepEqual([receipt.session.key, receipt.session.owner], ['chat:thread:-5:9', 'chat:group:-5']);
  await gateway.close();
});

test('files of more than the limit in all are refused with the reason', async () => {
  const gateway = await openTestGateway({ answer: echo });
  const content = (sha256: string, bytes: number) => ({ sha256, bytes: new Uint8Array(bytes) });
  const half = contentBytesMax / 2;
  const contents = [content('a', half), content('b', half + 1)];
  const receipt = await gateway.intake.receive(chatMessage('look', { contents }));
  assert.ok(receipt.kind === 'refused');
  assert.deepEqual([receipt.reason, receipt.text.includes('limit is 20 MB')], ['too-large', true]);
  assert.deepEqual(await gateway.store.read.sessions({ limit: 9 }), []);
  await gateway.close();
});

test('a group has a session for each, or one for all where it is shared', async () => {
  const policy = { allowedUsers: ['*'], owners: [] };
  const place = { kind: 'group', chat: 'g' } as const;
  for (const [groupsAreShared, prompt] of [
    [false, ['from Grace']],
    [true, ['from Ada', 'answer 1', 'from Grace']],
  ] as const) {
    const ada = await TestChat.open({ policy, groupsAreShared });
    await ada.says('from Ada', { place });
    await ada.says('from Grace', { place, sender: { id: '8', name: 'Grace' } });
    assert.deepEqual(ada.prompts.at(-1), prompt);
    await ada.close();
  }
});

test('in the busy mode interrupt a message ends the turn under way; sent with /queue it does not', async () => {
  const chat = await TestChat.open({ busyMode: 'interrupt' });
  const release = chat.holds();
  await chat.says('one');
  await chat.says('/queue two');
  assert.equal(chat.prompts.length, 1, 'the turn goes on');
  await chat.says('three');
  assert.deepEqual(chat.prompts, [['one'], ['one', 'answer 1', 'two', 'three']]);
  release();
  await chat.hears();
  assert.match((await chat.says('/steer')).join(), /What should be sent/);
  await chat.close();
});

test('a message sent with a command is the same message when it comes again', async () => {
  const chat = await TestChat.open();
  await chat.says('/queue hello', { externalId: 'q' });
  await chat.says('/queue hello', { externalId: 'q' });
  assert.deepEqual(chat.prompts, [['hello']]);
  await chat.close();
});

test('while the gateway leaves, commands are refused like messages, so that they come again', async () => {
  const gateway = await openTestGateway({ answer: echo });
  gateway.intake.close();
  for (const text of ['hello', '/new']) {
    const receipt = await gateway.intake.receive(chatMessage(text));
    assert.ok(receipt.kind === 'refused' && receipt.reason === 'draining');
  }
  await gateway.close();
});
