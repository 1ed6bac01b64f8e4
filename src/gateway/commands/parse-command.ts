/**
 * Whether a message is a command: its text begins with `/` and a word, which may begin with a digit, as names of skills do.
 * `//text` is the message `/text`; a path is a message. Pure.
 */
import { textOf, type UserMessage } from '../../protocol/messages.ts';

export type ParsedMessage =
  | { readonly kind: 'message'; readonly message: UserMessage }
  | { readonly kind: 'command'; readonly word: string; readonly argument: string };

export function parseCommand(message: UserMessage): ParsedMessage {
  const text = textOf(message);
  if (text.startsWith('//')) return { kind: 'message', message: withoutFirstChar(message) };
  const [whole, word] = /^\/((?=[\d_-]*[a-z])[a-z\d][\w-]*)(?:@\w+)?(?=\s|$)/i.exec(text) ?? [];
  if (whole === undefined || word === undefined) return { kind: 'message', message };
  // Menus of some platforms know no dash.
  return { kind: 'command', word: word.toLowerCase().replaceAll('_', '-'), argument: text.slice(whole.length).trim() };
}

function withoutFirstChar(message: UserMessage): UserMessage {
  const first = message.parts.findIndex((part) => part.kind === 'text' && part.text !== '');
  const parts = message.parts.map((part, index) =>
    index === first && part.kind === 'text' ? { ...part, text: part.text.slice(1) } : part,
  );
  return { ...message, parts };
}
