import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { TelegramServer } from '../../../test/telegram-server/server-contract.ts';
import { onePixel } from '../channel-suite.ts';
import type { Delivery } from '../channel.ts';
import { documentBytesMax, photoBytesMax } from './send-file.ts';
import { ann, delivery, forum, onTelegram, unending, type TelegramStage } from './test-stage.ts';

const png = onePixel;
const fileOf = (name: string, mediaType: string, bytes: Uint8Array): Delivery['file'] => {
  return { name, mediaType, bytes: () => Promise.resolve(bytes) };
};

/** Ann has written before. */
function onChat(use: (stage: TelegramStage) => Promise<void>): Promise<void> {
  return onTelegram(async (stage) => {
    stage.server.people.write({ from: ann, text: 'hi' });
    await use(stage);
  });
}

/** What stands in Ann's chat: how it was sent, its name, its size and its caption. */
function filesIn({ world }: TelegramServer): unknown[] {
  return world
    .said(ann.id)
    .filter(({ byBot }) => byBot)
    .map(({ message: { photo, document, caption = '' } }) => {
      if (photo !== undefined) return ['photo', photo.at(-1)?.file_size, caption];
      return ['document', document?.file_name, document?.file_size, caption];
    });
}

describe('a file for Telegram', () => {
  test('is a photo if it is a picture that Telegram shows, and a document with its name otherwise', () =>
    onChat(async ({ server, channel }) => {
      for (const [name, type] of [
        ['a.png', 'image/png'],
        ['b.gif', 'image/gif'],
        ['c d.tar.gz', 'application/gzip'],
        ['../e/f\n.txt', 'text/plain'],
      ] as const) {
        assert.equal(
          (await channel().deliver(delivery({ text: '', file: fileOf(name, type, png) }), unending)).kind,
          'sent',
        );
      }
      const size = png.length;
      assert.deepEqual(filesIn(server), [
        ['photo', size, ''],
        ['document', 'b.gif', size, ''],
        ['document', 'c d.tar.gz', size, ''],
        ['document', '.._e_f_.txt', size, ''],
      ]);
    }));

  test('that Telegram does not take as a photo after all, or that is too large for one, is a document', () =>
    onChat(async ({ server, channel }) => {
      const large = new Uint8Array(photoBytesMax + 1);
      large.set(png);
      for (const bytes of [Uint8Array.of(1, 2, 3), large]) {
        const outcome = await channel().deliver(delivery({ file: fileOf('a.png', 'image/png', bytes) }), unending);
        assert.equal(outcome.kind, 'sent');
      }
      assert.deepEqual(filesIn(server), [
        ['document', 'a.png', 3, 'hello'],
        ['document', 'a.png', large.length, 'hello'],
      ]);
      assert.equal(server.calls('sendPhoto').length, 1);
    }));

  test('has its caption rendered, or as it was written where the platform refuses the markup', () =>
    onChat(async ({ server, channel }) => {
      const file = fileOf('a.txt', 'text/plain', png);
      await channel().deliver(delivery({ text: '**b** & c', file }), unending);
      server.inject({ kind: 'not-parsed', method: 'sendDocument' });
      await channel().deliver(delivery({ text: '**b** & c', file }), unending);
      const captions = server.world.said(ann.id).flatMap(({ message: { caption } }) => caption ?? []);
      assert.deepEqual(captions, ['b & c', '**b** & c']);
      assert.equal(server.world.said(ann.id)[1]?.message.caption_entities?.[0]?.type, 'bold');
    }));

  test('goes to its topic, with its buttons', () =>
    onTelegram(async ({ server, channel }) => {
      server.people.write({ from: ann, chat: forum, thread: 5, text: 'hi' });
      const buttons = [{ label: 'Again', value: '/retry' }];
      const file = fileOf('a.png', 'image/png', png);
      await channel().deliver(delivery({ target: '-1002/5', buttons, file }), unending);
      const sent = server.world.said(forum.id).at(-1)?.message;
      assert.deepEqual(
        [sent?.message_thread_id, sent?.reply_markup?.inline_keyboard.flat().map(({ text }) => text)],
        [5, ['Again']],
      );
    }));

  test('that Telegram would not take is not sent, and the reason is told', () =>
    onChat(async ({ server, channel }) => {
      const file = fileOf('a.bin', 'application/octet-stream', new Uint8Array(documentBytesMax + 1));
      assert.deepEqual(await channel().deliver(delivery({ file }), unending), {
        kind: 'failed',
        error: 'a.bin has 50000001 bytes; Telegram takes at most 50000000',
      });
      assert.equal(server.calls('sendDocument').length, 0);
    }));

  test('is slowed down, lost and refused as a text is', () =>
    onChat(async ({ server, channel }) => {
      const file = fileOf('a.png', 'image/png', png);
      for (const [kind, expected] of [
        ['too-many', ['retry', 7_000, true]],
        ['drop-before', ['retry', 0, undefined]],
        ['drop-after', ['retry', 0, undefined]],
        ['error-after', ['retry', 0, undefined]],
      ] as const) {
        server.inject({ kind, method: 'sendPhoto', retryAfterS: 7 });
        const outcome = await channel().deliver(delivery({ file }), unending);
        assert.deepEqual(
          outcome.kind === 'retry' ? [outcome.kind, outcome.afterMs, outcome.notSent] : outcome,
          expected,
          kind,
        );
      }
    }));
});
