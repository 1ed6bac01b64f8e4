import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { listen } from '../../http/listener.ts';
import { createRouter } from '../../http/router.ts';
import { silentLog } from '../../lib/log.ts';
import type { TelegramChannel } from './telegram-channel.ts';
import { ann, onTelegram, type TelegramStage } from './test-stage.ts';

const secret = 'a-Secret_1';
const header = 'x-telegram-bot-api-secret-token';

interface WebhookStage extends TelegramStage {
  readonly url: string;
  readonly hooked: TelegramChannel;
  readonly post: (body: string, headers?: Record<string, string>) => Promise<number>;
}

const onWebhook = (use: (stage: WebhookStage) => Promise<void>) =>
  onTelegram(async (stage) => {
    let hooked: TelegramChannel | null = null;
    const handle = createRouter([
      { method: 'POST', path: '/telegram', handle: (request) => hooked?.handleWebhook(request) ?? { status: 500 } },
    ]);
    const listener = await listen({ host: '127.0.0.1', port: 0, handle, log: silentLog });
    const url = `http://127.0.0.1:${listener.port}/telegram`;
    hooked = stage.channel({ webhook: { url, secret } });
    const post = async (body: string, headers: Record<string, string> = { [header]: secret }) => {
      const answer = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body,
      });
      await answer.arrayBuffer();
      return answer.status;
    };
    try {
      await use({ ...stage, url, hooked, post });
    } finally {
      await hooked.stop();
      stage.server.webhook.set(null);
      await listener.close();
    }
  });

describe('the webhook of Telegram', () => {
  test('takes what the platform posts, in order, and nothing is polled for', () =>
    onWebhook(async ({ server, port, hooked, url }) => {
      for (const text of ['one', 'two', 'three']) server.people.write({ from: ann, text });
      await hooked.start(port, []);
      await server.until(() => server.updates.pending.length === 0, 'all are taken');
      assert.deepEqual(port.texts, ['one', 'two', 'three']);
      assert.deepEqual(server.webhook.webhook, { url, secret });
      assert.equal(server.calls('getUpdates').length, 0);
    }));

  test('answers only once the update is stored', () =>
    onWebhook(async ({ server, port, hooked }) => {
      const release = port.hold();
      await hooked.start(port, []);
      server.people.write({ from: ann, text: 'wait' });
      await port.until(() => port.asked.length === 1);
      assert.equal(server.updates.pending.length, 1);
      release();
      await server.until(() => server.updates.pending.length === 0, 'it is taken');
    }));

  test('has the platform post again what could not be stored', () =>
    onWebhook(async ({ server, port, hooked }) => {
      port.refusal = new Error('no room');
      await hooked.start(port, []);
      server.people.write({ from: ann, text: 'again' });
      await port.until(() => port.asked.length === 2);
      port.refusal = { kind: 'refused', reason: 'draining', text: 'later' };
      await port.until(() => port.asked.length === 4);
      port.refusal = null;
      await server.until(() => server.updates.pending.length === 0, 'it is taken');
      assert.deepEqual(port.texts, ['again']);
    }));

  test('turns away whoever does not know the secret', () =>
    onWebhook(async ({ server, port, hooked, post }) => {
      await hooked.start(port, []);
      const { update } = server.people.write({ from: ann, text: 'let me in' });
      server.webhook.set(null);
      await port.until(() => true);
      const before = port.asked.length;
      const body = JSON.stringify({ ...update, update_id: 1 });
      for (const wrong of [{}, { [header]: '' }, { [header]: 'a-Secret_2' }, { [header]: `${secret}x` }]) {
        assert.equal(await post(body, wrong), 401);
      }
      assert.equal(port.asked.length, before);
      assert.equal(await post(body), 200);
    }));

  test('turns down what is no update', () =>
    onWebhook(async ({ port, hooked, post }) => {
      await hooked.start(port, []);
      for (const body of ['{}', '[]', 'null', '{"update_id":"1"}', '{', '{"update_id":1.5}']) {
        assert.equal(await post(body), 400, body);
      }
      assert.equal(await post(JSON.stringify({ update_id: 1, text: 'x'.repeat(1_100_000) })), 413);
      assert.equal(await post('{"update_id":1}'), 200);
    }));

  test('takes nothing before the start, after the end, or without a secret', () =>
    onWebhook(async ({ port, hooked, post, channel }) => {
      assert.equal(await post('{"update_id":1}'), 503);
      await hooked.start(port, []);
      await hooked.stop();
      assert.equal(await post('{"update_id":1}'), 503);
      const polling = channel();
      const answer = await polling.handleWebhook({
        method: 'POST',
        path: '/',
        params: {},
        query: new URLSearchParams(),
        header: () => '',
        signal: new AbortController().signal,
        body: (async function* () {})(),
      });
      assert.equal(answer.status, 404);
    }));

  test('with a secret that Telegram does not take is said at the start', () =>
    onTelegram(async ({ port, channel }) => {
      const bad = channel({ webhook: { url: 'https://x.example/', secret: 'no spaces please' } });
      await assert.rejects(bad.start(port, []), /secret token contains unallowed characters/);
    }));
});
