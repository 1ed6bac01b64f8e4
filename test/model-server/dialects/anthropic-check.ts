/** What Anthropic turns down in a request for a message: the shape first, then blocks, pairs and marks. */
import type { Memory } from '../dialect.ts';
import { listOf, objectOf, textOf, type Json } from '../json.ts';
import { badRequest, type Problem } from '../problem.ts';
import { sealOf } from '../seal.ts';
import { checkMarks } from './anthropic-marks.ts';
import { checkPairs } from './anthropic-pairs.ts';

const thinkingTokensMin = 1_024;

const topFields = fields(
  'model messages system tools tool_choice max_tokens stream temperature top_p top_k stop_sequences metadata thinking ' +
    'cache_control service_tier context_management output_config container mcp_servers betas',
);
const blockFields: Record<string, ReadonlySet<string>> = {
  text: fields('type text cache_control citations'),
  image: fields('type source cache_control'),
  document: fields('type source cache_control title context citations'),
  thinking: fields('type thinking signature'),
  redacted_thinking: fields('type data'),
  tool_use: fields('type id name input cache_control'),
  tool_result: fields('type tool_use_id content is_error cache_control'),
};

function fields(names: string): ReadonlySet<string> {
  return new Set(names.split(' '));
}

export function checkAnthropic(body: Json, headers: Readonly<Record<string, string>>, memory: Memory): Problem | null {
  if (headers['anthropic-version'] === undefined) return badRequest('anthropic-version: header is required');
  return (
    checkTop(body) ??
    checkTools(body) ??
    checkSystem(body) ??
    checkMessages(body) ??
    checkPairs(messagesOf(body)) ??
    checkThinking(body, memory) ??
    checkMarks(body)
  );
}

function messagesOf(body: Json): Json[] {
  return listOf(body['messages']).map(objectOf);
}

function checkTop(body: Json): Problem | null {
  const unknown = Object.keys(body).find((field) => !topFields.has(field));
  if (unknown !== undefined) return badRequest(`${unknown}: Extra inputs are not permitted`);
  if (typeof body['max_tokens'] !== 'number') return badRequest('max_tokens: Field required');
  if (body['max_tokens'] < 1) return badRequest('max_tokens: Input should be greater than or equal to 1');
  const { type, budget_tokens: budget } = objectOf(body['thinking']);
  if (type !== 'enabled') return null;
  if (typeof budget !== 'number') return badRequest('thinking.enabled.budget_tokens: Field required');
  if (budget < thinkingTokensMin) {
    return badRequest(`thinking.enabled.budget_tokens: Input should be greater than or equal to ${thinkingTokensMin}`);
  }
  if (body['max_tokens'] <= budget) return badRequest('`max_tokens` must be greater than `thinking.budget_tokens`.');
  if (['any', 'tool'].includes(textOf(objectOf(body['tool_choice'])['type']))) {
    return badRequest('Thinking may not be enabled when tool_choice forces tool use.');
  }
  return null;
}

function checkTools(body: Json): Problem | null {
  const seen = new Set<string>();
  for (const [index, tool] of listOf(body['tools']).map(objectOf).entries()) {
    const name = textOf(tool['name']);
    if (!/^[a-zA-Z0-9_-]{1,128}$/.test(name)) {
      return badRequest(`tools.${index}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`);
    }
    if (seen.has(name)) return badRequest('tools: Tool names must be unique.');
    seen.add(name);
    if (objectOf(tool['input_schema'])['type'] !== 'object') {
      return badRequest(`tools.${index}.custom.input_schema.type: Field required`);
    }
  }
  return null;
}

function checkSystem(body: Json): Problem | null {
  const { system } = body;
  if (system === undefined || typeof system === 'string') return null;
  const isEmpty = listOf(system).some((block) => textOf(objectOf(block)['text']) === '');
  return isEmpty ? badRequest('system: text content blocks must be non-empty') : null;
}

function checkMessages(body: Json): Problem | null {
  const messages = messagesOf(body);
  const [first] = messages;
  if (first === undefined) return badRequest('messages: at least one message is required');
  for (const [index, message] of messages.entries()) {
    const problem = checkRole(message, index) ?? checkContent(message, index, messages.length);
    if (problem !== null) return problem;
  }
  if (first['role'] !== 'user') return badRequest('messages: first message must use the "user" role');
  if (messages.at(-1)?.['role'] !== 'user') {
    return badRequest(
      'This model does not support assistant message prefill. The conversation must end with a user message.',
    );
  }
  return null;
}

function checkRole(message: Json, index: number): Problem | null {
  const role = textOf(message['role']);
  if (role === 'system') {
    return badRequest(
      'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter, not "system" as an input message role.',
    );
  }
  if (role !== 'user' && role !== 'assistant') {
    return badRequest(`messages.${index}.role: Input should be 'user' or 'assistant'`);
  }
  const unknown = Object.keys(message).find((field) => field !== 'role' && field !== 'content');
  return unknown === undefined ? null : badRequest(`messages.${index}.${unknown}: Extra inputs are not permitted`);
}

function checkContent(message: Json, index: number, count: number): Problem | null {
  const { content } = message;
  if (content === undefined) return badRequest(`messages.${index}.content: Field required`);
  const isEmpty = content === '' || listOf(content).length + (typeof content === 'string' ? 1 : 0) === 0;
  if (isEmpty && (message['role'] === 'user' || index < count - 1)) {
    return badRequest(
      `messages.${index}: all messages must have non-empty content except for the optional final assistant message`,
    );
  }
  if (typeof content === 'string') {
    return content.trim() === '' ? badRequest('messages: text content blocks must contain non-whitespace text') : null;
  }
  for (const [place, block] of listOf(content).map(objectOf).entries()) {
    const problem = checkBlock(block, `messages.${index}.content.${place}`, textOf(message['role']));
    if (problem !== null) return problem;
  }
  return null;
}

function checkBlock(block: Json, at: string, role: string): Problem | null {
  const type = textOf(block['type']);
  const known = blockFields[type];
  if (known === undefined) {
    return badRequest(`${at}: Input tag '${type}' found using 'type' does not match any of the expected tags`);
  }
  const unknown = Object.keys(block).find((field) => !known.has(field));
  if (unknown !== undefined) return badRequest(`${at}.${type}.${unknown}: Extra inputs are not permitted`);
  switch (type) {
    case 'text': {
      const text = textOf(block['text']);
      if (text === '') return badRequest('messages: text content blocks must be non-empty');
      return text.trim() === '' ? badRequest('messages: text content blocks must contain non-whitespace text') : null;
    }
    case 'tool_use':
      return checkToolUse(block, at, role);
    case 'tool_result':
      return role === 'user' ? checkResultText(block, at) : misplaced('tool_result', 'user');
    case 'thinking':
      if (role !== 'assistant') return misplaced('thinking', 'assistant');
      return textOf(block['signature']) === sealOf(textOf(block['thinking']))
        ? null
        : badRequest(`${at}: Invalid \`signature\` in \`thinking\` block`);
    default:
      return null;
  }
}

function misplaced(type: string, role: string): Problem {
  return badRequest(`messages: \`${type}\` blocks can only be in \`${role}\` messages`);
}

function checkToolUse(block: Json, at: string, role: string): Problem | null {
  if (role !== 'assistant') return misplaced('tool_use', 'assistant');
  if (!/^[a-zA-Z0-9_-]+$/.test(textOf(block['id']))) {
    return badRequest(`${at}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`);
  }
  if (!/^[a-zA-Z0-9_-]{1,200}$/.test(textOf(block['name']))) {
    return badRequest(`${at}.tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{1,200}$'`);
  }
  const { input } = block;
  const isObject = typeof input === 'object' && input !== null && !Array.isArray(input);
  return isObject ? null : badRequest(`${at}.tool_use.input: Input should be a valid dictionary`);
}

function checkResultText(block: Json, at: string): Problem | null {
  const { content } = block;
  if (content === undefined || typeof content === 'string') return null;
  const isEmpty = listOf(content).some(
    (part) => objectOf(part)['type'] === 'text' && textOf(objectOf(part)['text']) === '',
  );
  return isEmpty ? badRequest(`${at}.tool_result.content: text content blocks must be non-empty`) : null;
}

/** In the round that is going on, calls that were thought about bring their thinking along. */
function checkThinking(body: Json, memory: Memory): Problem | null {
  const { type } = objectOf(body['thinking']);
  if (type !== 'enabled') return null;
  const messages = messagesOf(body);
  const index = messages.findLastIndex((message) => message['role'] === 'assistant');
  const blocks = listOf(messages[index]?.['content']).map(objectOf);
  if (['thinking', 'redacted_thinking'].includes(textOf(blocks[0]?.['type']))) return null;
  const isThought = blocks.some(
    (block) =>
      block['type'] === 'tool_use' &&
      memory.isThoughtOf(textOf(body['model']), textOf(block['name']), JSON.stringify(block['input'])),
  );
  if (!isThought) return null;
  return badRequest(
    `messages.${index}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${textOf(blocks[0]?.['type'])}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block (preceeding the lastmost set of \`tool_use\` and \`tool_result\` blocks).`,
  );
}
