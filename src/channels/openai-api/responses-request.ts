/**
 * The body of `POST /v1/responses`, read. Pure.
 *
 * Taken: `model`, `input`, `instructions`, `previous_response_id`, `stream`, `store`, `metadata`. Taken and without
 * effect: `temperature`, `top_p`, `max_output_tokens`, `reasoning`, `truncation`, `include`, `user`, `service_tier` and
 * whatever is not known. Refused: tools of the client, formats other than text, log probabilities, work in the background,
 * conversations and prompts kept elsewhere.
 */
import { badRequest, unsupported } from './api-error.ts';
import { imagesMax, messagesMax, textPart, type Said } from './conversation.ts';
import { imageFrom } from './image-data.ts';
import { fieldsOf, flag, isAskedFor, isFields, optionalText, typeOf, type Fields } from './request-fields.ts';

const metadataPairsMax = 16;
const metadataCharsMax = 512;

export interface ResponsesRequest {
  readonly model: string | null;
  readonly said: readonly Said[];
  readonly instructions: string | null;
  readonly previousResponseId: string | null;
  readonly stream: boolean;
  readonly store: boolean;
  readonly metadata: Readonly<Record<string, string>>;
}

export function responsesRequest(body: unknown): ResponsesRequest {
  const fields = fieldsOf(body, null);
  refuseUnsupported(fields);
  const instructions = optionalText(fields, 'instructions');
  const said = saidIn(fields['input']);
  return {
    model: optionalText(fields, 'model'),
    said: instructions === null ? said : [{ role: 'system', parts: [textPart(instructions)] }, ...said],
    instructions,
    previousResponseId: optionalText(fields, 'previous_response_id'),
    stream: flag(fields, 'stream', false),
    store: flag(fields, 'store', true),
    metadata: metadataOf(fields['metadata']),
  };
}

const refusals: Readonly<Record<string, string>> = {
  tools: "The agent uses tools of its own; tools of the client can't be called.",
  background:
    'Work in the background is not available; name a session with X-Talaria-Session, and it goes on by itself.',
  conversation: 'There are no conversations here; use previous_response_id or X-Talaria-Session.',
  prompt: 'There are no stored prompts here; send the text itself.',
  top_logprobs: 'Log probabilities are not available.',
};

function refuseUnsupported(fields: Fields): void {
  for (const [name, text] of Object.entries(refusals)) if (isAskedFor(fields[name])) throw unsupported(text, name);
  const format = isFields(fields['text']) ? typeOf(fields['text']['format']) : null;
  if (format !== null && format !== 'text') {
    throw unsupported('Answers are text: ask for another format in the message itself.', 'text.format');
  }
}

function metadataOf(value: unknown): Record<string, string> {
  const pairs = Object.entries(fieldsOf(value ?? {}, 'metadata'));
  const isFine = ([key, text]: [string, unknown]) =>
    typeof text === 'string' && key.length <= metadataCharsMax && text.length <= metadataCharsMax;
  if (pairs.length > metadataPairsMax || !pairs.every(isFine)) {
    const text = `\`metadata\` holds up to ${metadataPairsMax} strings of up to ${metadataCharsMax} characters.`;
    throw badRequest(text, 'metadata');
  }
  return Object.fromEntries(pairs.map(([key, text]) => [key.toWellFormed(), String(text).toWellFormed()]));
}

function saidIn(input: unknown): Said[] {
  if (typeof input === 'string') return [{ role: 'user', parts: [textPart(input)] }];
  if (!Array.isArray(input) || input.length === 0) {
    throw badRequest('`input` must be a string or a list with at least one item.', 'input');
  }
  if (input.length > messagesMax) throw badRequest(`There are more than ${messagesMax} items.`, 'input');
  const said = input.flatMap((item: unknown, index) => saidBy(item, `input[${index}]`));
  const images = said.flatMap(({ parts }) => parts.filter((part) => 'content' in part));
  if (images.length > imagesMax) throw badRequest(`There are more than ${imagesMax} images.`, 'input');
  return said;
}

function saidBy(item: unknown, param: string): Said[] {
  const fields = fieldsOf(item, param);
  const text = (name: string) => (typeof fields[name] === 'string' ? fields[name] : '');
  switch (fields['type'] ?? 'message') {
    case 'message':
      return [{ role: roleOf(fields['role'], `${param}.role`), parts: partsOf(fields['content'], `${param}.content`) }];
    case 'function_call':
    case 'custom_tool_call': {
      const given = text('arguments') || text('input');
      return [{ role: 'assistant', parts: [textPart(`[Called ${text('name')} with ${given || 'nothing'}]`)] }];
    }
    case 'function_call_output':
    case 'custom_tool_call_output':
      return [
        {
          role: 'user',
          parts: [textPart(`[Result of ${text('call_id')}]`), ...partsOf(fields['output'] ?? '', `${param}.output`)],
        },
      ];
    // Thoughts of another model: no use to this one.
    case 'reasoning':
      return [];
    default:
      throw unsupported('The input may hold messages and what function calls said.', `${param}.type`);
  }
}

function roleOf(role: unknown, param: string): Said['role'] {
  if (role === 'user' || role === 'assistant') return role;
  if (role === 'system' || role === 'developer') return 'system';
  throw badRequest(`\`${param}\` must be user, assistant, system or developer.`, param);
}

function partsOf(content: unknown, param: string): Said['parts'] {
  if (typeof content === 'string') return [textPart(content)];
  if (!Array.isArray(content)) throw badRequest(`\`${param}\` must be a string or a list of parts.`, param);
  return content.map((part: unknown, index) => {
    const at = `${param}[${index}]`;
    const fields = fieldsOf(part, at);
    switch (fields['type']) {
      case 'input_text':
      case 'output_text':
      case 'text':
      case 'refusal': {
        const text = fields['type'] === 'refusal' ? fields['refusal'] : fields['text'];
        if (typeof text !== 'string') throw badRequest(`\`${at}.text\` must be a string.`, `${at}.text`);
        return textPart(text);
      }
      case 'input_image':
        if (isAskedFor(fields['file_id'])) throw unsupported('There are no stored files here.', `${at}.file_id`);
        return imageFrom(fields['image_url'], `${at}.image_url`);
      default:
        throw unsupported('A message may hold parts of the types input_text and input_image.', `${at}.type`);
    }
  });
}
