/**
 * A Telegram update in the words of a channel: a message, a press of a button, or nothing. An edited message is not a new
 * message, and what bots write is never one: two of them could talk to each other for ever. Pure.
 */
import type { CallbackQuery, Message, Update, User } from 'grammy/types';
import type { InboundMessage, InboundPress, Place, Sender } from '../channel.ts';
import { describeContent, quoted, type WantedFile } from './describe-content.ts';
import { isAddressed, isForAnother, isName, repliesTo, type BotIdentity } from './is-addressed.ts';
import { spellTarget } from './target.ts';

const quoteCharsMax = 1_000;

export type ReadUpdate =
  | {
      readonly kind: 'message';
      readonly inbound: InboundMessage;
      readonly files: readonly WantedFile[];
      readonly album: string | null;
    }
  | {
      readonly kind: 'press';
      readonly press: InboundPress;
      readonly queryId: string;
      readonly chat: string;
      readonly messageId: number;
    }
  | { readonly kind: 'ignored'; readonly why: string };

export interface ReadOptions {
  readonly channel: string;
  readonly bot: BotIdentity;
  /** Commands whose names Telegram can't spell: as it spells them, and as they are. */
  readonly respelt: ReadonlyMap<string, string>;
}

export function readUpdate(update: Update, options: ReadOptions): ReadUpdate {
  if (update.message !== undefined) return readMessage(update.message, options);
  if (update.callback_query !== undefined) return readPress(update.callback_query, options);
  return { kind: 'ignored', why: Object.keys(update).find((key) => key !== 'update_id') ?? 'empty' };
}

function readMessage(message: Message, { channel, bot, respelt }: ReadOptions): ReadUpdate {
  const { from, chat } = message;
  if (from === undefined || from.is_bot || message.is_automatic_forward === true)
    return { kind: 'ignored', why: 'bot' };
  // An ephemeral message has no id to know it by.
  if (chat.type === 'channel' || message.message_id <= 0) return { kind: 'ignored', why: 'place' };
  if (chat.type !== 'private' && isForAnother(message, bot)) return { kind: 'ignored', why: 'another bot' };
  const content = describeContent(message);
  if (content === null) return { kind: 'ignored', why: 'service' };
  const text = composed(message, content.words, bot, respelt);
  const inbound: InboundMessage = {
    channel,
    // Every bot counts its private messages from 1: another one's are not those that this one had.
    externalId: `${bot.id}:${chat.id}:${message.message_id}`,
    sender: senderOf(from),
    place: placeOf(message),
    message: {
      role: 'user',
      parts: text === '' ? [] : [{ kind: 'text', text }],
      ...(hasWordsOfOthers(message, bot) ? { untrusted: 'stranger' as const } : {}),
    },
    ...(chat.type === 'private' ? {} : { isAddressed: isAddressed(message, bot) }),
  };
  return { kind: 'message', inbound, files: content.files, album: message.media_group_id ?? null };
}

function readPress({ id, from, message, data }: CallbackQuery, { channel }: ReadOptions): ReadUpdate {
  if (message === undefined || data === undefined || from.is_bot) return { kind: 'ignored', why: 'press' };
  const press: InboundPress = {
    channel,
    externalId: id,
    sender: senderOf(from),
    place: placeOf(message),
    value: data,
  };
  return { kind: 'press', press, queryId: id, chat: String(message.chat.id), messageId: message.message_id };
}

type Placed = Pick<Message, 'chat' | 'message_thread_id' | 'is_topic_message'>;

/** Replies make threads in any supergroup; only a topic is a place of its own. */
function placeOf({ chat, message_thread_id: thread, is_topic_message: isTopic }: Placed): Place {
  const topic = isTopic === true && thread !== undefined ? thread : null;
  return {
    kind: chat.type === 'private' ? 'direct' : topic === null ? 'group' : 'thread',
    chat: String(chat.id),
    ...(topic === null ? {} : { thread: String(topic) }),
    target: spellTarget(String(chat.id), topic),
  };
}

/** The username is the platform's to give; the rest of a name is whatever somebody calls themselves. */
function senderOf({ id, first_name, last_name, username = '' }: User): Sender {
  const name = [first_name, last_name].filter((part) => part !== undefined && part !== '').join(' ');
  return { id: String(id), name: name || username, handle: username };
}

/** What the model reads. A command stays alone: what stands around it would hide it. */
function composed(
  message: Message,
  words: readonly string[],
  bot: BotIdentity,
  respelt: ReadonlyMap<string, string>,
): string {
  const text = unaddressed(wordsOf(message), bot);
  const command = /^\/(\w+)(?:@(\w+))?(?=\s|$)/.exec(text);
  // What is handed on is no command of theirs.
  if (command !== null && message.forward_origin === undefined) {
    const [whole, name = '', whom] = command;
    const isOurs = whom === undefined || isName(whom, bot);
    return isOurs ? `/${respelt.get(name.toLowerCase()) ?? name}${text.slice(whole.length)}` : text;
  }
  return [...around(message, bot), ...words, text].filter((line) => line !== '').join('\n');
}

/** With the addresses of links that stand behind words: a reader can follow them, so the model should see them. */
function wordsOf({ text, caption, entities, caption_entities }: Message): string {
  const links = (entities ?? caption_entities ?? []).filter((entity) => entity.type === 'text_link');
  // From the last to the first: what is put in moves only what is behind it.
  return links.reduceRight(
    (words, { offset, length, url }) => {
      const end = offset + length;
      return words.slice(offset, end) === url ? words : `${words.slice(0, end)} (${url})${words.slice(end)}`;
    },
    text ?? caption ?? '',
  );
}

/** Without the bot's name in front, unless that is all there is. */
function unaddressed(text: string, { username }: BotIdentity): string {
  const [mention = ''] = /^\s*@(\w+)[,:]?\s*/.exec(text) ?? [];
  const isBot = mention.trim().replace(/[,:]$/, '').toLowerCase() === `@${username.toLowerCase()}`;
  return isBot && mention.length < text.length ? text.slice(mention.length) : text;
}

/** What the sender hands on or answers was written by somebody else, and may try to give orders. */
function hasWordsOfOthers(message: Message, bot: BotIdentity): boolean {
  const { from, forward_origin: origin, external_reply: elsewhere, reply_to_message: replied } = message;
  const isOthers = (id: number | undefined) => id === undefined || id !== from?.id;
  if (origin !== undefined && isOthers(origin.type === 'user' ? origin.sender_user.id : undefined)) return true;
  if (elsewhere !== undefined) return true;
  const isAnswer = replied !== undefined && replied.forum_topic_created === undefined && !repliesTo(message, bot);
  return isAnswer && isOthers(replied.from?.id);
}

function around(message: Message, bot: BotIdentity): string[] {
  const lines: string[] = [];
  const { forward_origin: origin, quote, reply_to_message: replied } = message;
  if (origin?.type === 'channel') lines.push(`[forwarded from the channel ${quoted(origin.chat.title)}]`);
  else if (origin !== undefined) lines.push('[forwarded]');
  const own = repliesTo(message, bot);
  // What the agent itself said is in the conversation; only the part that was picked out of it is news.
  const said =
    quote?.text ?? (own || replied === undefined || replied.forum_topic_created !== undefined ? '' : wordsOf(replied));
  if (said !== '') {
    const whose = own ? 'your words' : 'a message';
    const words = said.length > quoteCharsMax ? `${said.slice(0, quoteCharsMax).toWellFormed()}…` : said;
    lines.push(`[in reply to ${whose}: ${JSON.stringify(words)}]`);
  }
  if (replied !== undefined && !own) lines.push(...heldBy(replied));
  return lines;
}

/** What a message that is answered holds besides text: it is not fetched, but the model should know of it. */
function heldBy(replied: Message): string[] {
  const { words = [], files = [] } = describeContent(replied) ?? {};
  const names = files.map(({ kind, name }) =>
    kind === 'image' ? '[a picture, not shown]' : `[the file ${quoted(name)}]`,
  );
  const held = [...words, ...names];
  return held.length === 0 ? [] : [`[in reply to a message with: ${held.join(' ')}]`];
}
