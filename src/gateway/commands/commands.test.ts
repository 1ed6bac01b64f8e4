import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseCommand } from './parse-command.ts';
import { commandTable } from './commands.ts';
import { TestChat } from './test-chat.ts';

const parse = (text: string) => parseCommand({ role: 'user', parts: [{ kind: 'text', text }] });

test('a command is a slash and a word at the very beginning; two slashes and paths are messages', () => {
  assert.deepEqual(parse('/new'), { kind: 'command', word: 'new', argument: '' });
  assert.deepEqual(parse('/New@some_bot  yes '), { kind: 'command', word: 'new', argument: 'yes' });
  assert.deepEqual(parse('/queue a\nb'), { kind: 'command', word: 'queue', argument: 'a\nb' });
  assert.deepEqual(parse('/reload_mcp'), { kind: 'command', word: 'reload-mcp', argument: '' });
  for (const text of [' /new', 'say /new', '/etc/hosts', '/', '/ new', '/1', '/new/', '']) {
    assert.equal(parse(text).kind, 'message', text);
  }
  const plain = parse('//new');
  assert.deepEqual(plain.kind === 'message' && plain.message.parts, [{ kind: 'text', text: '/new' }]);
});

test('every command of the interface is in the table, once, and help has them all', async () => {
  const names =
    'new reset stop retry undo status usage model reasoning compress title sessions resume fork approve deny queue steer background cron memory skills tools reload-mcp help';
  for (const name of names.split(' ')) {
    assert.equal(commandTable.filter((command) => command.name === name).length, 1, name);
  }
  const chat = await TestChat.open();
  const help = (await chat.says('/help')).join();
  for (const { name } of commandTable) assert.ok(help.includes(`/${name}`), name);
  await chat.close();
});

test('what does not work yet says so', async () => {
  const chat = await TestChat.open();
  for (const { name } of commandTable.filter((command) => command.isLater === true)) {
    assert.match((await chat.says(`/${name}`)).join(), /does not work yet/, name);
  }
  await chat.close();
});

test('an unknown command is told with the nearest one, and reaches no model', async () => {
  const chat = await TestChat.open();
  assert.match((await chat.says('/hepl')).join(), /no command \/hepl\. Did you mean \/help\?/);
  assert.match((await chat.says('/wellwellwell')).join(), /no command \/wellwellwell\. \/help/);
  assert.deepEqual(chat.prompts, []);
  assert.deepEqual(await chat.says('//hepl'), ['answer 1']);
  assert.deepEqual(chat.prompts, [['/hepl']]);
  await chat.close();
});

test('what a user may command is what the commands say, or what is configured', async () => {
  const policy = { allowedUsers: ['*'], owners: ['7'] };
  const grace = { sender: { id: '8', name: 'Grace' }, place: { kind: 'direct', chat: '8' } } as const;
  const chat = await TestChat.open({ policy });
  assert.match((await chat.as(grace).says('/memory')).join(), /for the owner only/);
  assert.match((await chat.says('/memory')).join(), /remembers nothing/);
  assert.ok(!(await chat.as(grace).says('/help')).join().includes('/memory'));
  await chat.close();
  const strict = await TestChat.open({ policy, services: { userCommands: () => new Set(['stop', 'memory']) } });
  assert.match((await strict.as(grace).says('/new')).join(), /for the owner only/);
  assert.deepEqual((await strict.as(grace).says('/help')).join().split('\n').slice(2), [
    '/memory: show what it remembers',
    'A message that begins with // is sent with one /.',
  ]);
  assert.match((await strict.as(grace).says('/stop')).join(), /Nothing is running/);
  assert.match((await strict.as(grace).says('/memory')).join(), /remembers nothing/);
  await strict.close();
});

test('/stop ends the turn at once, and /status says what goes on', async () => {
  const chat = await TestChat.open({ services: { status: () => Promise.resolve(report as never) } });
  const release = chat.holds();
  await chat.says('one');
  const status = (await chat.says('/status')).join();
  assert.match(status, /Conversation: chat-.*: one\nModel: test\/test\nNow: at work\nYou are known as owner/);
  assert.deepEqual(await chat.says('/stop'), ['Stopping.', 'answer 1']);
  release();
  assert.match((await chat.says('/status')).join(), /Now: nothing is running/);
  assert.deepEqual(await chat.says('/stop'), ['Nothing is running.']);
  await chat.close();
});

const report = { version: '1', turns: { running: 0 }, sessions: 1, usage: { today_usd: 0 }, model: {} };

test('/model and /reasoning change this conversation, and say what it costs', async () => {
  const chat = await TestChat.open({
    services: {
      quote: async (_session, settings) => ({
        settings,
        model: settings.model ?? 'p/m',
        uncachedTokens: 1_000,
        usd: 0.5,
      }),
    },
  });
  await chat.says('one');
  assert.match((await chat.says('/model')).join(), /The model is p\/m \(as configured\)/);
  assert.match((await chat.says('/model x/y')).join(), /The model is x\/y .* 1,000 tokens again .* \$0\.50/);
  assert.match((await chat.says('/reasoning enormous')).join(), /no effort "enormous"/);
  await chat.says('/reasoning HIGH');
  assert.deepEqual((await chat.session())?.settings, { model: 'x/y', effort: 'high' });
  await chat.says('/model default');
  await chat.says('/reasoning default');
  assert.deepEqual((await chat.session())?.settings, { model: null, effort: null });
  await chat.close();
});

test('/tools lists those in the head of the conversation, /usage what it took', async () => {
  const tools = [{ name: 'terminal', description: 'Runs a command. With care.', parameters: {} }];
  const chat = await TestChat.open({ tools });
  assert.match((await chat.says('/tools')).join(), /no conversation/);
  await chat.says('one');
  assert.deepEqual(await chat.says('/tools'), ['- terminal: Runs a command.']);
  assert.match((await chat.says('/usage')).join(), /Last turn: 1 call, 1 tokens in, 1 out, \$0\nConversation: 1 call/);
  await chat.close();
});
