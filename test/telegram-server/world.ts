/**
 * Who is there and what has been said: the bot, chats, messages and files of the scripted platform. Message ids count per
 * chat, as they do for groups; nothing here knows HTTP.
 */
import type { Chat, InlineKeyboardMarkup, Message, User } from 'grammy/types';

export interface Person {
  readonly id: number;
  readonly name?: string;
  readonly username?: string;
  readonly isBot?: boolean;
}

export interface ChatOrder {
  readonly id: number;
  readonly type: 'private' | 'group' | 'supergroup';
  readonly title?: string;
  readonly isForum?: boolean;
}

/** A message as the platform keeps it. `deleted` ones stay on record for the tests. */
export interface Kept {
  message: Message;
  readonly byBot: boolean;
  deleted: boolean;
  /** Every text it has had, oldest first. */
  readonly texts: string[];
  readonly parseMode: string | null;
}

export interface KeptFile {
  readonly id: string;
  readonly path: string;
  readonly size: number;
  readonly bytes: Uint8Array;
}

interface KeptChat {
  readonly chat: Chat;
  readonly messages: Map<number, Kept>;
  readonly topics: Set<number>;
  nextMessageId: number;
  blocked: boolean;
  movedTo: number | null;
}

export class World {
  readonly bot: User;
  readonly #chats = new Map<number, KeptChat>();
  readonly #files = new Map<string, KeptFile>();
  readonly #queries = new Map<string, { answered: string | null }>();
  #count = 0;

  constructor(bot: User) {
    this.bot = bot;
  }

  next(): number {
    this.#count += 1;
    return this.#count;
  }

  /** Begins a chat if there is none with this id. */
  chat(order: ChatOrder, person?: Person): KeptChat {
    const known = this.#chats.get(order.id);
    if (known !== undefined) return known;
    const { id, type, title = 'A group', isForum = false } = order;
    const chat = (
      type === 'private'
        ? { id, type, first_name: person?.name ?? `User ${id}` }
        : { id, type, title, ...(isForum ? { is_forum: true } : {}) }
    ) as Chat;
    const kept = {
      chat,
      messages: new Map(),
      topics: new Set<number>(),
      nextMessageId: 1,
      blocked: false,
      movedTo: null,
    };
    this.#chats.set(id, kept);
    return kept;
  }

  findChat(id: unknown): KeptChat | null {
    return this.#chats.get(Number(id)) ?? null;
  }

  chats(): readonly number[] {
    return [...this.#chats.keys()];
  }

  /** All that was said there, oldest first. */
  said(chatId: number): readonly Kept[] {
    return [...(this.findChat(chatId)?.messages.values() ?? [])];
  }

  keep(
    kept: KeptChat,
    message: Omit<Message, 'message_id' | 'chat' | 'date'>,
    byBot: boolean,
    parseMode = '',
  ): Message {
    const full: Message = {
      message_id: kept.nextMessageId,
      date: Math.floor(Date.now() / 1_000),
      chat: kept.chat,
      ...message,
    };
    kept.nextMessageId += 1;
    kept.messages.set(full.message_id, {
      message: full,
      byBot,
      deleted: false,
      texts: [full.text ?? full.caption ?? ''],
      parseMode: parseMode === '' ? null : parseMode,
    });
    return full;
  }

  keepFile(bytes: Uint8Array, extension: string, declaredSize?: number): KeptFile {
    const number = this.next();
    const file = {
      id: `file-${number}`,
      path: `files/file_${number}.${extension}`,
      size: declaredSize ?? bytes.length,
      bytes,
    };
    this.#files.set(file.id, file);
    return file;
  }

  file(id: string): KeptFile | null {
    return this.#files.get(id) ?? null;
  }

  fileAt(path: string): KeptFile | null {
    return [...this.#files.values()].find((file) => file.path === path) ?? null;
  }

  beginQuery(): string {
    const id = `query-${this.next()}`;
    this.#queries.set(id, { answered: null });
    return id;
  }

  /** False if there is no such query. */
  answerQuery(id: string, text: string): boolean {
    const query = this.#queries.get(id);
    if (query === undefined) return false;
    query.answered = text;
    return true;
  }

  /** What the one who pressed was told; null until then. */
  answerTo(queryId: string): string | null {
    return this.#queries.get(queryId)?.answered ?? null;
  }
}

export function userOf({ id, name, username, isBot = false }: Person): User {
  return {
    id,
    is_bot: isBot,
    first_name: name ?? `User ${id}`,
    ...(username === undefined ? {} : { username }),
  };
}

/** The button with this label or value. */
export function findButton(markup: InlineKeyboardMarkup | undefined, wanted: string): string | null {
  for (const button of markup?.inline_keyboard.flat() ?? []) {
    if (!('callback_data' in button)) continue;
    if (button.text === wanted || button.callback_data === wanted) return button.callback_data;
  }
  return null;
}
