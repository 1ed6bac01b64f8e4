/**
 * Our messages as content blocks of Anthropic's dialect, each one by itself: what a message becomes depends on nothing
 * that comes later, so a growing conversation never changes what was sent. Blocks are JSON texts, because a call's
 * arguments go back as the model wrote them.
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
import type { EncodedMessage } from '../cache-marks.ts';
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
import { thoughtBlock } from './thought.ts';

export function encodeMessages(runtime: Runtime, request: ModelRequest): EncodedMessage[] {
  const blocksOf = (message: Message): string[] => {
    switch (message.role) {
      case 'user':
        return userBlocks(runtime, request, message);
      case 'assistant':
        return assistantBlocks(runtime, request, message);
      case 'tool':
        return resultBlocks(runtime, request, message.parts[0]);
    }
  };
  return request.messages.map((message) => ({ role: message.role, blocks: blocksOf(message) }));
}

export function textBlock(text: string): string {
  return `{"type":"text","text":${jsonText(text)}}`;
}

function imageBlock(mediaType: string, data: string): string {
  return `{"type":"image","source":{"type":"base64","media_type":${jsonText(mediaType)},"data":"${data}"}}`;
}

function userBlocks(runtime: Runtime, request: ModelRequest, message: UserMessage): string[] {
  const blocks = message.parts.flatMap((part) => {
    if (part.kind === 'text') return isBlank(part.text) ? [] : [textBlock(part.text)];
    const data = part.kind === 'image' ? imageBytes(runtime, request, part) : null;
    if (data === null) return [textBlock(contentWords(part))];
    return [imageBlock(part.content.mediaType, data)];
  });
  return blocks.length > 0 ? blocks : [textBlock(emptyMessageWords)];
}

function assistantBlocks(runtime: Runtime, request: ModelRequest, message: AssistantMessage): string[] {
  const blocks: string[] = [];
  let spoken = 0;
  for (const part of message.parts) {
    if (part.kind === 'reasoning') {
      const block = ownThought(runtime, part);
      if (block !== null) blocks.push(block);
      continue;
    }
    if (part.kind === 'text' && isBlank(part.text)) continue;
    blocks.push(part.kind === 'text' ? textBlock(part.text) : callBlock(request, part));
    spoken = blocks.length;
  }
  // A message must not end with a thought.
  return blocks.slice(0, spoken);
}

function ownThought(runtime: Runtime, part: ReasoningPart): string | null {
  return part.origin === reasoningOrigin(runtime) ? thoughtBlock(part) : null;
}

/** Without tools the API takes no calls and results either; they are told as text. */
function callBlock({ tools }: ModelRequest, call: ToolCallPart): string {
  const name = toolName(call.name);
  if (tools.length === 0) return textBlock(`[called ${name} with ${argumentsObject(call.arguments)}]`);
  const input = argumentsObject(call.arguments);
  return `{"type":"tool_use","id":${jsonText(call.callId)},"name":"${name}","input":${input}}`;
}

function resultBlocks(runtime: Runtime, request: ModelRequest, result: ToolResultPart): string[] {
  const hasTools = request.tools.length > 0;
  const { text, pictures } = toldResult(runtime, request, result, hasTools);
  const images = pictures.map(({ mediaType, data }) => imageBlock(mediaType, data));
  if (!hasTools) return [textBlock(`[result] ${text}`), ...images];
  const content = images.length === 0 ? jsonText(text) : `[${[textBlock(text), ...images].join(',')}]`;
  const error = result.outcome === 'finished' ? '' : ',"is_error":true';
  return [`{"type":"tool_result","tool_use_id":${jsonText(result.callId)},"content":${content}${error}}`];
}

/**
 * Whether the turn that is under way began without a thought that can be sent back. A model with a budget must not be
 * asked to think then: the API wants every turn of such a model to begin with one.
 */
export function turnBeganWithoutThought(runtime: Runtime, messages: readonly Message[]): boolean {
  return [afterLast(messages, () => true), afterLast(messages, (before) => before?.role !== 'tool')].some((turn) => {
    const first = turn.find((message) => message.role === 'assistant');
    if (first === undefined) return false;
    const opening = first.parts.find((part) => part.kind !== 'text' || !isBlank(part.text));
    return opening?.kind !== 'reasoning' || ownThought(runtime, opening) === null;
  });
}

/** The messages after the last one of a person, of those that `counts` lets count by what stands before them. */
function afterLast(messages: readonly Message[], counts: (before: Message | undefined) => boolean): readonly Message[] {
  const start = messages.findLastIndex(({ role }, index) => role === 'user' && counts(messages[index - 1]));
  return messages.slice(start + 1);
}
