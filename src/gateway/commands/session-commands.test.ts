import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chatMessage } from '../test-gateway.ts';
import { TestChat } from './test-chat.ts';

const everyone = { policy: { allowedUsers: ['*'], owners: ['7'] } };
const grace = { sender: { id: '8', name: 'Grace' }, place: { kind: 'direct', chat: '8' } } as const;

test('/new begins another session under the same key and closes the old one for good', async () => {
  const chat = await TestChat.open();
  await chat.says('one');
  const old = await chat.session();
  assert.ok(old);
  assert.match((await chat.says('/new')).join(), /begins with your next message/);
  assert.deepEqual(chat.gateway.hardClosed, [old.id]);
  assert.equal((await chat.gateway.store.read.session(old.id))?.isClosed, true);
  await chat.says('two');
  assert.deepEqual(chat.prompts.at(-1), ['two']);
  assert.notEqual((await chat.session())?.id, old.id);
  await chat.close();
});

test('/new asks first while a turn runs, and then ends it', async () => {
  const chat = await TestChat.open();
  const release = chat.holds();
  await chat.says('one');
  const old = await chat.session();
  assert.match((await chat.says('/new')).join(), /still at work/);
  assert.equal((await chat.session())?.id, old?.id, 'nothing is done before the answer');
  await chat.presses('/new yes');
  release();
  await chat.hears();
  assert.equal(await chat.session(), null);
  assert.equal((await chat.gateway.store.read.session(old?.id ?? ('' as never)))?.turn, 'none');
  await chat.close();
});

for (const command of ['/new yes', '/reset yes']) {
  test(`${command} leaves nothing to be answered of what waits for the end of the turn`, async () => {
    const chat = await TestChat.open({ busyMode: 'queue' });
    const release = chat.holds();
    await chat.says('one');
    const old = await chat.session();
    await chat.says('two');
    await chat.says('three');
    assert.ok((await chat.takesMs(command)) <= 1_000);
    release();
    assert.match((await chat.hears()).at(-1) ?? '', /^(?:A new conversation|chat-\w+ is empty)/);
    const work = await chat.gateway.store.read.sessionsWithWork(9);
    assert.deepEqual([(await chat.gateway.store.read.session(old?.id ?? ('' as never)))?.turn, work], ['none', []]);
    await chat.says('four');
    assert.deepEqual(chat.prompts.at(-1), ['four']);
    await chat.close();
  });
}

test('a /new that comes again after it was answered leaves the new session alone', async () => {
  const chat = await TestChat.open();
  await chat.says('one');
  await chat.says('/new', { externalId: 'the new one' });
  await chat.says('two');
  const session = await chat.session();
  assert.deepEqual(await chat.says('/new', { externalId: 'the new one' }), [], 'answered once');
  assert.equal((await chat.session())?.id, session?.id);
  await chat.close();
});

test('/sessions, /resume and /title move between conversations', async () => {
  const chat = await TestChat.open();
  await chat.says('one');
  const first = await chat.session();
  assert.ok(first);
  assert.deepEqual(await chat.says('/title  The first   one'), ['It is called "The first one" now.']);
  await chat.says('/new');
  await chat.says('two');
  const listed = (await chat.says('/sessions')).join();
  assert.match(listed, new RegExp(`${first.name}: The first one`));
  assert.match(listed, /\(here\): two/);
  assert.match((await chat.says(`/resume ${first.name}`)).join(), /You are in .*The first one/);
  await chat.says('three');
  assert.deepEqual(chat.prompts.at(-1), ['one', 'answer 1', 'three']);
  assert.match((await chat.says('/resume nowhere')).join(), /no conversation named nowhere/);
  await chat.close();
});

test('nobody sees or resumes the session of somebody else; the owner sees it in a direct chat, and takes it from nobody', async () => {
  const ada = await TestChat.open(everyone);
  const other = ada.as(grace);
  await other.says('my secret');
  const secret = await other.session();
  assert.ok(secret);
  assert.equal(secret.owner, 'chat:8');
  const eve = ada.as({ sender: { id: '9', name: 'Eve' }, place: { kind: 'direct', chat: '9' } });
  assert.ok(!(await eve.says('/sessions')).join().includes(secret.name));
  assert.match((await eve.says(`/resume ${secret.name}`)).join(), /no conversation named/);
  assert.match((await eve.says(`/resume ${secret.id}`)).join(), /no conversation named/);
  assert.match((await ada.says('/sessions')).join(), /my secret/);
  assert.match((await ada.says(`/resume ${secret.name}`)).join(), /somebody else's/);
  await ada.says('what Ada says');
  await other.says('more');
  assert.deepEqual(ada.prompts.at(-1), ['my secret', 'answer 1', 'more']);
  const inGroup = ada.as({ place: { kind: 'group', chat: 'g' } });
  assert.ok(!(await inGroup.says('/sessions')).join().includes('secret'), 'not where others read along');
  assert.match((await inGroup.says(`/resume ${secret.name}`)).join(), /no conversation named/);
  await ada.close();
});

test('where others read along, /sessions lists only what was said there', async () => {
  const chat = await TestChat.open();
  await chat.says('in private');
  const inGroup = chat.as({ place: { kind: 'group', chat: 'g' } });
  await inGroup.says('in public');
  const listed = (await inGroup.says('/sessions')).join();
  assert.ok(listed.includes('in public') && !listed.includes('in private'));
  assert.match((await chat.says('/sessions')).join(), /in private/);
  await chat.close();
});

test('a message that arrives while a command has the session is answered all the same', async () => {
  let arrived: Promise<unknown> | null = null;
  const chat = await TestChat.open({
    wrapStore: (store) => ({
      ...store,
      async commit(lease, writes) {
        if (writes[0]?.verb === 'set-title' && arrived === null) {
          arrived = chat.gateway.intake.receive(chatMessage('meanwhile'));
          await arrived;
          const session = await chat.session();
          if (session !== null) await chat.gateway.drain.whenIdle(session.id);
        }
        return store.commit(lease, writes);
      },
    }),
  });
  await chat.says('one');
  assert.deepEqual(await chat.says('/title A name'), ['It is called "A name" now.', 'answer 2']);
  await chat.close();
});

test('/title acts in the middle of a turn, at once, and does not take the session from it', async () => {
  const chat = await TestChat.open();
  const release = chat.holds();
  await chat.says('one');
  assert.ok((await chat.takesMs('/title New')) <= 100);
  assert.equal((await chat.session())?.title, 'New');
  assert.deepEqual(await chat.hears(), ['It is called "New" now.']);
  release();
  assert.deepEqual(await chat.hears(), ['answer 1'], 'the turn goes on and is answered');
  await chat.close();
});

test('who chooses the session with every message is told where they are, and no place changes hands', async () => {
  const chat = await TestChat.open();
  await chat.says('one');
  const first = await chat.session();
  assert.ok(first);
  const { intake, store } = chat.gateway;
  const page = (text: string, into: { existing: typeof first.id } | { name: string }) =>
    intake.receive(chatMessage(text, { channel: 'cli', place: { kind: 'direct', chat: 'page' }, into }));
  const other = await page('two', { name: 'other' });
  assert.ok(other.kind === 'accepted');
  await chat.hears();
  assert.deepEqual(await page('/title', { existing: first.id }), { kind: 'handled' });
  assert.deepEqual(await page(`/resume ${first.name}`, { existing: other.sessionId }), {
    kind: 'handled',
    session: first.id,
  });
  const forked = await page('/fork copy', { existing: first.id });
  assert.deepEqual(forked, { kind: 'handled', session: (await store.read.sessionByName('copy'))?.id });
  assert.deepEqual((await chat.session())?.id, first.id, 'the chat is where it was');
  assert.deepEqual(await page('/new', { existing: other.sessionId }), { kind: 'handled', session: null });
  assert.equal((await store.read.session(other.sessionId))?.isClosed, true);
  await chat.close();
});

test('nobody chooses the session of somebody else', async () => {
  const ada = await TestChat.open(everyone);
  await ada.says('my secret');
  const secret = await ada.session();
  assert.ok(secret);
  const { intake, store } = ada.gateway;
  const into = { existing: secret.id };
  for (const text of ['hello', '/title stolen', '/new yes']) {
    const receipt = await intake.receive(chatMessage(text, { ...grace, into }));
    assert.equal(receipt.kind, 'refused');
  }
  const { message: _, ...press } = chatMessage('', { ...grace, into, externalId: 'p' });
  await ada.gateway.press({ ...press, value: '/title stolen' });
  assert.deepEqual(await store.read.session(secret.id), secret);
  await ada.close();
});

test('/fork goes on in a copy, and the original stays as it was', async () => {
  const chat = await TestChat.open();
  await chat.says('one');
  await chat.says('/model other');
  const original = await chat.session();
  assert.ok(original);
  assert.match((await chat.says('/fork trial')).join(), /You are in trial now/);
  await chat.says('two');
  assert.deepEqual(chat.prompts.at(-1), ['one', 'answer 1', 'two']);
  const fork = await chat.session();
  assert.deepEqual([fork?.name, fork?.owner, fork?.settings.model], ['trial', 'chat:7', 'other']);
  const logOf = async (id = original.id) => chat.gateway.store.read.entries(id, { after: 0, limit: 99 });
  const copied = (await logOf(fork?.id)).filter((entry) => entry.kind === 'notice').map(({ text }) => text);
  assert.deepEqual(copied, [`A copy of ${original.name}; what follows is its own.`], 'the log says where it is from');
  assert.match((await chat.says(`/fork ${original.name}`)).join(), /already/);
  await chat.says(`/resume ${original.name}`);
  await chat.says('three');
  assert.deepEqual(chat.prompts.at(-1), ['one', 'answer 1', 'three']);
  await chat.close();
});

test('a /fork that comes again makes no second copy, wherever the process died in it', async () => {
  for (const diedAfter of ['importSession', 'reopenSession'] as const) {
    let isDying = false;
    const chat = await TestChat.open({
      wrapStore: (store) => ({
        ...store,
        async changeSettings(...change) {
          if (isDying && diedAfter === 'importSession') throw new Error('dead');
          return store.changeSettings(...change);
        },
        async queueMessage(message) {
          if (isDying) throw new Error('dead');
          return store.queueMessage(message);
        },
      }),
    });
    await chat.says('one');
    for (const text of ['/fork', '/fork named']) {
      isDying = true;
      await assert.rejects(chat.says(text, { externalId: text }), /dead/);
      isDying = false;
      const before = (await chat.gateway.store.read.sessions({ limit: 99 })).length;
      assert.match((await chat.says(text, { externalId: text })).join(), /a copy/);
      assert.equal((await chat.gateway.store.read.sessions({ limit: 99 })).length, before);
      await chat.says('more');
      assert.deepEqual(chat.prompts.at(-1)?.slice(0, 2), ['one', 'answer 1']);
    }
    await chat.close();
  }
});

test('/fork in the middle of a turn copies what is finished, and the turn goes on where it is', async () => {
  const chat = await TestChat.open();
  await chat.says('one');
  const release = chat.holds();
  await chat.says('two');
  await chat.says('/fork');
  release();
  assert.deepEqual(await chat.hears(), ['answer 2']);
  await chat.says('three');
  assert.deepEqual(chat.prompts.at(-1), ['one', 'answer 1', 'three']);
  await chat.close();
});

test('a copy of a conversation that was rewound is rewound as well', async () => {
  const chat = await TestChat.open();
  for (const text of ['one', 'two', '/undo']) await chat.says(text);
  await chat.presses(chat.buttons[0]?.value ?? '');
  await chat.says('/fork');
  await chat.says('three');
  assert.deepEqual(chat.prompts.at(-1), ['one', 'answer 1', 'three']);
  await chat.close();
});

test('/undo, /retry, /title and /fork add to the log and remove nothing from it', async () => {
  const chat = await TestChat.open();
  const { store } = chat.gateway;
  const original = async () => {
    const session = await chat.session();
    assert.ok(session);
    return session.id;
  };
  await chat.says('one');
  const id = await original();
  const log = async () => store.read.entries(id, { after: 0, limit: 999 });
  let before = await log();
  for (const line of ['two', '/retry', '/title Birds', '/undo', '/fork other']) {
    await chat.says(line);
    if (line === '/undo') await chat.presses(chat.buttons[0]?.value ?? '');
    const after = await log();
    assert.deepEqual(after.slice(0, before.length), before, line);
    before = after;
  }
  const kinds = new Set(before.map((entry) => (entry.kind === 'titled' ? `titled ${entry.title}` : entry.kind)));
  assert.ok(kinds.has('titled Birds'));
  assert.ok(kinds.has('rewound'));
  await chat.close();
});
