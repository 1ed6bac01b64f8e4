/**
 * A client's list of messages as the agent's own: instructions, past, and the message to answer. What a client's own
 * tools did is kept as text, since those tools are not the agent's. Neighbours of the same role become one message,
 * because models want the roles to alternate. Pure.
 */
import type { ImagePart, Message, TextPart, UserMessage } from '../../protocol/messages.ts';
import { badRequest } from './api-error.ts';
import type { ReceivedImage } from './image-data.ts';
import type { Content } from './port.ts';

export const messagesMax = 5_000;
export const imagesMax = 64;

/** One message of a request. */
export interface Said {
  readonly role: 'system' | 'user' | 'assistant';
  readonly parts: readonly (TextPart | ReceivedImage)[];
}

/** What is asked, with the bytes of its images. */
export interface Asked {
  readonly message: UserMessage;
  readonly contents: readonly Content[];
}

export interface Conversation extends Asked {
  readonly system: string | null;
  readonly history: readonly Message[];
}

/** Half a character can be neither stored nor sent, and NUL has no meaning in a message. */
export function textPart(text: string): TextPart {
  return { kind: 'text', text: text.toWellFormed().replaceAll('\0', '\uFFFD') };
}

export function conversationOf(said: readonly Said[], param: string): Conversation {
  const system = said
    .filter((one) => one.role === 'system' && hasSubstance(one))
    .map(({ parts }) => parts.map((part) => ('kind' in part ? part.text : '')).join('\n\n'));
  const spoken = said.filter(({ role }) => role !== 'system');
  const last = asking(spoken.at(-1), param);
  const past = spoken.slice(0, -1).filter(hasSubstance);
  return {
    system: system.length === 0 ? null : system.join('\n\n'),
    history: merged(past).map(messageOf),
    message: userMessage(last.parts),
    contents: contentsOf([...past, last]),
  };
}

/** The last message of the user alone: a stored session knows the rest. */
export function lastAsked(said: readonly Said[], param: string): Asked {
  const last = asking(
    said.findLast(({ role }) => role === 'user'),
    param,
  );
  return { message: userMessage(last.parts), contents: contentsOf([last]) };
}

/** All that the user has said since the assistant: what follows a response that is known already. */
export function newlyAsked(said: readonly Said[], param: string): Asked {
  const last = asking(merged(said.filter(({ role }) => role !== 'system')).at(-1), param);
  return { message: userMessage(last.parts), contents: contentsOf([last]) };
}

function asking(last: Said | undefined, param: string): Said {
  if (last?.role !== 'user') throw badRequest('The last message must be from the user.', param);
  if (!hasSubstance(last)) throw badRequest('The message is empty.', param, 'empty_message');
  return last;
}

function hasSubstance({ parts }: Said): boolean {
  return parts.some((part) => !('kind' in part) || part.text.trim() !== '');
}

function merged(said: readonly Said[]): Said[] {
  const messages: { role: Said['role']; parts: (TextPart | ReceivedImage)[] }[] = [];
  for (const { role, parts } of said) {
    const last = messages.at(-1);
    if (last?.role === role) last.parts.push(...parts);
    else messages.push({ role, parts: [...parts] });
  }
  return messages;
}

function messageOf({ role, parts }: Said): Message {
  if (role !== 'assistant') return userMessage(parts);
  return { role, parts: joined(parts).filter((part) => part.kind === 'text') };
}

function userMessage(parts: Said['parts']): UserMessage {
  return { role: 'user', parts: joined(parts) };
}

/** Texts that stand beside each other become one, as paragraphs; empty ones are left out. */
function joined(parts: Said['parts']): (TextPart | ImagePart)[] {
  const result: (TextPart | ImagePart)[] = [];
  for (const each of parts) {
    const part = 'kind' in each ? each : each.part;
    const last = result.at(-1);
    if (part.kind !== 'text' || last?.kind !== 'text') result.push(part);
    else result[result.length - 1] = { kind: 'text', text: `${last.text}\n\n${part.text}` };
  }
  return result.filter((part) => part.kind !== 'text' || part.text.trim() !== '');
}

function contentsOf(said: readonly Said[]): Content[] {
  const contents = new Map<string, Content>();
  for (const { parts } of said) {
    for (const part of parts) if ('content' in part) contents.set(part.content.sha256, part.content);
  }
  return [...contents.values()];
}
