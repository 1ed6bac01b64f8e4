import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startTelegramServer } from '../../../test/telegram-server/telegram-server.ts';
import { checkTelegramToken } from './check-telegram-token.ts';
import { ann, delivery, forum, group, onTelegram, shown, unending, type TelegramStage } from './test-stage.ts';

/** Somebody has written, so that they may be answered. */
const onChat = (use: (stage: TelegramStage) => Promise<void>) =>
  onTelegram(async (stage) => {
    stage.server.people.write({ from: ann, text: 'hi' });
    await use(stage);
  });

describe('a delivery to Telegram', () => {
  test('is shown with its markup', () =>
    onChat(async ({ server, channel }) => {
      const outcome = await channel().deliver(delivery({ text: 'a **b** <c>\n```ts\nlet x;\n```' }), unending);
      assert.deepEqual(outcome, { kind: 'sent', platformId: '2' });
      const said = server.world.said(ann.id).at(-1)?.message;
      assert.equal(said?.text, 'a b <c>\nlet x;');
      assert.deepEqual(
        said?.entities?.map(({ type }) => type),
        ['bold', 'code', 'pre'],
      );
    }));

  test('goes out as it was written where the platform refuses the markup', () =>
    onChat(async ({ server, channel }) => {
      for (const kind of ['not-parsed', 'too-many-entities'] as const) {
        server.inject({ kind, method: 'sendMessage' });
        assert.equal((await channel().deliver(delivery({ text: '**b** & c' }), unending)).kind, 'sent');
        assert.equal(shown(server, ann.id).at(-1), '**b** & c', kind);
      }
    }));

  test('goes out as it was written where rendering would make it too long, or leave nothing', () =>
    onChat(async ({ server, channel }) => {
      const rows = Array.from({ length: 300 }, (_, row) => `|${row}|`).join('\n');
      const table = `| ${'wide '.repeat(10)} | b |\n|---|---|\n${rows}`;
      for (const text of [table, '>', '```\n```']) {
        assert.equal((await channel().deliver(delivery({ text }), unending)).kind, 'sent');
        assert.equal(shown(server, ann.id).at(-1), text);
      }
    }));

  test('goes to its topic', () =>
    onTelegram(async ({ server, channel }) => {
      server.people.write({ from: ann, chat: forum, thread: 5, text: 'hi' });
      await channel().deliver(delivery({ target: '-1002/5' }), unending);
      assert.equal(server.world.said(forum.id).at(-1)?.message.message_thread_id, 5);
      assert.equal((await channel().deliver(delivery({ target: '-1002/6' }), unending)).kind, 'failed');
    }));

  test('takes the place of its draft, once and for all', () =>
    onChat(async ({ server, channel }) => {
      const talking = channel();
      const draft = (await talking.live?.draft('42', '**hel', null, unending)) ?? null;
      const final = delivery({ text: '**hello**', replaces: draft });
      for (const attempt of [1, 2]) {
        assert.deepEqual(await talking.deliver(final, unending), { kind: 'sent', platformId: draft }, String(attempt));
      }
      assert.deepEqual(server.world.said(ann.id).at(-1)?.texts, ['**hel', 'hello']);
      assert.deepEqual(shown(server, ann.id), ['hello']);
    }));

  test('is sent anew if its draft is gone', () =>
    onChat(async ({ server, channel }) => {
      assert.deepEqual(await channel().deliver(delivery({ replaces: '77' }), unending), {
        kind: 'sent',
        platformId: '2',
      });
      assert.deepEqual(shown(server, ann.id), ['hello']);
    }));

  test('has its buttons below, in a row if they are short', () =>
    onChat(async ({ server, channel }) => {
      const rows = async (labels: readonly string[]) => {
        const buttons = labels.map((label, index) => ({ label, value: `v${index}` }));
        await channel().deliver(delivery({ buttons }), unending);
        return server.world
          .said(ann.id)
          .at(-1)
          ?.message.reply_markup?.inline_keyboard.map((row) => row.length);
      };
      assert.deepEqual(await rows(['Yes', 'No']), [2]);
      assert.deepEqual(await rows(['Run it this time', 'Always run it here', 'No']), [1, 1, 1]);
      assert.equal(await rows([]), undefined);
    }));

  test('follows a group that has become another chat', () =>
    onTelegram(async ({ server, channel }) => {
      server.people.write({ from: ann, chat: { id: -5, type: 'group' }, text: 'hi' });
      server.people.write({ from: ann, chat: group, text: 'hi' });
      Object.assign(server.world.findChat(-5) ?? {}, { movedTo: group.id });
      assert.equal((await channel().deliver(delivery({ target: '-5' }), unending)).kind, 'sent');
      assert.deepEqual(shown(server, group.id), ['hello']);
    }));

  const outcomes = [
    ['too-many', { kind: 'retry', afterMs: 7_000, notSent: true }, 0],
    ['error-before', { kind: 'retry', afterMs: 0 }, 0],
    ['error-after', { kind: 'retry', afterMs: 0 }, 1],
    ['page-before', { kind: 'retry', afterMs: 0 }, 0],
    ['page-after', { kind: 'retry', afterMs: 0 }, 1],
    ['drop-before', { kind: 'retry', afterMs: 0 }, 0],
    ['drop-after', { kind: 'retry', afterMs: 0 }, 1],
    ['garbage-after', { kind: 'retry', afterMs: 0 }, 1],
    ['hang-after', { kind: 'retry', afterMs: 0 }, 1],
    ['blocked', { kind: 'failed' }, 0],
    ['chat-not-found', { kind: 'failed' }, 0],
    ['unauthorized', { kind: 'retry', afterMs: 0, notSent: true }, 0],
  ] as const;
  for (const [kind, expected, stored] of outcomes) {
    test(`says what is known of it after ${kind}`, () =>
      onChat(async ({ server, channel, lines }) => {
        server.inject({ kind, method: 'sendMessage', retryAfterS: 7 });
        const { error, ...outcome } = (await channel({ times: { requestTimeoutMs: 100 } }).deliver(
          delivery(),
          unending,
        )) as {
          kind: string;
          error: string;
        };
        assert.deepEqual(outcome, expected);
        assert.equal(shown(server, ann.id).length, stored);
        assert.ok(error.length > 10 && error.length < 300);
        assert.ok(![error, ...lines].join('\n').includes(server.token.slice(-20)), 'the token is told');
      }));
  }

  test('was surely not sent if nobody listens there', async () => {
    await onTelegram(async ({ server, channel }) => {
      const talking = channel();
      await server.close();
      const outcome = await talking.deliver(delivery(), unending);
      assert.deepEqual(outcome, {
        kind: 'retry',
        afterMs: 0,
        error: 'Telegram could not be reached (ECONNREFUSED)',
        notSent: true,
      });
    });
  });

  test('to one who has blocked the bot fails with the reason', () =>
    onChat(async ({ server, channel }) => {
      Object.assign(server.world.findChat(ann.id) ?? {}, { blocked: true });
      assert.deepEqual(await channel().deliver(delivery(), unending), {
        kind: 'failed',
        error: 'Telegram answered 403: Forbidden: bot was blocked by the user',
      });
    }));
});

test('a pasted token is checked, and a wrong one is told from a broken connection', async () => {
  const server = await startTelegramServer();
  try {
    assert.deepEqual(await checkTelegramToken(server.token, server.url), { ok: true, botName: 'talaria_bot' });
    assert.deepEqual(await checkTelegramToken(`${server.token}x`, `${server.url}/`), {
      ok: false,
      text: 'Telegram does not know this token: copy it again from @BotFather, or make a new one there with /token.',
    });
    const nonsense = await checkTelegramToken('my token\n', server.url);
    assert.ok(!nonsense.ok && nonsense.text.startsWith('That is no token of Telegram'));
  } finally {
    await server.close();
  }
  const unreached = await checkTelegramToken(server.token, server.url);
  assert.ok(!unreached.ok);
  assert.match(unreached.text, /^Telegram could not be reached \(\w+\): check the connection and try again\.$/);
});
