/** OpenAI's chat completions, as it and everybody else speaks them. */
import type { Dialect, Prompt, PromptUnit } from '../dialect.ts';
import { frame } from '../dialect.ts';
import type { Dialogue, Utterance } from '../dialogue.ts';
import { listOf, objectOf, textOf, without, type Json } from '../json.ts';
import { checkChatCompletions } from './chat-completions-check.ts';
import { chatCompletionFrames, chatTextFrame, wholeChatCompletion } from './chat-completions-frames.ts';
import { openaiError, openaiRejection } from './openai-errors.ts';

export const chatCompletions: Dialect = {
  protocol: 'chat_completions',
  check: (body, _headers, memory) => checkChatCompletions(body, memory),
  dialogue,
  prompt,
  outputTokensMax: (body) => {
    const most = body['max_completion_tokens'] ?? body['max_tokens'];
    return typeof most === 'number' ? most : null;
  },
  frames: chatCompletionFrames,
  whole: wholeChatCompletion,
  overflow: (inputTokens, windowTokens) => ({
    kind: 'context',
    param: 'messages',
    message: `This model's maximum context length is ${windowTokens} tokens. However, your messages resulted in ${inputTokens} tokens. Please reduce the length of the messages.`,
  }),
  rejection: openaiRejection,
  errorFrame: (problem) => frame('stop', { error: openaiError(problem) }),
  textFrame: chatTextFrame,
  unknownFrame: () => frame('content', { object: 'chat.completion.weather', forecast: ['rain'] }),
};

function dialogue(body: Json): Dialogue {
  return {
    model: textOf(body['model']),
    toolNames: new Set(listOf(body['tools']).map((tool) => textOf(objectOf(objectOf(tool)['function'])['name']))),
    utterances: listOf(body['messages']).map(objectOf).flatMap(utterancesOf),
    thinking: thinkingOf(body),
  };
}

/** Each provider has its own word for it. */
function thinkingOf(body: Json): Dialogue['thinking'] {
  const said = body['reasoning_effort'] ?? objectOf(body['reasoning'])['effort'] ?? objectOf(body['thinking'])['type'];
  if (said === undefined) return 'may';
  return said === 'none' || said === 'disabled' ? 'no' : 'yes';
}

function utterancesOf(message: Json): Utterance[] {
  const text = contentText(message['content']);
  switch (message['role']) {
    case 'user':
      // What tools showed is no new question.
      return text.startsWith('[The pictures of the tool results above') ? [] : [{ role: 'user', text }];
    case 'assistant': {
      const calls = listOf(message['tool_calls']).map((call) => {
        const { id, function: asked } = objectOf(call);
        return {
          id: textOf(id),
          name: textOf(objectOf(asked)['name']),
          arguments: textOf(objectOf(asked)['arguments']),
        };
      });
      return [{ role: 'assistant', text, calls }];
    }
    case 'tool':
      return [{ role: 'result', callId: textOf(message['tool_call_id']), text }];
    default:
      return [];
  }
}

function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  return listOf(content)
    .map((part) => textOf(objectOf(part)['text']))
    .join('');
}

/** Tools come before the messages. A message is its parts, because marks stand on those; a plain text is one. */
function prompt(body: Json): Prompt {
  const units: PromptUnit[] = listOf(body['tools']).map((tool) => unitOf(objectOf(tool), ''));
  if (body['response_format'] !== undefined) units.push({ text: JSON.stringify(body['response_format']), mark: null });
  for (const message of listOf(body['messages']).map(objectOf)) {
    const { content } = message;
    const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : listOf(content);
    const rest = without(message, 'content');
    const ofMessage = Object.keys(rest).length > 1 ? [unitOf(rest, '')] : [];
    const ofParts = parts.map((part) => unitOf(objectOf(part), textOf(message['role'])));
    // Which call a result belongs to is read before it; the calls of an answer are read after its words.
    units.push(...(message['role'] === 'tool' ? [...ofMessage, ...ofParts] : [...ofParts, ...ofMessage]));
  }
  const isMarked = textOf(body['model']).startsWith('anthropic/');
  return { units, caching: isMarked ? 'marks' : 'automatic', cacheKey: textOf(body['prompt_cache_key']) };
}

function unitOf(part: Json, role: string): PromptUnit {
  const control = part['cache_control'];
  const mark = control === undefined ? null : objectOf(control)['ttl'] === '1h' ? '1h' : '5m';
  return { text: role + JSON.stringify(without(part, 'cache_control')), mark };
}
