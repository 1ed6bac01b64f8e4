/**
 * Whether a message in a group is meant for the bot: it names it, answers it, or is a command that is for it or for
 * nobody in particular. Pure.
 */
import type { Message, MessageEntity } from 'grammy/types';

export interface BotIdentity {
  readonly id: number;
  /** Without the @. */
  readonly username: string;
}

export function isAddressed(message: Message, bot: BotIdentity): boolean {
  const text = message.text ?? message.caption ?? '';
  const entities = entitiesOf(message);
  const command = commandIn(message);
  if (command !== null) return command.whom === null || isName(command.whom, bot);
  return entities.some((entity) => mentions(text, entity, bot)) || repliesTo(message, bot);
}

/** A command with the name of somebody else behind it. */
export function isForAnother(message: Message, bot: BotIdentity): boolean {
  const whom = commandIn(message)?.whom ?? null;
  return whom !== null && !isName(whom, bot);
}

function commandIn(message: Message): { readonly whom: string | null } | null {
  const command = entitiesOf(message).find(({ type, offset }) => type === 'bot_command' && offset === 0);
  if (command === undefined) return null;
  const [, whom = null] = slice(message.text ?? message.caption ?? '', command).split('@');
  return { whom };
}

function entitiesOf({ entities, caption_entities }: Message): readonly MessageEntity[] {
  return entities ?? caption_entities ?? [];
}

export function isName(name: string, { username }: BotIdentity): boolean {
  return name.toLowerCase() === username.toLowerCase();
}

function mentions(text: string, entity: MessageEntity, bot: BotIdentity): boolean {
  if (entity.type === 'text_mention') return entity.user.id === bot.id;
  return entity.type === 'mention' && isName(slice(text, entity).slice(1), bot);
}

export function repliesTo(message: Message, bot: BotIdentity): boolean {
  const replied = message.reply_to_message;
  // In a topic every message answers the one that opened it.
  if (replied === undefined || replied.forum_topic_created !== undefined) return false;
  return replied.from?.id === bot.id;
}

function slice(text: string, { offset, length }: MessageEntity): string {
  return text.slice(offset, offset + length);
}
