/**
 * Our messages as messages of the chat completions dialect. What a message becomes depends on nothing but itself and what
 * stands before it, with one exception: the results of calls stand behind their calls whatever came between, because
 * providers refuse everything else. Pictures of results follow the last of them as a person's message, because a result
 * takes nothing but text. Contents are JSON texts: arguments go back as the model wrote them.
 */
import type {
  AssistantMessage,
  Message,
  ReasoningPart,
  ToolCallPart,
  ToolResultPart,
  UserMessage,
} from '../../../protocol/messages.ts';
import { toolCallsOf } from '../../../protocol/messages.ts';
import {
  argumentsObject,
  contentWords,
  emptyMessageWords,
  imageBytes,
  isBlank,
  jsonText,
  toldResult,
  toolName,
  type ToldResult,
} from '../message-parts.ts';
import { reasoningOrigin, type ModelRequest, type Runtime } from '../../model.ts';
import { openThoughts, unsignedCall, type Thoughts } from './thoughts.ts';
import { hasQuirk } from './quirks.ts';
import { wireCallId } from './wire-call-id.ts';

export interface WireMessage {
  readonly role: 'system' | 'developer' | Message['role'];
  /** The parts of its content as JSON; none stands for `null`. */
  readonly content: readonly string[];
  /** The text, where the content is nothing but text. */
  readonly text: string | null;
  /** More fields as JSON, each with its comma before it. */
  readonly fields: string;
  readonly calls: number;
}

/** Put between a tool and a person where the dialect wants somebody to speak. */
const betweenWords = 'Understood.';
const pictureWords = '[The pictures of the tool results above, in their order.]';
const noResultWords = '(There is no result of this call.)';

export function textMessage(role: WireMessage['role'], text: string): WireMessage {
  return { role, content: [textPart(text)], text, fields: '', calls: 0 };
}

export function wireMessages(runtime: Runtime, request: ModelRequest): WireMessage[] {
  const results = new Map<string, ToolResultPart>();
  for (const message of request.messages) {
    if (message.role === 'tool') results.set(message.parts[0].callId, message.parts[0]);
  }
  const wire: WireMessage[] = [];
  const speak = (message: WireMessage) => {
    if (wire.at(-1)?.role === 'tool' && hasQuirk(runtime, 'assistant-after-tool')) {
      wire.push(textMessage('assistant', betweenWords));
    }
    wire.push(message);
  };
  for (const message of request.messages) {
    if (message.role === 'user') speak(userMessage(runtime, request, message));
    if (message.role !== 'assistant') continue;
    wire.push(...assistantMessage(runtime, message));
    const told = toolCallsOf(message).map((call) => toldOf(runtime, request, call, results.get(call.callId)));
    wire.push(...told.map(({ result }) => result));
    const pictures = told.flatMap((one) => one.pictures);
    if (pictures.length > 0) speak(pictureMessage(pictures));
  }
  return wire;
}

function textPart(text: string): string {
  return `{"type":"text","text":${jsonText(text)}}`;
}

function imagePart(mediaType: string, data: string): string {
  return `{"type":"image_url","image_url":{"url":"data:${mediaType};base64,${data}"}}`;
}

function userMessage(runtime: Runtime, request: ModelRequest, message: UserMessage): WireMessage {
  const texts: string[] = [];
  let hasImages = false;
  const content = message.parts.flatMap((part) => {
    if (part.kind === 'text' && isBlank(part.text)) return [];
    const data = part.kind === 'image' ? imageBytes(runtime, request, part) : null;
    if (part.kind === 'image' && data !== null) {
      hasImages = true;
      return [imagePart(part.content.mediaType, data)];
    }
    const text = part.kind === 'text' ? part.text : contentWords(part);
    texts.push(text);
    return [textPart(text)];
  });
  if (content.length === 0) return textMessage('user', emptyMessageWords);
  return { role: 'user', content, text: hasImages ? null : texts.join('\n'), fields: '', calls: 0 };
}

function assistantMessage(runtime: Runtime, message: AssistantMessage): WireMessage[] {
  const text = message.parts.map((part) => (part.kind === 'text' ? part.text : '')).join('');
  const calls = toolCallsOf(message);
  // Somebody who said nothing can't be quoted.
  if (isBlank(text) && calls.length === 0) return [];
  const own = message.parts.filter(
    (part) => part.kind === 'reasoning' && part.origin === reasoningOrigin(runtime),
  ) as ReasoningPart[];
  const thoughts = openThoughts(own);
  const fields = [thoughtFields(runtime, thoughts, calls.length > 0), callFields(runtime, calls, thoughts)].join('');
  const content = isBlank(text) ? [] : [textPart(text)];
  return [{ role: 'assistant', content, text: isBlank(text) ? null : text, fields, calls: calls.length }];
}

function thoughtFields(runtime: Runtime, thoughts: Thoughts, hasCalls: boolean): string {
  const fields: string[] = [];
  if (hasCalls && hasQuirk(runtime, 'reasoning-content-back')) {
    // Where it is asked for, nothing at all counts as missing.
    fields.push(`,"reasoning_content":${jsonText(isBlank(thoughts.text) ? ' ' : thoughts.text)}`);
  }
  if (thoughts.details.length > 0 && hasQuirk(runtime, 'reasoning-details-back')) {
    fields.push(`,"reasoning_details":${JSON.stringify(thoughts.details)}`);
  }
  return fields.join('');
}

function callFields(runtime: Runtime, calls: readonly ToolCallPart[], thoughts: Thoughts): string {
  if (calls.length === 0) return '';
  const wantsSignatures = hasQuirk(runtime, 'thought-signatures');
  const texts = calls.map((call, index) => {
    const id = jsonText(wireCallId(runtime, call.callId));
    const name = jsonText(toolName(call.name));
    const signature = thoughts.signatures[index] ?? (index === 0 ? unsignedCall : null);
    const extra =
      wantsSignatures && signature !== null
        ? `,"extra_content":{"google":{"thought_signature":${jsonText(signature)}}}`
        : '';
    const written = jsonText(argumentsObject(call.arguments));
    return `{"id":${id},"type":"function","function":{"name":${name},"arguments":${written}}${extra}}`;
  });
  return `,"tool_calls":[${texts.join(',')}]`;
}

function toldOf(
  runtime: Runtime,
  request: ModelRequest,
  call: ToolCallPart,
  result: ToolResultPart | undefined,
): { readonly result: WireMessage; readonly pictures: ToldResult['pictures'] } {
  const { text, pictures } =
    result === undefined ? { text: noResultWords, pictures: [] } : toldResult(runtime, request, result, false);
  const fields = `,"tool_call_id":${jsonText(wireCallId(runtime, call.callId))}`;
  return { result: { role: 'tool', content: [textPart(text)], text, fields, calls: 0 }, pictures };
}

function pictureMessage(pictures: ToldResult['pictures']): WireMessage {
  const content = [textPart(pictureWords), ...pictures.map(({ mediaType, data }) => imagePart(mediaType, data))];
  return { role: 'user', content, text: null, fields: '', calls: 0 };
}
