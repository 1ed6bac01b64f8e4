import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { textOf } from '../../protocol/messages.ts';
import { ann, bob, group, onTelegram, shown } from './test-stage.ts';

describe('polling Telegram', () => {
  test('the offset never passes an update that is not stored', () =>
    onTelegram(async ({ server, port, channel }) => {
      const release = port.hold();
      for (const text of ['one', 'two', 'three']) server.people.write({ from: ann, text });
      await channel().start(port, []);
      await port.until(() => port.asked.length === 1);
      assert.equal(server.updates.pending.length, 3);
      release();
      await server.until(() => server.updates.pending.length === 0, 'all are confirmed');
      assert.deepEqual(port.texts, ['one', 'two', 'three']);
    }));

  test('one that can not be stored holds up its own chat, and the others are stored all the same', () =>
    onTelegram(async ({ server, port, channel }) => {
      const [first] = [ann, bob].map((from) => server.people.write({ from, text: from.name }).update?.update_id);
      server.people.write({ from: ann, text: 'more' });
      let failures = 0;
      const picky = {
        receive: (message: Parameters<typeof port.receive>[0]) =>
          message.sender.id === '42' && failures++ < 3 ? Promise.reject(new Error('no room')) : port.receive(message),
        press: port.press.bind(port),
        mayFetch: port.mayFetch,
      };
      await channel().start(picky, []);
      await port.until(() => port.texts.includes('Bob'));
      assert.equal(server.updates.pending[0]?.update_id, first);
      await server.until(() => server.updates.pending.length === 0, 'all are confirmed');
      assert.deepEqual(
        port.texts.filter((text) => text !== 'Bob'),
        ['Ann', 'more'],
      );
    }));

  test('one whose message can not be stored is told so once, unless nobody listens to them', () =>
    onTelegram(async ({ server, port, channel }) => {
      for (const from of [ann, bob]) server.people.write({ from, text: 'hello' });
      server.people.write({ from: ann, chat: group, text: 'just talking' });
      let tries = 0;
      const full = {
        receive: (message: Parameters<typeof port.receive>[0]) =>
          tries++ < 12 ? Promise.reject(new Error('no room')) : port.receive(message),
        press: port.press.bind(port),
        mayFetch: ({ sender }: { readonly sender: { readonly id: string } }) => Promise.resolve(sender.id === '42'),
      };
      await channel().start(full, []);
      await server.until(() => shown(server, ann.id).length > 0, 'a word to Ann');
      await server.until(() => server.updates.pending.length === 0, 'all are confirmed');
      assert.deepEqual(
        [ann, bob, group].map(({ id }) => shown(server, id)),
        [['Your message can not be stored right now. I keep trying; there is no need to send it again.'], [], []],
      );
    }));

  test('a large file holds up its own chat only, and nothing is confirmed before it is stored', () =>
    onTelegram(async ({ server, port, channel }) => {
      server.inject({ kind: 'hang-before', method: 'download' });
      const stopped = channel();
      await stopped.start(port, []);
      const { update } = server.people.write({ from: ann, photo: { base64: 'AAAA' } });
      await server.until(() => server.calls('download').length === 1, 'the download has begun');
      server.people.write({ from: ann, text: 'after it' });
      for (const text of ['/stop', 'and more']) {
        server.people.write({ from: bob, text });
        await server.until(() => port.texts.includes(text), text);
      }
      assert.deepEqual(port.texts, ['/stop', 'and more']);
      assert.equal(server.updates.pending[0]?.update_id, update?.update_id);
      await stopped.stop();
      await channel().start(port, []);
      await server.until(() => server.updates.pending.length === 0, 'all are confirmed');
      assert.deepEqual(port.texts, ['/stop', 'and more', '', 'after it']);
      assert.equal(port.stored.length, 4);
    }));

  test('what could not be stored is stored before what its chat says later, while another chat sends a large file', () =>
    onTelegram(async ({ server, port, channel }) => {
      server.inject({ kind: 'hang-before', method: 'download' });
      server.people.write({ from: bob, photo: { base64: 'AAAA' } });
      server.people.write({ from: ann, text: 'one' });
      let failures = 0;
      const picky = {
        receive: (message: Parameters<typeof port.receive>[0]) =>
          message.sender.id === '42' && failures++ < 1 ? Promise.reject(new Error('no room')) : port.receive(message),
        press: port.press.bind(port),
        mayFetch: port.mayFetch,
      };
      await channel({ times: { downloadTimeoutMs: 900 } }).start(picky, []);
      await server.until(() => failures === 1, 'the first try');
      server.people.write({ from: ann, text: 'two' });
      await server.until(() => server.updates.pending.length === 0, 'all are confirmed');
      assert.deepEqual(port.texts, ['', 'one', 'two']);
      const polls = server.calls('getUpdates').length;
      assert.ok(polls < 20, `${polls} polls`);
    }));

  test('duplicates, lost confirmations and wrong order change nothing', () =>
    onTelegram(async ({ server, port, channel }) => {
      server.inject({ kind: 'reorder', method: 'getUpdates', times: 1 });
      server.inject({ kind: 'unconfirmed', method: 'getUpdates', times: 2 });
      for (const text of ['one', 'two', 'three']) server.people.write({ from: ann, text, updates: 2 });
      const [again] = server.updates.pending;
      await channel().start(port, []);
      await server.until(() => server.updates.pending.length === 0, 'all are confirmed');
      if (again !== undefined) server.updates.restore(again);
      server.people.write({ from: ann, text: 'four' });
      await port.until(() => port.stored.length === 4);
      assert.deepEqual(port.texts, ['one', 'two', 'three', 'four']);
    }));

  test('after a week of silence the platform counts anew: what comes then is taken once and confirmed', () =>
    onTelegram(async ({ server, port, channel }) => {
      await channel().start(port, []);
      server.people.write({ from: ann, text: 'before' });
      await server.until(() => server.updates.pending.length === 0, 'it is confirmed');
      server.updates.countAnew(1_000);
      for (const text of ['after', 'and more']) {
        server.people.write({ from: ann, text });
        await server.until(() => server.updates.pending.length === 0, `${text} is confirmed`);
      }
      assert.deepEqual(
        port.asked.map(({ message }) => textOf(message)),
        ['before', 'after', 'and more'],
      );
    }));

  test('what is under way when it stops is stored and confirmed', () =>
    onTelegram(async ({ server, port, channel }) => {
      const release = port.hold();
      const stopped = channel();
      await stopped.start(port, []);
      server.people.write({ from: ann, text: 'the last one' });
      await port.until(() => port.asked.length === 1);
      const stopping = stopped.stop();
      release();
      await stopping;
      assert.deepEqual([port.texts, server.updates.pending], [['the last one'], []]);
    }));

  test('an edit and a deletion are no messages', () =>
    onTelegram(async ({ server, port, channel }) => {
      const { message } = server.people.write({ from: ann, text: 'frist' });
      server.people.edit(ann.id, message.message_id, 'first');
      server.people.remove(ann.id, message.message_id);
      server.people.write({ from: ann, text: 'next' });
      await channel().start(port, []);
      await server.until(() => server.updates.pending.length === 0, 'all are confirmed');
      assert.deepEqual(
        port.asked.map(({ externalId }) => externalId),
        [`${server.world.bot.id}:42:1`, `${server.world.bot.id}:42:2`],
      );
      assert.deepEqual(port.texts.at(-1), 'next');
    }));

  test('a backlog of 5,000 is worked off in order, a hundred at a time', () =>
    onTelegram(async ({ server, port, channel }) => {
      const people = Array.from({ length: 50 }, (_, index) => ({ id: 100 + index }));
      for (let count = 0; count < 5_000; count += 1) {
        const from = people[count % people.length] ?? ann;
        server.people.write({ from, text: `${from.id} says ${Math.floor(count / people.length)}` });
      }
      let inside = 0;
      let most = 0;
      const counting = {
        async receive(message: Parameters<typeof port.receive>[0]) {
          inside += 1;
          most = Math.max(most, inside);
          const receipt = await port.receive(message);
          inside -= 1;
          return receipt;
        },
        press: port.press.bind(port),
        mayFetch: port.mayFetch,
      };
      await channel().start(counting, []);
      await server.until(() => server.updates.pending.length === 0, 'all are confirmed');
      assert.equal(port.stored.length, 5_000);
      assert.equal(port.asked.length, 5_000);
      for (const { id } of people) {
        const said = port.texts.filter((text) => text.startsWith(`${id} `));
        assert.deepEqual(
          said,
          said.map((_, index) => `${id} says ${index}`),
        );
      }
      assert.ok(most <= 4, `${most} at once`);
      const batches = server.calls('getUpdates').map(({ result }) => (Array.isArray(result) ? result.length : 0));
      assert.ok(Math.max(...batches) <= 100);
    }));

  test('another poller is waited out, and said once', () =>
    onTelegram(async ({ server, port, channel, lines }) => {
      server.inject({ kind: 'conflict', method: 'getUpdates', times: 4 });
      await channel().start(port, []);
      server.people.write({ from: ann, text: 'at last' });
      await port.until(() => port.stored.length === 1);
      assert.equal(lines.filter((line) => line.includes('another program polls this bot')).length, 1);
    }));

  test('two channels on one bot: the one that came first gives way and both go on trying', () =>
    onTelegram(async ({ server, port, channel }) => {
      await channel().start(port, []);
      await server.until(() => server.updates.isPolled, 'the first polls');
      await channel().start(port, []);
      await server.until(() => server.calls('getUpdates').some(({ status }) => status === 409), 'a conflict');
      server.people.write({ from: ann, text: 'to whom?' });
      await server.until(() => port.stored.length === 1 && server.updates.pending.length === 0, 'it is confirmed');
    }));

  test('a webhook that somebody has set is taken away', () =>
    onTelegram(async ({ server, port, channel }) => {
      server.webhook.set({ url: 'http://127.0.0.1:9/', secret: null });
      await channel().start(port, []);
      assert.equal(server.webhook.webhook, null);
      await server.until(() => server.updates.isPolled, 'it polls');
      server.webhook.set({ url: 'http://127.0.0.1:9/', secret: null });
      server.updates.conflict();
      server.people.write({ from: ann, text: 'here' });
      await port.until(() => port.stored.length === 1);
    }));

  for (const kind of [
    'error-before',
    'page-before',
    'drop-before',
    'drop-after',
    'garbage-after',
    'too-many',
    'unauthorized',
  ] as const) {
    test(`nothing is lost by ${kind} while polling`, () =>
      onTelegram(async ({ server, port, channel, lines }) => {
        await channel().start(port, []);
        server.inject({ kind, method: 'getUpdates', times: 3, retryAfterS: 0.01 });
        for (const text of ['one', 'two']) server.people.write({ from: ann, text });
        await server.until(() => server.updates.pending.length === 0, 'all are confirmed');
        assert.deepEqual(port.texts, ['one', 'two']);
        assert.ok(!lines.join('\n').includes(server.token.slice(-20)), 'the token is in the log');
      }));
  }

  test('a poll that is never answered ends by its own limit', () =>
    onTelegram(async ({ server, port, channel }) => {
      server.inject({ kind: 'hang-before', method: 'getUpdates' });
      // The limit is ten seconds beyond the platform's own.
      await channel({ times: { pollS: -9.95 } }).start(port, []);
      server.people.write({ from: ann, text: 'late' });
      await port.until(() => port.stored.length === 1);
    }));

  test('a wrong token is said at the start', () =>
    onTelegram(async ({ server, port, channel }) => {
      await assert.rejects(channel({ token: '1:wrong' }).start(port, []), /Telegram does not know this token/);
      await assert.rejects(channel({ token: 'nonsense' }).start(port, []), /Telegram does not know this token/);
      assert.equal(server.calls('getUpdates').length, 0);
    }));

  test('a platform that is down at the start is tried until it is up', () =>
    onTelegram(async ({ server, port, channel }) => {
      for (const method of ['getMe', 'deleteWebhook']) server.inject({ kind: 'error-before', method, times: 2 });
      await channel().start(port, []);
      server.people.write({ from: ann, text: 'hello' });
      await port.until(() => port.stored.length === 1);
    }));

  test('the menu is shown, spelt as Telegram can', () =>
    onTelegram(async ({ server, port, channel }) => {
      const menu = [
        { name: 'new', summary: 'Start over.' },
        { name: 'reload-mcp', summary: 'Reload.' },
      ];
      server.inject({ kind: 'error-before', method: 'setMyCommands', times: 2 });
      await channel().start(port, menu);
      await server.until(() => server.commands.length > 0, 'the menu is shown');
      assert.deepEqual(server.commands, [
        { command: 'new', description: 'Start over.' },
        { command: 'reload_mcp', description: 'Reload.' },
      ]);
      server.people.write({ from: ann, text: '/reload_mcp' });
      await port.until(() => port.stored.length === 1);
      assert.deepEqual(port.texts, ['/reload-mcp']);
    }));

  test('a refusal is told to the one who wrote, not on and on, and not to a group', () =>
    onTelegram(async ({ server, port, channel }) => {
      port.refusal = { kind: 'refused', reason: 'not-allowed', text: 'I do not know you.' };
      for (const text of ['hi', 'hello?', '???']) server.people.write({ from: ann, text });
      server.people.write({ from: ann, chat: group, text: '@talaria_bot hi' });
      const talking = channel();
      await talking.start(port, []);
      await server.until(() => server.updates.pending.length === 0, 'all are confirmed');
      await talking.stop();
      assert.deepEqual(
        server.calls('sendMessage').map(({ payload }) => [payload['chat_id'], payload['text']]),
        [['42', 'I do not know you.']],
      );
    }));

  test('a pressed button is told, answered and taken away', () =>
    onTelegram(async ({ server, port, channel }) => {
      const talking = channel();
      await talking.start(port, []);
      server.people.write({ from: ann, text: 'do it' });
      await port.until(() => port.stored.length === 1);
      const reply_markup = { inline_keyboard: [[{ text: 'Yes', callback_data: 'y:1' }]] };
      const asked = server.world.keep(
        server.world.chat({ id: 42, type: 'private' }),
        { from: server.world.bot, text: '?', reply_markup },
        true,
      );
      port.answer = { text: 'Approved.', settled: true };
      const query = server.people.press(ann, ann.id, asked.message_id, 'Yes');
      await server.until(() => server.updates.pending.length === 0, 'it is confirmed');
      assert.deepEqual(port.presses, [
        {
          channel: 'telegram',
          externalId: query,
          sender: { id: '42', name: 'Ann', handle: 'ann' },
          place: { kind: 'direct', chat: '42', target: '42' },
          value: 'y:1',
        },
      ]);
      assert.equal(server.world.answerTo(query), 'Approved.');
      assert.equal(server.world.said(42).at(-1)?.message.reply_markup, undefined);
    }));

  test('buttons that somebody else has to press stay', () =>
    onTelegram(async ({ server, port, channel }) => {
      await channel().start(port, []);
      const reply_markup = { inline_keyboard: [[{ text: 'Yes', callback_data: 'y:1' }]] };
      const place = server.world.chat({ id: 42, type: 'private' });
      const asked = server.world.keep(place, { from: server.world.bot, text: '?', reply_markup }, true);
      port.answer = { text: 'Not yours.', settled: false };
      const query = server.people.press(ann, ann.id, asked.message_id, 'Yes');
      await server.until(() => server.updates.pending.length === 0, 'it is confirmed');
      assert.equal(server.world.answerTo(query), 'Not yours.');
      assert.deepEqual(server.world.said(42).at(-1)?.message.reply_markup, reply_markup);
      assert.equal(server.calls('editMessageReplyMarkup').length, 0);
    }));
});
