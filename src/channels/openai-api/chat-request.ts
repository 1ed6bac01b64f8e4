/**
 * The body of `POST /v1/chat/completions`, read. Pure.
 *
 * Taken: `model`, `messages`, `stream`, `stream_options.include_usage`. Taken and without effect, since the agent and its
 * configuration decide them: `temperature`, `top_p`, `max_tokens`, `max_completion_tokens`, `seed`, `stop`, `user`,
 * penalties, `reasoning_effort`, `metadata`, `store` and whatever is not known. Refused, because the answer would not be
 * what was asked for: more than one choice, log probabilities, tools of the client, formats other than text, audio.
 */
import { badRequest, unsupported } from './api-error.ts';
import { imagesMax, messagesMax, textPart, type Said } from './conversation.ts';
import { imageFrom } from './image-data.ts';
import { fieldsOf, flag, isAskedFor, isFields, optionalText, typeOf, type Fields } from './request-fields.ts';

export interface ChatRequest {
  readonly model: string | null;
  readonly said: readonly Said[];
  readonly stream: boolean;
  readonly includeUsage: boolean;
}

export function chatRequest(body: unknown): ChatRequest {
  const fields = fieldsOf(body, null);
  refuseUnsupported(fields);
  const stream = flag(fields, 'stream', false);
  const streamOptions = isFields(fields['stream_options']) ? fields['stream_options'] : {};
  return {
    model: optionalText(fields, 'model'),
    said: saidIn(fields['messages']),
    stream,
    includeUsage: stream && streamOptions['include_usage'] === true,
  };
}

function refuseUnsupported(fields: Fields): void {
  const { n = 1, response_format: format, modalities } = fields;
  if (n !== 1 && n !== null) throw unsupported('There is one answer: `n` must be 1.', 'n');
  for (const name of ['logprobs', 'top_logprobs']) {
    if (isAskedFor(fields[name])) throw unsupported('Log probabilities are not available.', name);
  }
  for (const name of ['tools', 'functions']) {
    if (isAskedFor(fields[name])) {
      throw unsupported(`The agent uses tools of its own; \`${name}\` of the client can't be called.`, name);
    }
  }
  const formatType = typeOf(format);
  if (formatType !== null && formatType !== 'text') {
    throw unsupported('Answers are text: ask for another format in the message itself.', 'response_format');
  }
  if (isAskedFor(fields['audio']) || (Array.isArray(modalities) && modalities.some((one) => one !== 'text'))) {
    throw unsupported('Answers are text only.', 'modalities');
  }
}

function saidIn(messages: unknown): Said[] {
  if (!Array.isArray(messages) || messages.length === 0) {
    throw badRequest('`messages` must be a list with at least one message.', 'messages');
  }
  if (messages.length > messagesMax) throw badRequest(`There are more than ${messagesMax} messages.`, 'messages');
  const said = messages.map((message, index) => saidBy(message, `messages[${index}]`));
  const images = said.flatMap(({ parts }) => parts.filter((part) => 'content' in part));
  if (images.length > imagesMax) throw badRequest(`There are more than ${imagesMax} images.`, 'messages');
  return said;
}

function saidBy(message: unknown, param: string): Said {
  const fields = fieldsOf(message, param);
  const parts = partsOf(fields['content'], `${param}.content`);
  switch (fields['role']) {
    case 'system':
    case 'developer':
      return { role: 'system', parts };
    case 'user':
      return { role: 'user', parts };
    case 'assistant':
      return { role: 'assistant', parts: [...parts, ...callsIn(fields)] };
    case 'tool':
    case 'function': {
      const name = fields['tool_call_id'] ?? fields['name'];
      const label = typeof name === 'string' ? `[Result of ${name}]` : '[Result of a tool]';
      return { role: 'user', parts: [textPart(label), ...parts] };
    }
    default:
      throw badRequest(`\`${param}.role\` must be system, developer, user, assistant or tool.`, `${param}.role`);
  }
}

function callsIn(fields: Fields): Said['parts'] {
  const calls = Array.isArray(fields['tool_calls']) ? fields['tool_calls'] : [];
  return calls.flatMap((call: unknown) => {
    const called = isFields(call) ? (call['function'] ?? call['custom']) : null;
    if (!isFields(called) || typeof called['name'] !== 'string') return [];
    const given = called['arguments'] ?? called['input'];
    return [textPart(`[Called ${called['name']} with ${typeof given === 'string' ? given : 'nothing'}]`)];
  });
}

function partsOf(content: unknown, param: string): Said['parts'] {
  if (content === undefined || content === null) return [];
  if (typeof content === 'string') return [textPart(content)];
  if (!Array.isArray(content)) throw badRequest(`\`${param}\` must be a string or a list of parts.`, param);
  return content.map((part: unknown, index) => {
    const at = `${param}[${index}]`;
    const fields = fieldsOf(part, at);
    const { type } = fields;
    if (type === 'text' || type === 'refusal') {
      const text = fields[type];
      if (typeof text !== 'string') throw badRequest(`\`${at}.${type}\` must be a string.`, `${at}.${type}`);
      return textPart(text);
    }
    if (type === 'image_url')
      return imageFrom(fieldsOf(fields['image_url'], `${at}.image_url`)['url'], `${at}.image_url.url`);
    throw unsupported('A message may hold parts of the types text and image_url.', `${at}.type`);
  });
}
