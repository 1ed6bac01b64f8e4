import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FakeClock } from '../../lib/fake-clock.ts';
import { present } from '../../lib/assert.ts';
import { ann, delivery, forum, group, onTelegram, shown, unending, type TelegramStage } from './test-stage.ts';

const paced = { editEveryMs: 1_000, groupEditEveryMs: 3_000 };

const live = (
  use: (stage: TelegramStage & { clock: FakeClock; display: ReturnType<typeof displayOf> }) => Promise<void>,
) =>
  onTelegram(async (stage) => {
    stage.server.people.write({ from: ann, text: 'hi' });
    stage.server.people.write({ from: ann, chat: group, text: 'hi' });
    const clock = new FakeClock();
    await use({ ...stage, clock, display: displayOf(stage, clock) });
  });

function displayOf(stage: TelegramStage, clock: FakeClock) {
  return present(stage.channel({ clock, times: paced }).live, 'the display');
}

describe('work in progress on Telegram', () => {
  test('a draft is edited in place, as plain text', () =>
    live(async ({ server, display }) => {
      const id = await display.draft('42', '**a', null, unending);
      assert.equal(id, '2');
      assert.deepEqual(shown(server, ann.id), ['**a']);
      assert.equal(await display.draft('42', '**a b c', id, unending), id);
      assert.deepEqual(shown(server, ann.id), ['**a b c']);
      assert.deepEqual([display.editEveryMs, server.calls('editMessageText').length], [1_000, 1]);
    }));

  test('drafts of one chat take turns: one a second in a private chat, twenty a minute in a group with all its topics', () =>
    live(async ({ server, clock, display }) => {
      const turns = (...targets: string[]) => targets.map((target) => display.turnInMs?.(target));
      assert.deepEqual(turns('42', '42', '43', '42'), [0, 1_000, 0, 2_000]);
      assert.deepEqual(turns('-1001', '-1002/5', '-1002', '-1002/6', '-1001'), [0, 0, 3_000, 6_000, 3_000]);
      assert.deepEqual(turns('nonsense', 'nonsense'), [0, 0]);
      await clock.advance(10_000);
      assert.deepEqual(turns('-1002', '-1002'), [0, 3_000], 'a turn that nobody took is over');
      server.inject({ kind: 'too-many', method: 'sendMessage', retryAfterS: 30 });
      await display.draft('-1001', 'a', null, unending);
      assert.deepEqual(turns('-1001', '-1001'), [30_000, 33_000]);
    }));

  test('a draft that is the same, or too long, or blank does no harm', () =>
    live(async ({ server, clock, display }) => {
      const id = await display.draft('42', 'a', null, unending);
      await clock.advance(1_000);
      assert.equal(await display.draft('42', 'a', id, unending), id);
      await clock.advance(1_000);
      assert.equal(await display.draft('42', 'b'.repeat(9_000), id, unending), id);
      assert.equal(shown(server, ann.id)[0]?.length, 4_096);
      await clock.advance(1_000);
      assert.equal(await display.draft('42', ' \n', id, unending), id);
    }));

  test('a platform that wants to be left alone is, until that is over', () =>
    live(async ({ server, clock, display }) => {
      server.inject({ kind: 'too-many', method: 'sendMessage', retryAfterS: 30 });
      assert.equal(await display.draft('42', 'a', null, unending), null);
      const before = server.calls().length;
      await clock.advance(29_000);
      assert.equal(await display.draft('42', 'ab', null, unending), null);
      await display.typing('42', unending);
      assert.equal(server.calls().length, before);
      await clock.advance(1_001);
      assert.equal(await display.draft('42', 'abc', null, unending), '2');
    }));

  test('a limit that an answer met holds for drafts too', () =>
    onTelegram(async (stage) => {
      const { server } = stage;
      server.people.write({ from: ann, text: 'hi' });
      const channel = stage.channel({ clock: new FakeClock(), times: paced });
      server.inject({ kind: 'too-many', method: 'sendMessage', retryAfterS: 30 });
      assert.equal((await channel.deliver(delivery(), unending)).kind, 'retry');
      assert.equal(await channel.live?.draft('42', 'a', null, unending), null);
      assert.equal(server.calls('sendMessage').length, 1);
    }));

  test('typing is shown in the topic it is about', () =>
    live(async ({ server, display }) => {
      server.people.write({ from: ann, chat: forum, thread: 5, text: 'hi' });
      await display.typing('-1002/5', unending);
      assert.deepEqual(
        server.calls('sendChatAction').map(({ payload }) => payload),
        [{ chat_id: '-1002', message_thread_id: 5, action: 'typing' }],
      );
    }));

  test('a draft that may still stand there is an error, one that is gone is not', () =>
    live(async ({ server, display }) => {
      const id = present(await display.draft('42', 'a', null, unending), 'a draft');
      for (const kind of ['error-before', 'too-many', 'drop-before'] as const) {
        server.inject({ kind, method: 'deleteMessage' });
        await assert.rejects(display.remove('42', id, unending), { name: 'TelegramError' });
      }
      await display.remove('42', id, unending);
      await display.remove('42', id, unending);
      assert.deepEqual(shown(server, ann.id), []);
    }));

  test('nothing else here fails aloud', () =>
    live(async ({ server, display, clock }) => {
      for (const kind of ['error-before', 'drop-after', 'blocked', 'page-after'] as const) {
        server.inject({ kind, times: 2 });
        await display.typing('42', unending);
        assert.equal(await display.draft('42', kind, null, unending), null);
        await clock.advance(1_000);
      }
      await display.typing('42', AbortSignal.abort());
      assert.equal(await display.draft('42', 'x', '99', AbortSignal.abort()), null);
    }));
});
