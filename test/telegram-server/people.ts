/** What people do on the scripted platform: they write, edit, delete and press buttons, and the bot gets an update of it. */
import type { Message, MessageEntity, Update } from 'grammy/types';
import { findButton, userOf, type ChatOrder, type Person, type World } from './world.ts';
import type { UpdateQueue } from './update-queue.ts';

export interface FileOrder {
  readonly base64?: string;
  readonly name?: string;
  readonly mediaType?: string;
  /** What the platform says of its size, if that is not the truth. */
  readonly size?: number;
}

export interface WriteOrder {
  readonly from: Person;
  /** By default the private chat with the sender. */
  readonly chat?: ChatOrder;
  /** A topic's id. In a forum or a private chat with topics. */
  readonly thread?: number;
  readonly text?: string;
  readonly caption?: string;
  readonly photo?: FileOrder;
  readonly document?: FileOrder;
  readonly replyTo?: number;
  readonly quote?: string;
  readonly album?: string;
  /** Anything else, in the platform's words: voice, sticker, location, poll, forward_origin, a service message. */
  readonly fields?: Partial<Message>;
  /** That many updates of the same message. */
  readonly updates?: number;
}

export interface Written {
  readonly message: Message;
  readonly update: Update | null;
}

export class People {
  readonly #world: World;
  readonly #queue: UpdateQueue;

  constructor(world: World, queue: UpdateQueue) {
    this.#world = world;
    this.#queue = queue;
  }

  write(order: WriteOrder): Written {
    const kept = this.#world.chat(order.chat ?? { id: order.from.id, type: 'private' }, order.from);
    if (kept.blocked && order.chat === undefined) kept.blocked = false;
    if (order.thread !== undefined) kept.topics.add(order.thread);
    const message = this.#world.keep(kept, this.#messageOf(order), false);
    let update: Update | null = null;
    for (let count = 0; count < (order.updates ?? 1); count += 1) {
      update = this.#queue.add({ message } as Omit<Update, 'update_id'>);
    }
    return { message, update };
  }

  edit(chat: number, messageId: number, text: string): Written {
    const kept = this.#world.findChat(chat)?.messages.get(messageId);
    if (kept === undefined) throw new Error(`there is no message ${messageId} in ${chat}`);
    const edited = { edit_date: Math.floor(Date.now() / 1_000) };
    kept.message = { ...kept.message, ...edited, ...textFields(text) };
    kept.texts.push(text);
    return {
      message: kept.message,
      update: this.#queue.add({ edited_message: kept.message } as Omit<Update, 'update_id'>),
    };
  }

  /** Bots do not hear of it. */
  remove(chat: number, messageId: number): void {
    const kept = this.#world.findChat(chat)?.messages.get(messageId);
    if (kept === undefined) throw new Error(`there is no message ${messageId} in ${chat}`);
    kept.deleted = true;
  }

  /** `button`: a label or a value. Returns the query's id. */
  press(from: Person, chat: number, messageId: number, button: string): string {
    const kept = this.#world.findChat(chat)?.messages.get(messageId);
    const data = findButton(kept?.message.reply_markup, button);
    if (kept === undefined || data === null) throw new Error(`there is no button ${button} under ${messageId}`);
    const id = this.#world.beginQuery();
    const query = { id, from: userOf(from), message: kept.message, chat_instance: String(chat), data };
    this.#queue.add({ callback_query: query });
    return id;
  }

  #messageOf(order: WriteOrder): Omit<Message, 'message_id' | 'chat' | 'date'> {
    const { thread, replyTo, quote, album, fields = {} } = order;
    const reply = replyTo === undefined ? undefined : this.#replied(order, replyTo);
    return {
      from: userOf(order.from),
      ...(thread === undefined ? {} : { message_thread_id: thread, is_topic_message: true }),
      ...(order.text === undefined ? {} : textFields(order.text)),
      ...(order.caption === undefined
        ? {}
        : { caption: order.caption, caption_entities: [...entitiesOf(order.caption)] }),
      ...(order.photo === undefined ? {} : { photo: this.#photo(order.photo) }),
      ...(order.document === undefined ? {} : { document: this.#document(order.document) }),
      ...(reply === undefined ? {} : { reply_to_message: reply as NonNullable<Message['reply_to_message']> }),
      ...(quote === undefined ? {} : { quote: { text: quote, position: 0 } }),
      ...(album === undefined ? {} : { media_group_id: album }),
      ...fields,
    };
  }

  #replied(order: WriteOrder, messageId: number): Message {
    const chat = order.chat?.id ?? order.from.id;
    const found = this.#world.findChat(chat)?.messages.get(messageId);
    if (found === undefined) throw new Error(`there is no message ${messageId} in ${chat}`);
    const { reply_to_message: _inner, ...message } = found.message;
    return message;
  }

  #photo({ base64 = '', size }: FileOrder): NonNullable<Message['photo']> {
    const bytes = Buffer.from(base64, 'base64');
    const small = this.#world.keepFile(bytes.subarray(0, 10), 'jpg');
    const large = this.#world.keepFile(bytes, 'jpg', size);
    return [
      { file_id: small.id, file_unique_id: `u${small.id}`, width: 90, height: 60, file_size: small.size },
      { file_id: large.id, file_unique_id: `u${large.id}`, width: 1_280, height: 853, file_size: large.size },
    ];
  }

  #document({ base64 = '', name, mediaType, size }: FileOrder): NonNullable<Message['document']> {
    const file = this.#world.keepFile(Buffer.from(base64, 'base64'), name?.split('.').at(-1) ?? 'bin', size);
    return {
      file_id: file.id,
      file_unique_id: `u${file.id}`,
      file_size: file.size,
      ...(name === undefined ? {} : { file_name: name }),
      ...(mediaType === undefined ? {} : { mime_type: mediaType }),
    };
  }
}

function textFields(text: string): Pick<Message, 'text' | 'entities'> {
  const entities = [...entitiesOf(text)];
  return { text, ...(entities.length === 0 ? {} : { entities }) };
}

/** Mentions and commands, as the platform marks them by itself. */
function* entitiesOf(text: string): Iterable<MessageEntity> {
  for (const match of text.matchAll(/(?<=^|[^\w@/])(?:@(\w{3,32})|\/(\w{1,32}(?:@\w{3,32})?))(?!\w)/g)) {
    yield { type: match[1] === undefined ? 'bot_command' : 'mention', offset: match.index, length: match[0].length };
  }
}
