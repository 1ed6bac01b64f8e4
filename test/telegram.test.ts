/** Telegram from end to end: the real gateway and grammY against a scripted platform. */
import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { startModelServer } from './model-server/model-server.ts';
import { atEnd, freshHome, runTalaria, startGateway, startTalaria } from './support/talaria-process.ts';
import { startTelegramServer } from './telegram-server/telegram-server.ts';

const ann = { id: 101, name: 'Ann' };
const bob = { id: 202, name: 'Bob' };
const group = { id: -900, type: 'supergroup', title: 'Team' } as const;

async function stage(t: TestContext, telegram: object = {}, more: object = {}) {
  const platform = await startTelegramServer({ username: 'tala_bot' });
  atEnd(t, () => platform.close());
  const model = await startModelServer();
  atEnd(t, () => model.close());
  const home = await freshHome(t);
  await mkdir(home, { mode: 0o700 });
  const config = {
    model: { provider: 'custom', base_url: model.baseUrl('chat_completions'), name: 'scripted', api_key: 'key-one-23' },
    channels: { telegram: { token: platform.token, api_root: platform.url, ...telegram } },
    ...more,
  };
  await writeFile(join(home, 'config.yaml'), JSON.stringify(config));
  /** What the bot has said in a chat and was not taken away. */
  const said = (chat: number) =>
    platform.world.said(chat).flatMap(({ message, byBot, deleted }) => (byBot && !deleted ? [message.text ?? ''] : []));
  const heard = (chat: number, pattern: RegExp) =>
    platform.until(() => said(chat).some((text) => pattern.test(text)), `${pattern} in ${chat}`);
  return { platform, model, home, said, heard };
}

test('a stranger gets a code, the owner approves it, and then they are answered', async (t) => {
  const { platform, home, said, heard } = await stage(t);
  await startGateway(t, { home });
  platform.people.write({ from: ann, text: 'hello?' });
  await heard(ann.id, /[0-9A-Z]{5}-[0-9A-Z]{5}/);
  const [, code = ''] = /([0-9A-Z]{5}-[0-9A-Z]{5})/.exec(said(ann.id).join('\n')) ?? [];
  const wrong = await runTalaria(t, ['pairing', 'approve', 'AAAAA-AAAAA'], { home });
  assert.equal(wrong.code, 1);
  const right = await runTalaria(t, ['pairing', 'approve', code], { home });
  assert.deepEqual([right.code, /Ann/.test(right.stderr)], [0, true]);
  platform.people.write({ from: ann, text: 'say hello Ann' });
  await heard(ann.id, /^hello Ann$/);
  const again = await runTalaria(t, ['pairing', 'approve', code], { home });
  assert.equal(again.code, 1, 'a code works once');
  const list = await runTalaria(t, ['pairing', 'list'], { home });
  assert.match(list.stdout, /telegram +101 +Ann/);
  await runTalaria(t, ['pairing', 'revoke', 'telegram:101'], { home });
  const before = said(ann.id).length;
  platform.people.write({ from: ann, text: 'say still there?' });
  await platform.until(() => said(ann.id).length > before, 'another word');
  assert.ok(!said(ann.id).includes('still there?'));
});

test('commands act on the session, and a message that begins with two slashes is one', async (t) => {
  const { platform, home, heard, model } = await stage(t, { allowed_users: [ann.id] });
  await startGateway(t, { home });
  await platform.until(() => platform.commands.some(({ command }) => command === 'new'), 'the menu');
  platform.people.write({ from: ann, text: 'say first' });
  await heard(ann.id, /^first$/);
  platform.people.write({ from: ann, text: '/title My talk' });
  await heard(ann.id, /My talk/);
  platform.people.write({ from: ann, text: '/undo' });
  await heard(ann.id, /Take back the last exchange/);
  const asking = platform.world.said(ann.id).findLast(({ message }) => message.reply_markup !== undefined);
  platform.people.press(ann, ann.id, asking?.message.message_id ?? 0, 'Take it back');
  await heard(ann.id, /It is taken back/);
  platform.people.write({ from: ann, text: 'say second' });
  await heard(ann.id, /^second$/);
  const body = model.requests().at(-1)?.raw ?? '';
  assert.ok(!body.includes('say first') && body.includes('say second'), 'what was taken back is no part of the prompt');
  platform.people.write({ from: ann, text: '/nwe' });
  await heard(ann.id, /no command \/nwe.*\/new/);
  platform.people.write({ from: ann, text: '/new yes' });
  await heard(ann.id, /new session|another session|begins/i);
  platform.people.write({ from: ann, text: 'say third' });
  await heard(ann.id, /^third$/);
  assert.ok(!(model.requests().at(-1)?.raw ?? '').includes('say second'), 'a new session knows nothing of the old one');
  const { stdout } = await runTalaria(t, ['sessions', 'list', '--json'], { home });
  assert.equal(stdout.trim().split('\n').length, 2);
});

test('in a group everybody has a conversation of their own, and only what is meant for the bot counts', async (t) => {
  const { platform, home, heard, model } = await stage(t, { allowed_users: [ann.id, bob.id] });
  await startGateway(t, { home });
  platform.people.write({ from: ann, chat: group, text: 'just talking among us' });
  platform.people.write({ from: ann, chat: group, text: '@tala_bot say for Ann' });
  await heard(group.id, /for Ann/);
  platform.people.write({ from: bob, chat: group, text: '@tala_bot say for Bob' });
  await heard(group.id, /for Bob/);
  const last = model.requests().at(-1)?.raw ?? '';
  assert.ok(!last.includes('for Ann') && !last.includes('just talking'));
});

test("in a group nobody's button acts on somebody else's conversation, and without mentions all that is said counts", async (t) => {
  const { platform, home, heard, said, model } = await stage(t, {
    allowed_users: [ann.id, bob.id],
    owners: [ann.id],
    require_mention: false,
  });
  await startGateway(t, { home });
  platform.people.write({ from: { id: 999, name: 'Eve' }, chat: group, text: 'say nothing to me' });
  platform.people.write({ from: bob, chat: group, text: 'say for Bob' });
  await heard(group.id, /^for Bob$/);
  platform.people.write({ from: ann, chat: group, text: 'say for Ann' });
  await heard(group.id, /^for Ann$/);
  platform.people.write({ from: ann, chat: group, text: '/reset' });
  await heard(group.id, /Forget everything/);
  const asking = platform.world.said(group.id).findLast(({ message }) => message.reply_markup !== undefined);
  const pressed = platform.people.press(bob, group.id, asking?.message.message_id ?? 0, 'Forget it');
  await platform.until(() => platform.world.answerTo(pressed) !== null, 'a word to Bob');
  assert.equal(platform.world.answerTo(pressed), 'This is not asked of you.');
  platform.people.write({ from: bob, chat: group, text: 'say more' });
  await heard(group.id, /^more$/);
  const prompt = model.requests().at(-1)?.raw ?? '';
  assert.ok(prompt.includes('for Bob') && !prompt.includes('for Ann'));
  platform.people.press(ann, group.id, asking?.message.message_id ?? 0, 'Forget it');
  await heard(group.id, /is empty again/);
  assert.ok(!said(group.id).includes('nothing to me'));
});

test('a question is answered in plain words, and the button that opens a chat shows the commands', async (t) => {
  const { platform, home, heard } = await stage(t, { allowed_users: [ann.id] });
  await startGateway(t, { home });
  platform.people.write({ from: ann, text: '/start' });
  await heard(ann.id, /^\/help: /);
  platform.people.write({ from: ann, text: 'ask Which colour?' });
  await heard(ann.id, /Which colour/);
  platform.people.write({ from: ann, text: 'say the blue one' });
  await heard(ann.id, /^the blue one$/);
});

test('a kill in the middle of a turn: the draft becomes the answer, and it is there once', async (t) => {
  const { platform, home, said, heard } = await stage(t, { allowed_users: [ann.id] });
  const first = await startGateway(t, { home });
  platform.people.write({ from: ann, text: `slowly ${'words and '.repeat(40)}the end` });
  // Changed once, so that it is on record that it stands there.
  const isEdited = () => platform.world.said(ann.id).some(({ byBot, texts }) => byBot && texts.length > 1);
  await platform.until(isEdited, 'a draft that grows');
  first.process.kill('SIGKILL');
  await first.process.ended;
  await startGateway(t, { home });
  await heard(ann.id, /the end$/);
  assert.equal(said(ann.id).filter((text) => text.includes('words and')).length, 1);
});

test('another bot on the same home is answered from its first message on', async (t) => {
  const { platform, home, heard } = await stage(t, { allowed_users: [ann.id] });
  const first = await startGateway(t, { home });
  platform.people.write({ from: ann, text: 'say one' });
  await heard(ann.id, /^one$/);
  await first.stop();
  const other = await startTelegramServer({ token: '220201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw' });
  atEnd(t, () => other.close());
  const file = join(home, 'config.yaml');
  const config = (await readFile(file, 'utf8')).replace(platform.token, other.token).replace(platform.url, other.url);
  await writeFile(file, config);
  await startGateway(t, { home });
  // Its ids begin with 1 again.
  other.people.write({ from: ann, text: 'say two' });
  const said = () => other.world.said(ann.id).flatMap(({ message, byBot }) => (byBot ? [message.text] : []));
  await other.until(() => said().includes('two'), 'an answer');
});

test('a message can be sent without a model, and a wrong target is refused', async (t) => {
  const { platform, home, heard } = await stage(t, { allowed_users: [ann.id] });
  platform.people.write({ from: ann, text: '/help' });
  await startGateway(t, { home });
  await heard(ann.id, /\/help/);
  const sent = await runTalaria(t, ['send', `telegram:${ann.id}`, 'dinner', 'is', 'ready'], { home });
  assert.equal(sent.code, 0);
  await heard(ann.id, /^dinner is ready$/);
  for (const target of ['pigeon:7', 'telegram:nobody']) {
    const wrong = await runTalaria(t, ['send', target, 'hello'], { home });
    assert.deepEqual([wrong.code, wrong.stderr.split('\n').length], [1, 2]);
  }
});

test('told by a webhook instead of asking, it answers who knows the secret and nobody else', async (t) => {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/hooks/telegram`;
  const { platform, home, heard } = await stage(t, {
    allowed_users: [ann.id],
    webhook_url: url,
    webhook_token: 'only-telegram-knows-this',
  });
  const gateway = startTalaria(t, ['gateway', '--port', String(port)], { home });
  await gateway.printed(/^listening on /m);
  platform.people.write({ from: ann, text: 'say by webhook' });
  await heard(ann.id, /^by webhook$/);
  assert.equal(platform.calls('getUpdates').length, 0);
  const post = (headers: Record<string, string>) =>
    fetch(url, {
      method: 'POST',
      body: '{"update_id":1}',
      headers: { 'content-type': 'application/json', ...headers },
    });
  const header = 'x-telegram-bot-api-secret-token';
  const answers = [
    await post({}),
    await post({ [header]: 'a guess' }),
    await post({ [header]: 'only-telegram-knows-this' }),
  ];
  assert.deepEqual(
    answers.map(({ status }) => status),
    [401, 401, 200],
  );
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' ? (address?.port ?? 0) : 0;
}

test('setting up checks the token before it writes anything', async (t) => {
  const { platform, home } = await stage(t, { token: null });
  const wrong = await runTalaria(t, ['setup', 'telegram', '--token-stdin'], { home, input: '1:not-the-token\n' });
  assert.deepEqual([wrong.code, /nothing was changed/.test(wrong.stderr)], [1, true]);
  const right = await runTalaria(t, ['setup', 'telegram', '--token-stdin'], { home, input: `${platform.token}\n` });
  assert.deepEqual([right.code, /@tala_bot/.test(right.stderr)], [0, true]);
  assert.ok((await readFile(join(home, '.env'), 'utf8')).includes(platform.token));
  assert.ok(!(await readFile(join(home, 'config.yaml'), 'utf8')).includes(platform.token));
});

test('a token that Telegram does not know stops the start, with what to do', async (t) => {
  const { home } = await stage(t, { token: '1:wrong-token-0123456789' });
  const { code, stderr } = await runTalaria(t, ['gateway', '--port', '0'], { home });
  assert.equal(code, 1);
  assert.match(stderr, /Telegram does not know this token/);
  assert.ok(!stderr.includes('wrong-token'));
});

test('the doctor asks Telegram whether it knows the bot', async (t) => {
  const known = await stage(t);
  const fine = await runTalaria(t, ['doctor'], { home: known.home });
  assert.match(fine.stdout, /✓ Telegram knows the bot @tala_bot/);
  const revoked = await stage(t, { token: '123456:revoked' });
  const { code, stdout } = await runTalaria(t, ['doctor'], { home: revoked.home });
  assert.equal(code, 1);
  assert.match(stdout, /✗ Telegram: .*token.* {2}→ talaria setup telegram/);
});

test('where somebody asks for what only the owner may allow, the owner is asked in their own chat, once', async (t) => {
  const { platform, home, heard, said } = await stage(t, { allowed_users: [ann.id, bob.id], owners: [ann.id] });
  const first = await startGateway(t, { home });
  platform.people.write({ from: ann, text: 'say hello' });
  await heard(ann.id, /^hello$/);
  platform.people.write({
    from: bob,
    text: 'call terminal {"command":"echo done","outside":true} then say It is done.',
  });
  await heard(ann.id, /^In the conversation \S+ of 202:\n\n[^]*echo done/);
  await heard(bob.id, /echo done/);
  // The question waits in the store, and is not put again.
  first.process.kill('SIGKILL');
  await first.process.ended;
  await startGateway(t, { home });
  platform.people.write({ from: ann, text: 'say still there' });
  await heard(ann.id, /^still there$/);
  assert.equal(said(ann.id).filter((text) => text.startsWith('In the conversation')).length, 1);
  const asking = platform.world.said(ann.id).find(({ message }) => message.reply_markup !== undefined);
  assert.ok(asking !== undefined);
  const [[button] = []] = (asking.message.reply_markup as { inline_keyboard: { text: string }[][] }).inline_keyboard;
  platform.people.press(ann, ann.id, asking.message.message_id, button?.text ?? '');
  await heard(bob.id, /It is done\.$/);
});
