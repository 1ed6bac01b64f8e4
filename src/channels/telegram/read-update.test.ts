import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Message, Update } from 'grammy/types';
import fc from 'fast-check';
import { textOf } from '../../protocol/messages.ts';
import { People, type WriteOrder } from '../../../test/telegram-server/people.ts';
import { UpdateQueue } from '../../../test/telegram-server/update-queue.ts';
import { World } from '../../../test/telegram-server/world.ts';
import { respelt } from './connect.ts';
import { readUpdate, type ReadOptions } from './read-update.ts';
import { ann, bob, forum, group } from './test-stage.ts';

const bot = { id: 7, username: 'talaria_bot' };
const options: ReadOptions = { channel: 'telegram', bot, respelt: respelt([{ name: 'reload-mcp', summary: '' }]) };

function platform() {
  const world = new World({ id: 7, is_bot: true, first_name: 'Talaria', username: 'talaria_bot' });
  const people = new People(world, new UpdateQueue(1));
  const read = (order: Partial<WriteOrder>) => {
    const { update } = people.write({ from: ann, ...order });
    return readUpdate(update ?? { update_id: 0 }, options);
  };
  /** The bot says something that can be answered. */
  const says = (chat: Parameters<World['chat']>[0], text: string) =>
    world.keep(world.chat(chat), { from: world.bot, text }, true).message_id;
  return { world, people, read, says };
}

function message(order: Partial<WriteOrder>) {
  const read = platform().read(order);
  assert.ok(read.kind === 'message');
  return read;
}

const textIn = (order: Partial<WriteOrder>) => textOf(message(order).inbound.message);
const addressedIn = (text: string) => message({ chat: group, text }).inbound.isAddressed;

describe('an update of Telegram', () => {
  test('in a private chat is a direct message', () => {
    assert.deepEqual(message({ text: 'hi' }), {
      kind: 'message',
      inbound: {
        channel: 'telegram',
        externalId: '7:42:1',
        sender: { id: '42', name: 'Ann', handle: 'ann' },
        place: { kind: 'direct', chat: '42', target: '42' },
        message: { role: 'user', parts: [{ kind: 'text', text: 'hi' }] },
      },
      files: [],
      album: null,
    });
  });

  test('belongs to the group or the topic it was written in', () => {
    assert.deepEqual(message({ chat: group, text: 'x' }).inbound.place, {
      kind: 'group',
      chat: '-1001',
      target: '-1001',
    });
    assert.deepEqual(message({ chat: forum, thread: 5, text: 'x' }).inbound.place, {
      kind: 'thread',
      chat: '-1002',
      thread: '5',
      target: '-1002/5',
    });
    assert.deepEqual(message({ thread: 5, text: 'x' }).inbound.place, {
      kind: 'direct',
      chat: '42',
      thread: '5',
      target: '42/5',
    });
    // A reply makes a thread too, but no topic.
    const reply = { message_thread_id: 9 };
    assert.equal(message({ chat: group, text: 'x', fields: reply }).inbound.place.kind, 'group');
  });

  test('is addressed in a group if it names the bot, answers it, or is a command that may be for it', () => {
    const spoken = { 'how are you @talaria_bot?': true, '@TALARIA_BOT hi': true, '@talaria_bots hi': false };
    const among = { 'good morning': false, 'talaria_bot hi': false };
    const commands = {
      '/new': true,
      '/new@talaria_bot': true,
    };
    for (const [text, expected] of Object.entries({ ...spoken, ...among, ...commands })) {
      assert.equal(addressedIn(text), expected, text);
    }
    assert.equal(message({ text: 'alone' }).inbound.isAddressed, undefined);
  });

  test('that is a command for another bot is ignored, whatever else it names', () => {
    for (const text of ['/new@other_bot', '/new@other_bot @talaria_bot'])
      assert.deepEqual(platform().read({ chat: group, text }), { kind: 'ignored', why: 'another bot' });
  });

  test('is addressed if it answers the bot, and not because a topic was opened by it', () => {
    const { read, says, world } = platform();
    const answer = read({ chat: group, text: 'yes', replyTo: says(group, 'Shall I?') });
    assert.ok(answer.kind === 'message' && answer.inbound.isAddressed === true);
    assert.equal(textOf(answer.inbound.message), 'yes');
    const opening = world.keep(
      world.chat(forum),
      { from: world.bot, forum_topic_created: { name: 'T', icon_color: 0 } },
      true,
    );
    const talk = read({ chat: forum, thread: opening.message_id, text: 'hm', replyTo: opening.message_id });
    assert.ok(talk.kind === 'message' && talk.inbound.isAddressed === false);
  });

  test('knows the bot when it is mentioned without a name', () => {
    const user = { id: 7, is_bot: true, first_name: 'T' };
    const entities: Message['entities'] = [{ type: 'text_mention', offset: 0, length: 2, user }];
    assert.equal(message({ chat: group, text: 'hi', fields: { entities } }).inbound.isAddressed, true);
  });

  test('loses the name in front of what is said, and the name behind a command', () => {
    assert.equal(textIn({ chat: group, text: '@talaria_bot, what now?' }), 'what now?');
    assert.equal(textIn({ chat: group, text: '@talaria_bot /status' }), '/status');
    assert.equal(textIn({ chat: group, text: '@talaria_bot' }), '@talaria_bot');
    assert.equal(textIn({ chat: group, text: '/title@Talaria_Bot a name' }), '/title a name');
    assert.equal(textIn({ text: '/reload_mcp now' }), '/reload-mcp now');
    assert.equal(textIn({ text: '/start' }), '/help', 'what the button in a new chat sends');
    assert.equal(textIn({ text: '/etc/passwd is a file' }), '/etc/passwd is a file');
  });

  test('says of what was forwarded and quoted that it was', () => {
    const origin = { type: 'user', sender_user: { id: 1, is_bot: false, first_name: 'Eve' }, date: 0 } as const;
    assert.equal(textIn({ text: 'news', fields: { forward_origin: origin } }), '[forwarded]\nnews');
    const { people, read, says } = platform();
    const said = people.write({ from: bob, chat: group, text: 'a "fine" day' }).message.message_id;
    const words = (order: Partial<WriteOrder>) => {
      const result = read({ chat: group, ...order });
      return result.kind === 'message' ? textOf(result.inbound.message) : '';
    };
    assert.equal(words({ text: 'is it?', replyTo: said }), '[in reply to a message: "a \\"fine\\" day"]\nis it?');
    assert.equal(
      words({ text: 'why?', replyTo: says(group, 'No, and no.'), quote: 'and no' }),
      '[in reply to your words: "and no"]\nwhy?',
    );
    assert.equal(words({ text: '/stop', replyTo: said }), '/stop');
    const pictured = people.write({ from: bob, chat: group, photo: { base64: 'AAAA' } }).message.message_id;
    assert.equal(
      words({ text: 'what is that?', replyTo: pictured }),
      '[in reply to a message with: [a picture, not shown]]\nwhat is that?',
    );
    const command = textIn({ text: '/approve always', fields: { forward_origin: origin } });
    assert.equal(command, '[forwarded]\n/approve always', 'what somebody else wrote gives no command');
  });

  test('shows where links lead that stand behind words', () => {
    const link = (offset: number, length: number, url: string) => ({ type: 'text_link', offset, length, url }) as const;
    const bold = { type: 'bold', offset: 0, length: 4 } as const;
    const entities = [
      bold,
      link(0, 4, 'https://a.org/?q=1'),
      link(9, 13, 'https://b.org'),
      link(28, 3, 'https://c.org'),
    ];
    const text = 'this and https://b.org or 😀the';
    assert.equal(
      textIn({ text, fields: { entities } }),
      'this (https://a.org/?q=1) and https://b.org or 😀the (https://c.org)',
    );
    const caption = {
      photo: { base64: 'AAAA' },
      caption: '/queue more',
      fields: { caption_entities: [link(7, 4, 'https://d.org')] },
    };
    assert.equal(textIn(caption), '/queue more (https://d.org)');
    const { people, read } = platform();
    const fields = { entities: [link(0, 4, 'https://e.org')] };
    const said = people.write({ from: bob, chat: group, text: 'news', fields }).message.message_id;
    const result = read({ chat: group, text: 'so?', replyTo: said });
    assert.equal(
      result.kind === 'message' && textOf(result.inbound.message),
      '[in reply to a message: "news (https://e.org)"]\nso?',
    );
  });

  test('marks the words of somebody else that are handed on or answered, and nobody’s own', () => {
    const { people, read, says } = platform();
    const markOf = (order: Partial<WriteOrder>) => {
      const result = read({ chat: group, text: 'x', ...order });
      return result.kind === 'message' ? (result.inbound.message.untrusted ?? null) : 'ignored';
    };
    const byUser = (id: number) =>
      ({ type: 'user', sender_user: { id, is_bot: false, first_name: 'Eve' }, date: 0 }) as const;
    const byHidden = { type: 'hidden_user', sender_user_name: 'Eve', date: 0 } as const;
    assert.equal(markOf({ fields: { forward_origin: byUser(1) } }), 'stranger');
    assert.equal(markOf({ fields: { forward_origin: byHidden } }), 'stranger');
    assert.equal(
      markOf({ replyTo: people.write({ from: bob, chat: group, text: 'y' }).message.message_id }),
      'stranger',
    );
    assert.equal(markOf({ replyTo: people.write({ from: ann, chat: group, text: 'y' }).message.message_id }), null);
    assert.equal(markOf({ replyTo: says(group, 'y') }), null);
    assert.equal(markOf({ fields: { forward_origin: byUser(ann.id) } }), null);
    assert.equal(markOf({}), null);
  });

  test('that bots, channels and the platform itself cause is ignored, and so is an edit', () => {
    const { read, people } = platform();
    const joined: Partial<Message> = { new_chat_members: [] };
    assert.deepEqual(read({ from: { id: 9, isBot: true }, text: 'beep' }), { kind: 'ignored', why: 'bot' });
    assert.deepEqual(read({ chat: group, fields: joined }), { kind: 'ignored', why: 'service' });
    assert.deepEqual(read({ chat: group, text: 'post', fields: { is_automatic_forward: true } }), {
      kind: 'ignored',
      why: 'bot',
    });
    const { message: first } = people.write({ from: bob, text: 'frist' });
    const edited = people.edit(bob.id, first.message_id, 'first').update;
    assert.deepEqual(readUpdate(edited ?? { update_id: 0 }, options), { kind: 'ignored', why: 'edited_message' });
    assert.deepEqual(readUpdate({ update_id: 1 }, options), { kind: 'ignored', why: 'empty' });
  });

  test('with a photo or a document names what to fetch', () => {
    const photo = message({ caption: 'look', photo: { base64: 'AAAA' } });
    assert.equal(textOf(photo.inbound.message), 'look');
    assert.deepEqual(
      photo.files.map(({ kind, mediaType, bytes }) => ({ kind, mediaType, bytes })),
      [{ kind: 'image', mediaType: 'image/jpeg', bytes: 3 }],
    );
    const names = (order: WriteOrder['document']) =>
      message({ document: order ?? {} }).files.map(({ kind, name, mediaType }) => [kind, name, mediaType]);
    assert.deepEqual(names({ name: '../a/b.pdf', mediaType: 'application/pdf' }), [
      ['file', '__a_b.pdf', 'application/pdf'],
    ]);
    assert.deepEqual(names({ name: 'x.png', mediaType: 'image/png' }), [['image', 'x.png', 'image/png']]);
    assert.deepEqual(names({ name: 'x.png', mediaType: 'image/png', size: 9_000_000 }), [
      ['file', 'x.png', 'image/png'],
    ]);
    assert.deepEqual(names({ mediaType: 'no type' }), [['file', 'file', 'application/octet-stream']]);
  });

  test('with what a model can not be shown is put into words', () => {
    const file = { file_id: 'f', file_unique_id: 'u' };
    const location = { latitude: 1.5, longitude: -2 };
    const told: [Partial<Message>, string][] = [
      [{ voice: { ...file, duration: 12 } }, '[voice note, 12 s: not transcribed]'],
      [
        { audio: { ...file, duration: 3, title: 'So What', performer: 'Miles' } },
        '[audio "So What" by "Miles", 3 s: not transcribed]',
      ],
      [{ video: { ...file, duration: 9, width: 1, height: 1 } }, '[video, 9 s: not shown]'],
      [{ video_note: { ...file, duration: 9, length: 1 } }, '[round video, 9 s: not shown]'],
      [{ sticker: { emoji: '🙂' } as NonNullable<Message['sticker']> }, '[sticker 🙂]'],
      [{ location }, '[location: 1.5, -2]'],
      [{ venue: { location, title: 'Café', address: 'Here 1' }, location }, '[place "Café", "Here 1", at 1.5, -2]'],
      [{ contact: { first_name: 'Eve', phone_number: '+1' } }, '[contact "Eve", +1]'],
      [
        { poll: { question: 'Tea?', options: [{ text: 'yes' }, { text: 'no' }] } as NonNullable<Message['poll']> },
        '[poll "Tea?": "yes", "no"]',
      ],
      [{ dice: { emoji: '🎲', value: 4 } }, '[dice 🎲: 4]'],
      [
        { animation: { ...file } as NonNullable<Message['animation']>, document: file },
        '[animated picture: not shown]',
      ],
    ];
    for (const [fields, words] of told) assert.equal(textIn({ fields }), words);
    assert.equal(
      textIn({ document: { name: 'a.zip', size: 34_000_000 } }),
      '[document "a.zip", 34 MB: too large to be fetched]',
    );
    assert.equal(
      textIn({ caption: 'hear', fields: { voice: { ...file, duration: 1 } } }),
      '[voice note, 1 s: not transcribed]\nhear',
    );
    assert.deepEqual(
      message({ fields: { voice: { ...file, duration: 1 } } }).files.map(({ name }) => name),
      ['voice-note.ogg'],
    );
  });

  test('of a pressed button is a press', () => {
    const { world, people } = platform();
    const reply_markup = { inline_keyboard: [[{ text: 'Yes', callback_data: 'approve:1' }]] };
    const kept = world.keep(
      world.chat(forum),
      { from: world.bot, text: '?', reply_markup, message_thread_id: 3, is_topic_message: true },
      true,
    );
    const queue: Update[] = [];
    const listening = new People(world, {
      add: (body: object) => queue.push({ update_id: 1, ...body }),
    } as unknown as UpdateQueue);
    const id = listening.press(bob, forum.id, kept.message_id, 'Yes');
    assert.ok(people instanceof People);
    assert.deepEqual(readUpdate(queue[0] ?? { update_id: 0 }, options), {
      kind: 'press',
      press: {
        channel: 'telegram',
        externalId: id,
        sender: { id: '43', name: 'Bob', handle: '' },
        place: { kind: 'thread', chat: '-1002', thread: '3', target: '-1002/3' },
        value: 'approve:1',
      },
      queryId: id,
      chat: '-1002',
      messageId: kept.message_id,
    });
  });

  test('of any text is read without a failure, and only its own words are left out', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1 }), (text) => {
        const read = textIn({ text });
        assert.ok(text.endsWith(read) || read.startsWith('/'));
      }),
    );
  });
});
