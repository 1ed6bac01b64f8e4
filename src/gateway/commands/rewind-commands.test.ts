import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readCommandButton } from '../command-button.ts';
import { chatMessage, echo } from '../test-gateway.ts';
import { TestChat } from './test-chat.ts';

test('/undo asks, and then takes the last exchange out of the prompt and not out of the log', async () => {
  const chat = await TestChat.open();
  await chat.says('one');
  await chat.says('two');
  const [question = ''] = await chat.says('/undo');
  assert.match(question, /began with "two"/);
  const [button] = chat.buttons;
  assert.ok(
    button !== undefined && question.endsWith(readCommandButton(button.value).command),
    'what to type is said, too',
  );
  assert.deepEqual(await chat.presses(button.value), ['Done.', 'It is taken back.']);
  await chat.says('three');
  assert.deepEqual(chat.prompts.at(-1), ['one', 'answer 1', 'three']);
  const session = await chat.session();
  assert.ok(session);
  const entries = await chat.gateway.store.read.entries(session.id, { after: 0, limit: 99 });
  assert.equal(entries.filter((entry) => entry.kind === 'message').length, 6);
  const calls = await chat.gateway.store.read.modelCalls(session.id);
  assert.equal(calls.at(-1)?.prefixBreak, 'rewound');
  assert.equal((await chat.gateway.store.read.totals()).prefixBreaks, 0);
  await chat.close();
});

test('an /undo that is confirmed twice, or too late, takes back nothing more', async () => {
  const chat = await TestChat.open();
  for (const text of ['one', 'two', '/undo']) await chat.says(text);
  const value = readCommandButton(chat.buttons[0]?.value ?? '').command;
  await chat.says(value);
  assert.deepEqual(await chat.says(value), ['It is taken back.']);
  await chat.says('three');
  assert.deepEqual(await chat.says(value), ['The conversation has gone on since. Send /undo again.']);
  await chat.says('four');
  assert.deepEqual(chat.prompts.at(-1), ['one', 'answer 1', 'three', 'answer 3', 'four']);
  await chat.close();
});

test('an /undo with a number that no exchange has does not say that it was taken back', async () => {
  const chat = await TestChat.open();
  await chat.says('one');
  const { lastSeq = 0 } = (await chat.session()) ?? {};
  for (const number of [lastSeq - 1, lastSeq, 99_999]) {
    assert.deepEqual(await chat.says(`/undo yes ${number}`), ['No exchange has this number. Send /undo again.']);
  }
  await chat.close();
});

test('/undo in the middle of a turn stops it and takes it back, within a second', async () => {
  const chat = await TestChat.open();
  await chat.says('one');
  const release = chat.holds();
  await chat.says('two');
  await chat.says('/undo');
  const before = chat.gateway.clock.now();
  await chat.presses(chat.buttons[0]?.value ?? '');
  assert.ok(chat.gateway.clock.now() - before <= 1_000);
  release();
  await chat.says('three');
  assert.deepEqual(chat.prompts.at(-1), ['one', 'answer 1', 'three']);
  await chat.close();
});

test('a turn that does not end holds no command up: it is said within a second, and done later', async () => {
  const { promise: isOver, resolve: end } = Promise.withResolvers<void>();
  let isStubborn = false;
  const chat = await TestChat.open({}, async function* (request, signal) {
    if (isStubborn) await isOver;
    yield* echo(request, signal);
  });
  await chat.says('one');
  isStubborn = true;
  await chat.gateway.intake.receive(chatMessage('two'));
  for (const command of ['/undo yes 5', '/reset yes', '/retry']) {
    assert.ok((await chat.takesMs(command)) <= 1_000, command);
  }
  const texts = chat.gateway.deliveries.map(({ text }) => text);
  assert.deepEqual(texts, [
    'The turn is being stopped. Send /undo yes 5 again in a moment.',
    'The turn is being stopped. Send /reset yes again in a moment.',
    'The turn is being stopped. Send /retry again in a moment.',
  ]);
  end();
  await chat.hears();
  isStubborn = false;
  assert.match((await chat.says('/retry')).join(), /Asked again: two/);
  assert.deepEqual(chat.prompts.at(-1), ['one', 'one', 'two']);
  await chat.close();
});

test('/retry takes the last exchange back and asks the same again', async () => {
  const chat = await TestChat.open();
  await chat.says('one');
  await chat.says('two');
  assert.deepEqual(await chat.says('/retry'), ['Asked again: two', 'answer 3']);
  assert.deepEqual(chat.prompts, [['one'], ['one', 'answer 1', 'two'], ['one', 'answer 1', 'two']]);
  await chat.close();
});

test('what a stranger wrote is still a stranger’s when it is asked again, and now somebody is there', async () => {
  const chat = await TestChat.open();
  const parts = [{ kind: 'text', text: 'from outside' }] as const;
  await chat.says('', { message: { role: 'user', untrusted: 'webhook', isUnattended: true, parts } });
  await chat.says('/retry');
  const session = await chat.session();
  assert.ok(session);
  const entries = await chat.gateway.store.read.entries(session.id, { after: 0, limit: 99 });
  const asked = entries.flatMap((entry) => (entry.kind === 'message' && entry.message.role === 'user' ? [entry] : []));
  assert.deepEqual(
    asked.map(({ message }) => message),
    [
      { role: 'user', untrusted: 'webhook', isUnattended: true, parts },
      { role: 'user', untrusted: 'webhook', parts },
    ],
  );
  await chat.close();
});

test('a /retry that comes again is asked once, wherever the process died in it', async () => {
  for (const diedAfter of ['the rewind', 'the message', 'the answer']) {
    let isDying = false;
    const dead = () => Promise.reject(new Error('dead'));
    const chat = await TestChat.open({
      wrapStore: (store) => ({
        ...store,
        admit: (admission) => (isDying && diedAfter === 'the rewind' ? dead() : store.admit(admission)),
        queueMessage: (message) => (isDying && diedAfter !== 'the answer' ? dead() : store.queueMessage(message)),
      }),
    });
    await chat.says('one');
    await chat.says('two');
    isDying = true;
    const retry = chat.says('/retry', { externalId: 'the retry' });
    if (diedAfter === 'the answer') await retry;
    else await assert.rejects(retry, /dead/);
    isDying = false;
    await chat.hears();
    await chat.says('/retry', { externalId: 'the retry' });
    await chat.says('three');
    assert.deepEqual(chat.prompts.at(-1), ['one', 'answer 1', 'two', 'answer 3', 'three'], `after ${diedAfter}`);
    await chat.close();
  }
});

test('/retry after /undo asks what was taken back', async () => {
  const chat = await TestChat.open();
  for (const text of ['one', 'two', '/undo']) await chat.says(text);
  await chat.presses(chat.buttons[0]?.value ?? '');
  await chat.says('/retry');
  assert.deepEqual(chat.prompts.at(-1), ['one', 'answer 1', 'two']);
  await chat.close();
});

test('/retry asks everything again that was written into one turn', async () => {
  const chat = await TestChat.open();
  const release = chat.holds();
  for (const text of ['zero', 'one', 'two']) await chat.says(text);
  release();
  await chat.hears();
  assert.deepEqual(chat.prompts.at(-1), ['zero', 'answer 1', 'one', 'two']);
  await chat.says('/retry');
  assert.deepEqual(chat.prompts.at(-1), ['zero', 'answer 1', 'one\n\ntwo']);
  await chat.close();
});

test('/retry in the middle of a turn does not take back what waited behind it', async () => {
  const chat = await TestChat.open();
  const release = chat.holds();
  await chat.says('one');
  await chat.says('/queue later');
  const said = chat.says('/retry');
  release();
  assert.equal((await said).at(-1), 'The conversation has gone on since. Send /retry again.');
  await chat.hears();
  await chat.says('what was that?');
  assert.ok(chat.prompts.at(-1)?.includes('later'), String(chat.prompts.at(-1)));
  await chat.close();
});

test('/reset asks first, keeps the session and empties the prompt', async () => {
  const chat = await TestChat.open();
  await chat.says('one');
  const before = await chat.session();
  await chat.says('/reset');
  const { value = '' } = chat.buttons[0] ?? {};
  assert.equal(value, `${before?.id} /reset yes`);
  assert.deepEqual(await chat.presses(value), ['Done.', `${before?.name} is empty again.`]);
  assert.deepEqual(await chat.says('/reset yes'), [`${before?.name} is empty again.`], 'a second time changes nothing');
  await chat.says('two');
  assert.deepEqual(chat.prompts.at(-1), ['two']);
  assert.equal((await chat.session())?.id, before?.id);
  assert.deepEqual(new Set(chat.gateway.hardClosed), new Set([before?.id]));
  await chat.close();
});

test('with nothing said there is nothing to take back', async () => {
  const chat = await TestChat.open();
  for (const command of ['/undo', '/retry', '/reset'])
    assert.match((await chat.says(command)).join(), /no conversation/);
  await chat.says('one');
  await chat.says('/reset yes');
  for (const command of ['/undo', '/retry']) assert.match((await chat.says(command)).join(), /Nothing has been said/);
  await chat.close();
});
