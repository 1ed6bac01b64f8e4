/**
 * Our messages as input items of OpenAI's responses, each one by itself: what a message becomes depends on nothing that
 * comes later. Items are JSON texts. Ids of items are not sent: the server keeps nothing, and ours are enough to pair a
 * call with its result.
 */
import type {
  AssistantMessage,
  Message,
  ReasoningPart,
  ToolCallPart,
  ToolResultPart,
  UserMessage,
} from '../../../protocol/messages.ts';
import { reasoningOrigin, type ModelRequest, type Runtime } from '../../model.ts';
import {
  argumentsObject,
  contentWords,
  emptyMessageWords,
  imageBytes,
  isBlank,
  jsonText,
  toldResult,
  toolName,
} from '../message-parts.ts';
import { reasoningItem } from './reasoning-item.ts';

export function encodeItems(runtime: Runtime, request: ModelRequest, message: Message): string[] {
  switch (message.role) {
    case 'user':
      return [userItem(runtime, request, message)];
    case 'assistant':
      return assistantItems(runtime, message);
    case 'tool':
      return [resultItem(runtime, request, message.parts[0])];
  }
}

export function userText(text: string): string {
  return `{"type":"message","role":"user","content":[${inputText(text)}]}`;
}

function inputText(text: string): string {
  return `{"type":"input_text","text":${jsonText(text)}}`;
}

function inputImage(mediaType: string, data: string): string {
  return `{"type":"input_image","image_url":${jsonText(`data:${mediaType};base64,${data}`)},"detail":"auto"}`;
}

function resultItem(runtime: Runtime, request: ModelRequest, result: ToolResultPart): string {
  const { text, pictures } = toldResult(runtime, request, result, false);
  const images = pictures.map(({ mediaType, data }) => inputImage(mediaType, data));
  const output = images.length === 0 ? jsonText(text) : `[${[inputText(text), ...images].join(',')}]`;
  return `{"type":"function_call_output","call_id":${jsonText(result.callId)},"output":${output}}`;
}

function userItem(runtime: Runtime, request: ModelRequest, message: UserMessage): string {
  const content = message.parts.flatMap((part) => {
    if (part.kind === 'text') return isBlank(part.text) ? [] : [inputText(part.text)];
    const data = part.kind === 'image' ? imageBytes(runtime, request, part) : null;
    if (data === null) return [inputText(contentWords(part))];
    return [inputImage(part.content.mediaType, data)];
  });
  if (content.length === 0) return userText(emptyMessageWords);
  return `{"type":"message","role":"user","content":[${content.join(',')}]}`;
}

function assistantItems(runtime: Runtime, message: AssistantMessage): string[] {
  const items: string[] = [];
  let spoken = 0;
  for (const part of message.parts) {
    if (part.kind === 'reasoning') {
      const item = ownThought(runtime, part);
      if (item !== null) items.push(item);
      continue;
    }
    if (part.kind === 'text' && isBlank(part.text)) continue;
    items.push(part.kind === 'text' ? answerItem(part.text) : callItem(part));
    spoken = items.length;
  }
  // A thought is refused without what it led to.
  return items.slice(0, spoken);
}

function ownThought(runtime: Runtime, { origin, opaque }: ReasoningPart): string | null {
  return opaque !== undefined && origin === reasoningOrigin(runtime) ? reasoningItem(opaque) : null;
}

function answerItem(text: string): string {
  return `{"type":"message","role":"assistant","content":[{"type":"output_text","text":${jsonText(text)}}]}`;
}

function callItem({ callId, name, arguments: args }: ToolCallPart): string {
  const text = jsonText(argumentsObject(args));
  return `{"type":"function_call","call_id":${jsonText(callId)},"name":"${toolName(name)}","arguments":${text}}`;
}
