import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { startTelegramServer } from './telegram-server.ts';
import type { TelegramServer } from './server-contract.ts';

interface Answer {
  readonly ok: boolean;
  readonly result?: unknown;
  readonly error_code?: number;
  readonly description?: string;
  readonly parameters?: object;
}

const ann = { id: 42, name: 'Ann' };

async function call(
  server: Pick<TelegramServer, 'url' | 'token'>,
  method: string,
  payload: object = {},
): Promise<Answer> {
  const answer = await fetch(`${server.url}/bot${server.token}/${method}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(payload),
  });
  return (await answer.json()) as Answer;
}

async function onServer(use: (server: TelegramServer) => Promise<void>): Promise<void> {
  const server = await startTelegramServer();
  try {
    await use(server);
  } finally {
    await server.close();
  }
}

const idsOf = ({ result }: Answer) => (result as { update_id: number }[]).map(({ update_id: id }) => id - 710_000_000);

describe('the scripted Telegram', () => {
  test('forgets an update only when a higher offset is asked for', () =>
    onServer(async (server) => {
      for (const text of ['a', 'b', 'c']) server.people.write({ from: ann, text });
      const ask = async (query: object) => idsOf(await call(server, 'getUpdates', query));
      assert.deepEqual(await ask({}), [1, 2, 3]);
      assert.deepEqual(await ask({ limit: 2 }), [1, 2]);
      assert.deepEqual(await ask({ offset: 710_000_002 }), [2, 3]);
      assert.deepEqual(await ask({}), [2, 3]);
      assert.deepEqual(await ask({ offset: -1 }), [3]);
      assert.deepEqual(await ask({ offset: 710_000_004 }), []);
    }));

  test('answers a poll as soon as something comes, and ends the first of two with a conflict', () =>
    onServer(async (server) => {
      const first = call(server, 'getUpdates', { timeout: 30 });
      await server.until(() => server.updates.isPolled, 'a poll');
      const second = call(server, 'getUpdates', { timeout: 30 });
      assert.equal((await first).error_code, 409);
      await server.until(() => server.updates.isPolled, 'a poll');
      server.people.write({ from: ann, text: 'now' });
      assert.deepEqual(idsOf(await second), [1]);
    }));

  test('does not let anybody poll while a webhook is set', () =>
    onServer(async (server) => {
      assert.equal(
        (await call(server, 'setWebhook', { url: 'http://127.0.0.1:9/x', secret_token: 'ok' })).result,
        true,
      );
      assert.equal((await call(server, 'getUpdates')).error_code, 409);
      assert.equal(((await call(server, 'getWebhookInfo')).result as { url: string }).url, 'http://127.0.0.1:9/x');
      await call(server, 'deleteWebhook');
      assert.deepEqual((await call(server, 'getUpdates')).result, []);
    }));

  test('knows its token', () =>
    onServer(async (server) => {
      assert.equal((await call({ url: server.url, token: '1:x' }, 'getMe')).error_code, 401);
      assert.equal((await call({ url: server.url, token: 'x' }, 'getMe')).error_code, 404);
      assert.equal(((await call(server, 'getMe')).result as { username: string }).username, 'talaria_bot');
    }));

  test('turns down what the real one turns down', () =>
    onServer(async (server) => {
      server.people.write({ from: ann, text: 'hi' });
      const said = { chat_id: 42, text: 'x' };
      const button = (data: string) => ({ inline_keyboard: [[{ text: 'a', callback_data: data }]] });
      const refusals: [string, object, string][] = [
        ['sendMessage', { ...said, chat_id: 1 }, 'Bad Request: chat not found'],
        ['sendMessage', { ...said, text: ' ' }, 'Bad Request: message text is empty'],
        ['sendMessage', { ...said, text: 'x'.repeat(4_097) }, 'Bad Request: message is too long'],
        ['sendMessage', { ...said, message_thread_id: 3 }, 'Bad Request: message thread not found'],
        [
          'sendMessage',
          { ...said, reply_parameters: { message_id: 9 } },
          'Bad Request: message to be replied not found',
        ],
        ['sendMessage', { ...said, reply_markup: button('x'.repeat(65)) }, 'Bad Request: BUTTON_DATA_INVALID'],
        ['editMessageText', { ...said, message_id: 9 }, 'Bad Request: message to edit not found'],
        ['editMessageText', { ...said, message_id: 1 }, "Bad Request: message can't be edited"],
        ['deleteMessage', { chat_id: 42, message_id: 9 }, 'Bad Request: message to delete not found'],
        ['getFile', { file_id: 'x' }, 'Bad Request: invalid file_id'],
        ['setMyCommands', { commands: [{ command: 'a-b', description: 'x' }] }, 'Bad Request: BOT_COMMAND_INVALID'],
        [
          'setWebhook',
          { url: 'https://x.y', secret_token: 'a b' },
          'Bad Request: secret token contains unallowed characters',
        ],
      ];
      for (const [method, payload, description] of refusals) {
        assert.deepEqual(await call(server, method, payload), { ok: false, error_code: 400, description });
      }
      assert.equal(server.world.said(42).length, 1);
    }));

  test('reads HTML strictly', () =>
    onServer(async (server) => {
      server.people.write({ from: ann, text: 'hi' });
      const send = (text: string) => call(server, 'sendMessage', { chat_id: 42, text, parse_mode: 'HTML' });
      for (const text of [
        '<b>x',
        '<x>y</x>',
        '<b><i>x</b></i>',
        'a < b',
        '</b>',
        '<a href="x>y</a>',
        '<span>x</span>',
        '<b',
      ]) {
        assert.match((await send(text)).description ?? '', /^Bad Request: can't parse entities: /, text);
      }
      const { result } = await send('<b>a &lt; <a href="https://x.y/?a&amp;b">b</a></b>');
      const { text, entities } = result as { text: string; entities: object[] };
      assert.equal(text, 'a < b');
      assert.deepEqual(entities, [
        { type: 'text_link', offset: 4, length: 1, url: 'https://x.y/?a&b' },
        { type: 'bold', offset: 0, length: 5 },
      ]);
      // The limit is for what is left of it.
      assert.equal((await send(`<b>${'x'.repeat(4_096)}</b>`)).ok, true);
    }));

  test('knows when an edit changes nothing', () =>
    onServer(async (server) => {
      server.people.write({ from: ann, text: 'hi' });
      const { result } = await call(server, 'sendMessage', { chat_id: 42, text: '<b>a</b>', parse_mode: 'HTML' });
      const { message_id } = result as { message_id: number };
      const edit = (change: object) =>
        call(server, 'editMessageText', { chat_id: 42, message_id, text: 'a', ...change });
      assert.match((await edit({ text: '<b>a</b>', parse_mode: 'HTML' })).description ?? '', /message is not modified/);
      assert.equal((await edit({})).ok, true);
      assert.match((await edit({})).description ?? '', /message is not modified/);
      assert.equal((await edit({ text: 'b' })).ok, true);
      assert.deepEqual(server.world.said(42).at(-1)?.texts, ['a', 'a', 'b']);
    }));

  test('takes files and gives them out again', () =>
    onServer(async (server) => {
      server.people.write({ from: ann, text: 'hi' });
      const form = new FormData();
      form.set('chat_id', '42');
      form.set('document', new Blob(['some bytes']), 'a.txt');
      const sent = await fetch(`${server.url}/bot${server.token}/sendDocument`, { method: 'POST', body: form });
      const { result } = (await sent.json()) as { result: { document: { file_id: string } } };
      const file = (await call(server, 'getFile', { file_id: result.document.file_id })).result as {
        file_path: string;
      };
      const download = await fetch(`${server.url}/file/bot${server.token}/${file.file_path}`);
      assert.equal(await download.text(), 'some bytes');
    }));

  test('goes wrong before or after it has stored something', () =>
    onServer(async (server) => {
      server.people.write({ from: ann, text: 'hi' });
      const said = { chat_id: 42, text: 'x' };
      const stored = () => server.world.said(42).length - 1;
      server.inject({ kind: 'error-before', method: 'sendMessage' });
      assert.equal((await call(server, 'sendMessage', said)).error_code, 500);
      assert.equal(stored(), 0);
      server.inject({ kind: 'error-after', method: 'sendMessage' });
      assert.equal((await call(server, 'sendMessage', said)).error_code, 500);
      assert.equal(stored(), 1);
      server.inject({ kind: 'drop-after', method: 'sendMessage' });
      await assert.rejects(call(server, 'sendMessage', said));
      assert.equal(stored(), 2);
      server.inject({ kind: 'too-many', chat: 42, retryAfterS: 3 });
      assert.deepEqual((await call(server, 'sendMessage', said)).parameters, { retry_after: 3 });
      assert.equal((await call(server, 'sendMessage', said)).ok, true);
    }));

  test('goes wrong only where it was ordered to, and not once the order is taken back', () =>
    onServer(async (server) => {
      server.people.write({ from: ann, text: 'hi' });
      const say = async (text: string) => (await call(server, 'sendMessage', { chat_id: 42, text })).ok;
      const picks = (_method: string, { text }: Readonly<Record<string, unknown>>) => text === 'this';
      const takeBack = server.inject({ kind: 'error-before', times: 2, picks });
      assert.deepEqual([await say('that'), await say('this')], [true, false]);
      takeBack();
      assert.equal(await say('this'), true);
    }));

  test('runs as a process of its own that takes orders', async () => {
    const child = spawn(process.execPath, [join(import.meta.dirname, 'main.ts'), '--token', '5:abc'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      const [line] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string];
      const url = /http:\S+/.exec(line)?.[0] ?? '';
      const order = async (path: string, body?: object) => {
        const answer = await fetch(
          `${url}/control/${path}`,
          body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) },
        );
        return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
      };
      await order('write', { from: ann, text: 'number {n}', times: 3 });
      await order('fault', { kind: 'error-after', method: 'sendMessage' });
      const bot = { url, token: '5:abc' };
      assert.deepEqual(idsOf(await call(bot, 'getUpdates', { offset: 710_000_002 })), [2, 3]);
      assert.equal((await call(bot, 'sendMessage', { chat_id: 42, text: 'hello' })).error_code, 500);
      const { said } = (await order('chat?id=42')).body as { said: { message: { text: string } }[] };
      assert.deepEqual(
        said.map(({ message }) => message.text),
        ['number 1', 'number 2', 'number 3', 'hello'],
      );
      const { calls } = (await order('calls?since=1')).body as {
        calls: { method: string; fault: string; status: number }[];
      };
      assert.deepEqual(
        calls.map(({ method, fault, status }) => [method, fault, status]),
        [['sendMessage', 'error-after', 500]],
      );
      assert.equal((await order('updates')).body['confirmedBelow'], 710_000_002);
      assert.equal((await order('nonsense')).status, 404);
      assert.equal((await order('edit', { chat: 1, message: 1, text: 'x' })).status, 400);
    } finally {
      child.kill('SIGTERM');
      await once(child, 'close');
    }
  });
});
