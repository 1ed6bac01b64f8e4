/**
 * The contract of a channel as tests, for every platform that keeps messages until they are confirmed. Each runs against
 * the real platform's manners, scripted, through the channel's own client.
 */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import type { Channel, Delivery } from './channel.ts';
import { FakeChannelPort } from './fake-channel-port.ts';
import type { OutboxId } from '../protocol/ids.ts';

export interface ChannelStage {
  /** A new channel to the same platform, as a new process would make it. */
  create(): Channel;
  /** Where somebody has written before, so that they can be answered. */
  readonly target: string;
  /** Somebody writes there. */
  write(text: string): void;
  /** How many messages the platform would give out again. */
  unconfirmed(): number;
  /** What can be read there, of the channel's own. */
  shown(): readonly string[];
  /** The files that can be read there; missing where the channel's people read them elsewhere. */
  files?(): readonly SentFileShown[];
  /** The next message to the platform is never answered. */
  hang(): void;
  /** Resolves when it holds. */
  until(holds: () => boolean, what: string): Promise<void>;
  close(): Promise<void>;
}

export interface SentFileShown {
  readonly kind: 'picture' | 'document';
  readonly bytes: Uint8Array;
  readonly caption: string;
}

export function channelSuite(name: string, open: () => Promise<ChannelStage>): void {
  describe(`${name} keeps the contract of a channel`, () => {
    let stage: ChannelStage;
    let port: FakeChannelPort;
    const channels: Channel[] = [];
    const begin = () => {
      const channel = stage.create();
      channels.push(channel);
      return channel;
    };
    const send = (channel: Channel, change: Partial<Delivery> = {}, signal = new AbortController().signal) =>
      channel.deliver({ ...delivery, target: stage.target, ...change }, signal);

    beforeEach(async () => {
      stage = await open();
      port = new FakeChannelPort();
    });

    afterEach(async () => {
      for (const channel of channels.splice(0)) await channel.stop();
      await stage.close();
    });

    test('what somebody wrote arrives, in order', async () => {
      await begin().start(port, []);
      for (const text of ['one', 'two', 'three']) stage.write(text);
      await port.until(() => port.stored.length === 3);
      assert.deepEqual(port.texts, ['one', 'two', 'three']);
      assert.deepEqual(new Set(port.stored.map(({ place }) => place.target ?? place.chat)), new Set([stage.target]));
      assert.equal(new Set(port.stored.map(({ externalId }) => externalId)).size, 3);
    });

    test('starting twice is starting once', async () => {
      const channel = begin();
      await Promise.all([channel.start(port, []), channel.start(port, [])]);
      await channel.start(port, []);
      stage.write('once');
      await stage.until(() => port.stored.length === 1 && stage.unconfirmed() === 0, 'the message is confirmed');
      assert.equal(port.asked.length, 1);
    });

    test('stopping is possible at any time, any number of times', async () => {
      await begin().stop();
      const channel = begin();
      const started = channel.start(port, []);
      await Promise.all([channel.stop(), channel.stop(), started]);
      await channel.stop();
    });

    test('a message is confirmed only after it is stored', async () => {
      const release = port.hold();
      await begin().start(port, []);
      stage.write('wait');
      await port.until(() => port.asked.length === 1);
      assert.equal(stage.unconfirmed(), 1);
      release();
      await stage.until(() => stage.unconfirmed() === 0, 'the message is confirmed');
      assert.deepEqual(port.texts, ['wait']);
    });

    test('a message whose process died before it was stored comes to the next one', async () => {
      const release = port.hold();
      await begin().start(port, []);
      stage.write('lost once');
      await port.until(() => port.asked.length === 1);
      const next = new FakeChannelPort();
      await begin().start(next, []);
      await next.until(() => next.stored.length === 1);
      assert.deepEqual(next.texts, ['lost once']);
      assert.equal(next.stored[0]?.externalId, port.asked[0]?.externalId);
      release();
    });

    test('what can not be stored now is not confirmed and comes again', async () => {
      port.refusal = { kind: 'refused', reason: 'draining', text: 'later' };
      await begin().start(port, []);
      stage.write('later');
      await port.until(() => port.asked.length === 1);
      port.refusal = new Error('the disk is full');
      await port.until(() => port.asked.length === 3);
      assert.equal(stage.unconfirmed(), 1);
      port.refusal = null;
      await stage.until(() => port.stored.length === 1 && stage.unconfirmed() === 0, 'the message is confirmed');
    });

    test('stopping waits for what is under way, confirms it, and takes no more', async () => {
      const release = port.hold();
      const channel = begin();
      await channel.start(port, []);
      stage.write('under way');
      await port.until(() => port.asked.length === 1);
      const stopped = channel.stop();
      stage.write('too late');
      release();
      await stopped;
      assert.deepEqual([port.texts, stage.unconfirmed()], [['under way'], 1]);
    });

    test('a reply arrives and is known by its id', async () => {
      const outcome = await send(begin(), { text: 'hello' });
      assert.ok(outcome.kind === 'sent' && outcome.platformId !== null);
      assert.deepEqual(stage.shown(), ['hello']);
    });

    test('a file arrives as it is, with its caption', async (context) => {
      const { files } = stage;
      if (files === undefined) return context.skip('its people read files elsewhere');
      const [bytes, picture] = [Uint8Array.from([0, 255, 13, 10, 0]), onePixel];
      const send1 = await send(begin(), { text: 'see **page** 2', file: fileOf('a.pdf', 'application/pdf', bytes) });
      assert.ok(send1.kind === 'sent' && send1.platformId !== null);
      assert.equal((await send(begin(), { text: '', file: fileOf('b.png', 'image/png', picture) })).kind, 'sent');
      assert.deepEqual(files.call(stage), [
        { kind: 'document', bytes, caption: 'see page 2' },
        { kind: 'picture', bytes: picture, caption: '' },
      ]);
    });

    test('a file whose bytes can not be had is not claimed to be sent', async () => {
      if (stage.files === undefined) return;
      const bytes = () => Promise.reject(new Error('the disk is gone'));
      const file = { name: 'a', mediaType: 'text/plain', bytes };
      await assert.rejects(
        send(begin(), { file }).then((outcome) => {
          if (outcome.kind !== 'sent') throw new Error('not sent');
        }),
      );
    });

    test('a reply can be sent before the start and after the end', async () => {
      const channel = begin();
      assert.equal((await send(channel, { text: 'before' })).kind, 'sent');
      await channel.start(port, []);
      await channel.stop();
      assert.equal((await send(channel, { text: 'after' })).kind, 'sent');
      assert.deepEqual(stage.shown(), ['before', 'after']);
    });

    test('a reply of the greatest length arrives whole', async () => {
      const channel = begin();
      const text = 'word '.repeat(Math.floor((channel.limits.textCharsMax ?? 10_000) / 5)).trim();
      assert.equal((await send(channel, { text })).kind, 'sent');
      assert.deepEqual(stage.shown(), [text]);
    });

    test('a reply to nowhere fails, and nothing is thrown', async () => {
      for (const target of ['', 'nowhere', '999999999', '../x', '1/2/3', '\0']) {
        assert.equal((await send(begin(), { target, text: 'x' })).kind, 'failed', target);
      }
    });

    test('told to stop before it begins, a delivery sends nothing and says so', async () => {
      const outcome = await send(begin(), { text: 'x' }, AbortSignal.abort());
      assert.ok(outcome.kind === 'retry' && outcome.notSent === true);
      assert.deepEqual(stage.shown(), []);
    });

    test('told to stop while the platform says nothing, a delivery ends and does not claim to know', async () => {
      stage.hang();
      const stop = new AbortController();
      const outcome = send(begin(), { text: 'x' }, stop.signal);
      stop.abort();
      const { kind, notSent } = (await outcome) as { kind: string; notSent?: true };
      assert.deepEqual([kind, notSent], ['retry', undefined]);
    });

    test('a draft becomes the reply', async () => {
      const channel = begin();
      const { live } = channel;
      if (live === undefined) return;
      const { signal } = new AbortController();
      const draft = await live.draft(stage.target, 'hel', null, signal);
      assert.ok(draft !== null);
      assert.deepEqual(await send(channel, { text: 'hello', replaces: draft }), { kind: 'sent', platformId: draft });
      assert.deepEqual(stage.shown(), ['hello']);
      await live.remove(stage.target, draft, signal);
      assert.deepEqual(stage.shown(), []);
      await live.typing('nowhere', signal);
      await live.remove('nowhere', '1', signal);
      assert.equal(await live.draft('nowhere', 'x', null, signal), null);
    });
  });
}

const delivery: Delivery = {
  id: 'out_test' as OutboxId,
  sessionId: null,
  target: '',
  text: '',
  dedupeId: 'out_test/1',
  replaces: null,
  buttons: [],
  file: null,
};

function fileOf(name: string, mediaType: string, bytes: Uint8Array): Delivery['file'] {
  return { name, mediaType, bytes: () => Promise.resolve(bytes) };
}

export const onePixel = Uint8Array.from(
  Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  ),
);
