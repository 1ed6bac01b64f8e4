/** What OpenAI, and those that imitate it, turn down in a request for a chat completion. */
import type { Memory } from '../dialect.ts';
import { listOf, objectOf, textOf, type Json } from '../json.ts';
import { badRequest, type Problem } from '../problem.ts';
import { checkVendor } from './chat-completions-vendors.ts';

const callIdCharsMax = 40;
const marksMax = 4;

const knownFields = new Set(
  (
    'model messages tools tool_choice parallel_tool_calls stream stream_options max_tokens max_completion_tokens ' +
    'temperature top_p stop seed user n response_format reasoning_effort prompt_cache_key prompt_cache_retention ' +
    'safety_identifier service_tier store metadata verbosity frequency_penalty presence_penalty logprobs logit_bias ' +
    // Of those that imitate it.
    'reasoning include_reasoning provider usage thinking extra_body keep_alive options enable_thinking cache_prompt ' +
    'chat_template_kwargs reasoning_format transforms session_id'
  ).split(' '),
);

export function checkChatCompletions(body: Json, memory: Memory): Problem | null {
  const unknown = Object.keys(body).find((field) => !knownFields.has(field));
  if (unknown !== undefined) return badRequest(`Unrecognized request argument supplied: ${unknown}`);
  if (body['max_tokens'] !== undefined && body['max_completion_tokens'] !== undefined) {
    return badRequest('Setting `max_tokens` and `max_completion_tokens` at the same time is not supported.');
  }
  return checkTools(body) ?? checkMessages(body) ?? checkVendor(body, memory) ?? checkMarks(body);
}

function checkTools(body: Json): Problem | null {
  if (body['tools'] === undefined) return null;
  const tools = listOf(body['tools']);
  if (tools.length === 0) return emptyArray('tools');
  for (const [index, tool] of tools.entries()) {
    const name = textOf(objectOf(objectOf(tool)['function'])['name']);
    if (/^[a-zA-Z0-9_-]{1,64}$/.test(name)) continue;
    const param = `tools[${index}].function.name`;
    const message = `Invalid '${param}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`;
    return badRequest(message, param, 'invalid_value');
  }
  return null;
}

function emptyArray(param: string): Problem {
  const message = `Invalid '${param}': empty array. Expected an array with minimum length 1, but got an empty array instead.`;
  return badRequest(message, param, 'empty_array');
}

function checkMessages(body: Json): Problem | null {
  const messages = listOf(body['messages']).map(objectOf);
  if (messages.length === 0) return emptyArray('messages');
  let waiting: string[] = [];
  for (const [index, message] of messages.entries()) {
    const param = `messages.[${index}].role`;
    if (message['role'] === 'tool') {
      const id = textOf(message['tool_call_id']);
      if (!waiting.includes(id)) {
        return badRequest(
          "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
          param,
        );
      }
      waiting = waiting.filter((other) => other !== id);
      if (message['content'] === undefined || message['content'] === null) return noContent(index);
      continue;
    }
    if (waiting.length > 0) return unanswered(waiting, param);
    const problem = checkMessage(message, index);
    if (problem !== null) return problem;
    waiting = callIds(message);
  }
  return waiting.length > 0 ? unanswered(waiting, `messages.[${messages.length - 1}].role`) : null;
}

function unanswered(ids: readonly string[], param: string): Problem {
  return badRequest(
    `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${ids.join(', ')}`,
    param,
  );
}

function noContent(index: number): Problem {
  return badRequest(`Invalid value for 'content': expected a string, got null.`, `messages.[${index}].content`);
}

function checkMessage(message: Json, index: number): Problem | null {
  const role = textOf(message['role']);
  if (!['system', 'developer', 'user', 'assistant'].includes(role)) {
    const message = `Invalid value: '${role}'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.`;
    return badRequest(message, `messages[${index}].role`, 'invalid_value');
  }
  const calls = message['tool_calls'];
  if (calls !== undefined && listOf(calls).length === 0) return emptyArray(`messages[${index}].tool_calls`);
  const { content } = message;
  if ((content === undefined || content === null) && calls === undefined) return noContent(index);
  if (Array.isArray(content) && content.length === 0) return emptyArray(`messages[${index}].content`);
  const ids = callIds(message);
  const double = ids.find((id, place) => ids.indexOf(id) !== place);
  if (double !== undefined) return badRequest(`Duplicate value for 'tool_call_id' of '${double}' in message[${index}]`);
  return checkCalls(message, index);
}

function checkCalls(message: Json, index: number): Problem | null {
  for (const [place, call] of listOf(message['tool_calls']).map(objectOf).entries()) {
    const param = `messages[${index}].tool_calls[${place}]`;
    const id = textOf(call['id']);
    if (id === '') return badRequest(`Missing required parameter: '${param}.id'.`, `${param}.id`);
    if (id.length > callIdCharsMax) {
      const message = `Invalid '${param}.id': string too long. Expected a string with maximum length ${callIdCharsMax}, but got a string with length ${id.length} instead.`;
      return badRequest(message, `${param}.id`, 'string_above_max_length');
    }
    if (typeof objectOf(call['function'])['arguments'] !== 'string') {
      const message = `Invalid type for '${param}.function.arguments': expected a string, but got an object instead.`;
      return badRequest(message, `${param}.function.arguments`, 'invalid_type');
    }
  }
  return null;
}

function callIds(message: Json): string[] {
  return listOf(message['tool_calls']).map((call) => textOf(objectOf(call)['id']));
}

/** Marks are an aggregator's: they go through to a provider that counts them. */
function checkMarks(body: Json): Problem | null {
  const marks = JSON.stringify(body).match(/"cache_control":\{/g)?.length ?? 0;
  if (marks <= marksMax) return null;
  return badRequest(`A maximum of ${marksMax} blocks with cache_control may be provided. Found ${marks}.`);
}
