import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { describe, test } from 'node:test';
import { ann, group, onTelegram } from './test-stage.ts';

const bytes = randomBytes(5_000);
const base64 = bytes.toString('base64');
const sha256 = createHash('sha256').update(bytes).digest('hex');

describe('what people send to Telegram besides text', () => {
  test('a photo comes with its bytes, by their hash', () =>
    onTelegram(async ({ server, port, channel }) => {
      await channel().start(port, []);
      server.people.write({ from: ann, caption: 'a cat', photo: { base64 } });
      await port.until(() => port.stored.length === 1);
      assert.deepEqual(port.stored[0]?.message.parts, [
        { kind: 'text', text: 'a cat' },
        { kind: 'image', content: { sha256, bytes: 5_000, mediaType: 'image/jpeg' } },
      ]);
      assert.deepEqual(port.stored[0]?.contents, [{ sha256, bytes }]);
    }));

  test('a document comes as a file, and a voice note as one with words', () =>
    onTelegram(async ({ server, port, channel }) => {
      await channel().start(port, []);
      server.people.write({ from: ann, document: { base64, name: 'a b.pdf', mediaType: 'application/pdf' } });
      const file = server.world.keepFile(bytes, 'oga');
      const voice = { file_id: file.id, file_unique_id: 'u', duration: 12, mime_type: 'audio/ogg', file_size: 5_000 };
      server.people.write({ from: ann, fields: { voice } });
      await port.until(() => port.stored.length === 2);
      assert.deepEqual(
        port.stored.map(({ message }) => message.parts),
        [
          [{ kind: 'file', name: 'a b.pdf', content: { sha256, bytes: 5_000, mediaType: 'application/pdf' } }],
          [
            { kind: 'text', text: '[voice note, 12 s: not transcribed]' },
            { kind: 'file', name: 'voice-note.ogg', content: { sha256, bytes: 5_000, mediaType: 'audio/ogg' } },
          ],
        ],
      );
    }));

  test('a download that fails is tried again, and told in words when it is given up', () =>
    onTelegram(async ({ server, port, channel }) => {
      server.inject({ kind: 'error-before', method: 'download' });
      server.inject({ kind: 'drop-before', method: 'getFile' });
      await channel().start(port, []);
      server.people.write({ from: ann, photo: { base64 } });
      await port.until(() => port.stored.length === 1);
      assert.equal(port.stored[0]?.contents?.length, 1);
      server.inject({ kind: 'drop-before', method: 'download', times: 3 });
      server.people.write({ from: ann, caption: 'this?', photo: { base64 } });
      await port.until(() => port.stored.length === 2);
      assert.deepEqual(port.stored[1]?.message.parts, [{ kind: 'text', text: '[photo: could not be fetched]\nthis?' }]);
    }));

  test('a file that is larger than the platform said is not taken in', () =>
    onTelegram(async ({ server, port, channel }) => {
      await channel().start(port, []);
      const large = Buffer.alloc(20_500_000).toString('base64');
      server.people.write({ from: ann, document: { base64: large, name: 'x.bin', size: 10 } });
      await port.until(() => port.stored.length === 1);
      assert.deepEqual(port.texts, ['[document "x.bin": could not be fetched]']);
    }));

  test('a command stays one if what came with it can not be fetched', () =>
    onTelegram(async ({ server, port, channel }) => {
      await channel().start(port, []);
      server.inject({ kind: 'chat-not-found', method: 'getFile' });
      server.people.write({ from: ann, caption: '/queue look', photo: { base64 } });
      await port.until(() => port.stored.length === 1);
      assert.deepEqual(port.texts, ['/queue look\n[photo: could not be fetched]']);
    }));

  test('stopped while it fetches, the message is left for the next process', () =>
    onTelegram(async ({ server, port, channel }) => {
      server.inject({ kind: 'hang-before', method: 'download' });
      const first = channel();
      await first.start(port, []);
      server.people.write({ from: ann, photo: { base64 } });
      await server.until(() => server.calls('download').length === 1, 'the download has begun');
      await first.stop();
      assert.deepEqual([port.asked.length, server.updates.pending.length], [0, 1]);
      await channel().start(port, []);
      await port.until(() => port.stored.length === 1);
    }));

  test('nothing is fetched for whom it is not worth it', () =>
    onTelegram(async ({ server, port, channel }) => {
      port.mayFetch = ({ sender, isAddressed }) => Promise.resolve(sender.id !== '42' && isAddressed !== false);
      await channel().start(port, []);
      server.people.write({ from: ann, photo: { base64 } });
      server.people.write({ from: { id: 9 }, chat: group, caption: 'not for you', photo: { base64 } });
      await port.until(() => port.stored.length === 2);
      assert.equal(server.calls('getFile').length, 0);
    }));

  test('the pictures of an album that come one by one are handed over together', () =>
    onTelegram(async ({ server, port, channel }) => {
      await channel({ times: { albumWaitMs: 1_500 } }).start(port, []);
      await server.until(() => server.updates.isPolled, 'it polls');
      const album = { from: ann, photo: { base64 }, album: 'g1' };
      server.people.write({ ...album, caption: 'which is best?' });
      await server.until(
        () => server.calls('getUpdates').some(({ result }) => Array.isArray(result)),
        'the first came',
      );
      server.people.write(album);
      server.people.write(album);
      const release = port.hold();
      await server.until(() => port.asked.length === 3, 'all are handed over').finally(release);
      await server.until(() => server.updates.pending.length === 0, 'all are confirmed');
      assert.equal(port.stored.length, 3);
    }));

  test('an album is handed over in one breath, and its words count for all of it', () =>
    onTelegram(async ({ server, port, channel }) => {
      const album = { from: ann, chat: group, photo: { base64 }, album: 'g1' };
      server.people.write(album);
      server.people.write({ ...album, caption: '@talaria_bot which is best?' });
      server.people.write(album);
      const release = port.hold();
      await channel().start(port, []);
      await port.until(() => port.asked.length === 3);
      release();
      await server.until(() => server.updates.pending.length === 0, 'all are confirmed');
      assert.deepEqual(
        port.stored.map(({ externalId, isAddressed }) => [externalId, isAddressed]),
        [1, 2, 3].map((number) => [`${server.world.bot.id}:-1001:${number}`, true]),
      );
      // A straggler, in a later batch.
      server.people.write(album);
      await port.until(() => port.stored.length === 4);
      assert.equal(port.stored[3]?.isAddressed, true);
    }));
});
