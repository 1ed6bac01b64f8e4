/**
 * What a request would cost with a real model, roughly: four characters to a token. The part that the request before
 * it had too counts as cached; that one ended where the last answer of the assistant begins.
 */
import type { Message, Part } from '../../protocol/messages.ts';
import type { TokenUsage } from '../../protocol/usage.ts';
import type { ModelRequest } from '../model.ts';
import type { OfflineResponse } from './respond.ts';

const charsPerToken = 4;

export function estimateUsage(request: ModelRequest, response: OfflineResponse): TokenUsage {
  const headChars = request.systemPrompt.length + JSON.stringify(request.tools).length;
  const lastAnswer = request.messages.findLastIndex((message) => message.role === 'assistant');
  const sharedChars = lastAnswer < 0 ? 0 : headChars + charsOf(request.messages.slice(0, lastAnswer));
  const reasoningChars = response.reasoning?.length ?? 0;
  const callChars = response.calls.reduce((sum, call) => sum + call.name.length + call.arguments.length, 0);
  return {
    inputTokens: tokens(headChars + charsOf(request.messages)),
    cachedTokens: tokens(sharedChars),
    cacheWriteTokens: 0,
    outputTokens: tokens(reasoningChars + response.text.length + callChars),
    reasoningTokens: tokens(reasoningChars),
  };
}

function charsOf(messages: readonly Message[]): number {
  return messages.reduce((sum, message) => sum + message.parts.reduce((chars, part) => chars + partChars(part), 0), 0);
}

function partChars(part: Part): number {
  switch (part.kind) {
    case 'text':
    case 'reasoning':
    case 'tool-result':
      return part.text.length;
    case 'tool-call':
      return part.name.length + part.arguments.length;
    case 'image':
    case 'file':
      return 0;
  }
}

function tokens(chars: number): number {
  return Math.ceil(chars / charsPerToken);
}
