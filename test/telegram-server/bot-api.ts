/** The methods a bot can call, each with the checks and the words of the real platform. A failure is thrown. */
import type { BotCommand, InlineKeyboardMarkup, Message } from 'grammy/types';
import type { Failure } from './faults.ts';
import { parseHtml } from './parse-html.ts';
import { userOf, type Kept, type World } from './world.ts';

export type Payload = Readonly<Record<string, unknown>>;
type Method = (world: World, payload: Payload, state: BotState) => unknown;

const textCharsMax = 4_096;
const captionCharsMax = 1_024;
const buttonBytesMax = 64;
const photoBytesMax = 10_000_000;
const downloadBytesMax = 20_000_000;

export interface BotState {
  commands: readonly BotCommand[];
}

export class ApiFailure extends Error {
  readonly failure: Failure;

  constructor(code: number, description: string, parameters?: Failure['parameters']) {
    super(description);
    this.failure = { code, description, ...(parameters === undefined ? {} : { parameters }) };
  }
}

export const methods: Readonly<Record<string, Method>> = {
  getMe: (world) => ({
    ...world.bot,
    can_join_groups: true,
    can_read_all_group_messages: false,
    supports_inline_queries: false,
  }),
  sendMessage: (world, payload) => send(world, payload, formatted(payload, 'text', textCharsMax)),
  sendPhoto: (world, payload) => {
    const bytes = fileOf(payload['photo']);
    if (bytes.length > photoBytesMax || !isPicture(bytes)) {
      throw new ApiFailure(400, 'Bad Request: IMAGE_PROCESS_FAILED');
    }
    const file = world.keepFile(bytes, 'jpg');
    const photo = [{ file_id: file.id, file_unique_id: `u${file.id}`, width: 1, height: 1, file_size: file.size }];
    return send(world, payload, { photo, ...formatted(payload, 'caption', captionCharsMax) });
  },
  sendDocument: (world, payload) => {
    const file = world.keepFile(fileOf(payload['document']), 'bin');
    const { fileName } = payload['document'] as { readonly fileName?: string };
    const named = fileName === undefined ? {} : { file_name: fileName };
    const document = { file_id: file.id, file_unique_id: `u${file.id}`, file_size: file.size, ...named };
    return send(world, payload, { document, ...formatted(payload, 'caption', captionCharsMax) });
  },
  editMessageText: (world, payload) => edit(world, payload, formatted(payload, 'text', textCharsMax)),
  editMessageReplyMarkup: (world, payload) => edit(world, payload, {}),
  deleteMessage: (world, payload) => {
    const kept = findMessage(world, payload);
    if (kept === null) throw new ApiFailure(400, 'Bad Request: message to delete not found');
    kept.deleted = true;
    return true;
  },
  sendChatAction: (world, payload) => {
    findChat(world, payload);
    if (typeof payload['action'] !== 'string') {
      throw new ApiFailure(400, 'Bad Request: wrong parameter action in request');
    }
    return true;
  },
  getFile: (world, payload) => {
    const file = world.file(textOf(payload['file_id']));
    if (file === null) throw new ApiFailure(400, 'Bad Request: invalid file_id');
    if (file.size > downloadBytesMax) throw new ApiFailure(400, 'Bad Request: file is too big');
    return { file_id: file.id, file_unique_id: `u${file.id}`, file_size: file.size, file_path: file.path };
  },
  answerCallbackQuery: (world, payload) => {
    const text = textOf(payload['text']);
    if (text.length > 200) throw new ApiFailure(400, 'Bad Request: MESSAGE_TOO_LONG');
    if (world.answerQuery(textOf(payload['callback_query_id']), text)) return true;
    throw new ApiFailure(400, 'Bad Request: query is too old and response timeout expired or query ID is invalid');
  },
  setMyCommands: (_world, payload, state) => {
    const commands = payload['commands'] as readonly BotCommand[];
    const isWrong = ({ command, description }: BotCommand) =>
      !/^[a-z0-9_]{1,32}$/.test(command) || description.length < 1 || description.length > 256;
    if (commands.some(isWrong)) throw new ApiFailure(400, 'Bad Request: BOT_COMMAND_INVALID');
    if (commands.length > 100) throw new ApiFailure(400, 'Bad Request: too many commands specified');
    state.commands = commands;
    return true;
  },
  getMyCommands: (_world, _payload, state) => state.commands,
};

function send(world: World, payload: Payload, content: Partial<Message>): Message {
  const chat = findChat(world, payload);
  const thread = payload['message_thread_id'];
  if (thread !== undefined && !chat.topics.has(Number(thread))) {
    throw new ApiFailure(400, 'Bad Request: message thread not found');
  }
  const reply = payload['reply_parameters'] as
    | { message_id: number; allow_sending_without_reply?: boolean }
    | undefined;
  const replied = reply === undefined ? undefined : chat.messages.get(reply.message_id);
  if (reply !== undefined && (replied === undefined || replied.deleted) && reply.allow_sending_without_reply !== true) {
    throw new ApiFailure(400, 'Bad Request: message to be replied not found');
  }
  const message = {
    from: userOf({ id: world.bot.id, name: world.bot.first_name, username: world.bot.username ?? '', isBot: true }),
    ...(thread === undefined ? {} : { message_thread_id: Number(thread), is_topic_message: true }),
    ...(replied === undefined ? {} : { reply_to_message: replied.message }),
    ...content,
    ...markupOf(payload),
  } as Omit<Message, 'message_id' | 'chat' | 'date'>;
  return world.keep(chat, message, true, textOf(payload['parse_mode']));
}

function edit(world: World, payload: Payload, content: Partial<Message>): Message {
  findChat(world, payload);
  const kept = findMessage(world, payload);
  if (kept === null) throw new ApiFailure(400, 'Bad Request: message to edit not found');
  if (!kept.byBot) throw new ApiFailure(400, "Bad Request: message can't be edited");
  const { reply_markup: _markup, edit_date: _date, ...unmarked } = kept.message;
  const { entities: _entities, ...plain } = unmarked;
  const after: Message = { ...(content.text === undefined ? unmarked : plain), ...content, ...markupOf(payload) };
  const { edit_date: _edited, ...unedited } = kept.message;
  if (JSON.stringify(sorted(unedited)) === JSON.stringify(sorted(after))) {
    throw new ApiFailure(
      400,
      'Bad Request: message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message',
    );
  }
  kept.message = { ...after, edit_date: Math.floor(Date.now() / 1_000) };
  if (content.text !== undefined) kept.texts.push(content.text);
  return kept.message;
}

function sorted(value: object): object {
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function findChat(world: World, payload: Payload) {
  const chat = world.findChat(payload['chat_id']);
  if (chat === null) throw new ApiFailure(400, 'Bad Request: chat not found');
  if (chat.blocked) {
    const isPrivate = chat.chat.type === 'private';
    throw new ApiFailure(
      403,
      isPrivate
        ? 'Forbidden: bot was blocked by the user'
        : `Forbidden: bot was kicked from the ${chat.chat.type} chat`,
    );
  }
  if (chat.movedTo !== null) {
    throw new ApiFailure(400, 'Bad Request: group chat was upgraded to a supergroup chat', {
      migrate_to_chat_id: chat.movedTo,
    });
  }
  return chat;
}

function findMessage(world: World, payload: Payload): Kept | null {
  const kept = findChat(world, payload).messages.get(Number(payload['message_id']));
  return kept === undefined || kept.deleted ? null : kept;
}

/** The text after its markup is read, as the platform would keep it. */
function formatted(payload: Payload, field: 'text' | 'caption', charsMax: number): Partial<Message> {
  const source = textOf(payload[field]);
  if (source === '' && field === 'caption') return {};
  if (!source.isWellFormed()) throw new ApiFailure(400, 'Bad Request: strings must be encoded in UTF-8');
  const parsed =
    payload['parse_mode'] === 'HTML' ? parseHtml(source) : { kind: 'text' as const, text: source, entities: [] };
  if (parsed.kind === 'problem') throw new ApiFailure(400, `Bad Request: can't parse entities: ${parsed.problem}`);
  const text = parsed.text.trim();
  if (text === '') throw new ApiFailure(400, 'Bad Request: message text is empty');
  if (text.length > charsMax) {
    throw new ApiFailure(400, `Bad Request: ${field === 'text' ? 'message is' : 'message caption is'} too long`);
  }
  const entities = parsed.entities.slice(0, 100);
  const marks = entities.length === 0 ? {} : { [field === 'text' ? 'entities' : 'caption_entities']: entities };
  return { [field]: text, ...marks };
}

function markupOf(payload: Payload): Pick<Message, 'reply_markup'> {
  const markup = payload['reply_markup'] as InlineKeyboardMarkup | undefined;
  if (markup === undefined || !Array.isArray(markup.inline_keyboard)) return {};
  for (const button of markup.inline_keyboard.flat()) {
    const bytes = 'callback_data' in button ? Buffer.byteLength(button.callback_data) : 1;
    if (bytes < 1 || bytes > buttonBytesMax) throw new ApiFailure(400, 'Bad Request: BUTTON_DATA_INVALID');
    if (button.text === '') throw new ApiFailure(400, 'Bad Request: text buttons are unallowed in the inline keyboard');
  }
  return markup.inline_keyboard.length === 0 ? {} : { reply_markup: markup };
}

/** JPEG, PNG or WebP, by how they begin. */
function isPicture(bytes: Uint8Array): boolean {
  return /^(\u00ff\u00d8|\u0089PNG|RIFF)/.test(String.fromCharCode(...bytes.subarray(0, 4)));
}

function fileOf(value: unknown): Uint8Array {
  if (value instanceof Uint8Array) return value;
  throw new ApiFailure(400, 'Bad Request: there is no file in the request');
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
