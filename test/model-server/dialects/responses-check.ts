/** What OpenAI turns down in a request for a response. */
import { listOf, objectOf, textOf, type Json } from '../json.ts';
import { badRequest, type Problem } from '../problem.ts';
import { isOwnBlock } from '../seal.ts';

const callIdCharsMax = 64;

const knownFields = new Set(
  (
    'model input instructions tools tool_choice parallel_tool_calls stream stream_options max_output_tokens temperature ' +
    'top_p reasoning include store metadata prompt_cache_key prompt_cache_retention safety_identifier service_tier text ' +
    'truncation user previous_response_id background max_tool_calls top_logprobs prompt conversation'
  ).split(' '),
);

export function checkResponses(body: Json): Problem | null {
  const unknown = Object.keys(body).find((field) => !knownFields.has(field));
  if (unknown !== undefined) return badRequest(`Unknown parameter: '${unknown}'.`, unknown, 'unknown_parameter');
  const input = listOf(body['input']).map(objectOf);
  if (input.length === 0 && textOf(body['input']) === '') {
    return badRequest('Missing required parameter: "input".', 'input', 'missing_required_parameter');
  }
  return checkTools(body) ?? checkItems(input, body['store'] !== false) ?? checkPairs(input) ?? checkReasoning(input);
}

function checkTools(body: Json): Problem | null {
  for (const [index, tool] of listOf(body['tools']).map(objectOf).entries()) {
    const name = textOf(tool['name']);
    if (tool['type'] === 'function' && !/^[a-zA-Z0-9_-]{1,64}$/.test(name)) {
      const param = `tools[${index}].name`;
      return badRequest(`Missing or invalid '${param}'.`, param, 'missing_required_parameter');
    }
  }
  return null;
}

const textTypes: Record<string, readonly string[]> = {
  user: ['input_text', 'input_image', 'input_file'],
  system: ['input_text', 'input_image', 'input_file'],
  developer: ['input_text', 'input_image', 'input_file'],
  assistant: ['output_text', 'refusal'],
};

function checkItems(input: readonly Json[], isStored: boolean): Problem | null {
  for (const [index, item] of input.entries()) {
    const at = `input[${index}]`;
    const kind = textOf(item['type']) || 'message';
    const problem = checkItem(item, kind, at, isStored);
    if (problem !== null) return problem;
  }
  return null;
}

function checkItem(item: Json, kind: string, at: string, isStored: boolean): Problem | null {
  switch (kind) {
    case 'message':
      return checkContent(item, at);
    case 'function_call':
      if (typeof item['arguments'] !== 'string') {
        return badRequest(`Invalid type for '${at}.arguments': expected a string.`, `${at}.arguments`, 'invalid_type');
      }
      return checkId(item, at);
    case 'function_call_output':
      return checkId(item, at);
    case 'reasoning':
      if (!Array.isArray(item['summary'])) {
        return badRequest(
          `Missing required parameter: '${at}.summary'.`,
          `${at}.summary`,
          'missing_required_parameter',
        );
      }
      if (textOf(item['encrypted_content']) !== '' || isStored) return null;
      return {
        kind: 'not-found',
        param: 'input',
        message: `Item with id '${textOf(item['id'])}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`,
      };
    default: {
      const message = `Invalid value: '${kind}'. Supported values are: 'function_call', 'function_call_output', 'message', 'reasoning'.`;
      return badRequest(message, at, 'invalid_value');
    }
  }
}

function checkContent(item: Json, at: string): Problem | null {
  const role = textOf(item['role']);
  const allowed = textTypes[role];
  if (allowed === undefined) return badRequest(`Invalid value: '${role}'.`, `${at}.role`, 'invalid_value');
  if (typeof item['content'] === 'string') return null;
  for (const [index, part] of listOf(item['content']).entries()) {
    const type = textOf(objectOf(part)['type']);
    if (allowed.includes(type)) continue;
    const supported = allowed.map((name) => `'${name}'`).join(' and ');
    return badRequest(
      `Invalid value: '${type}'. Supported values are: ${supported}.`,
      `${at}.content[${index}]`,
      'invalid_value',
    );
  }
  return null;
}

function checkId(item: Json, at: string): Problem | null {
  const id = textOf(item['call_id']);
  if (id === '') return badRequest(`Missing required parameter: '${at}.call_id'.`, `${at}.call_id`);
  if (id.length <= callIdCharsMax) return null;
  const message = `Invalid '${at}.call_id': string too long. Expected a string with maximum length ${callIdCharsMax}, but got a string with length ${id.length} instead.`;
  return badRequest(message, `${at}.call_id`, 'string_above_max_length');
}

function checkPairs(input: readonly Json[]): Problem | null {
  const calls = new Set<string>();
  const outputs = new Set<string>();
  for (const item of input) {
    const id = textOf(item['call_id']);
    if (item['type'] === 'function_call') {
      if (calls.has(id)) return badRequest(`Duplicate function call with call_id ${id}.`, 'input');
      calls.add(id);
    }
    if (item['type'] !== 'function_call_output') continue;
    if (!calls.has(id)) return badRequest(`No tool call found for function call output with call_id ${id}.`, 'input');
    if (outputs.has(id)) return badRequest(`Duplicate function call output with call_id ${id}.`, 'input');
    outputs.add(id);
  }
  const open = [...calls].find((id) => !outputs.has(id));
  return open === undefined ? null : badRequest(`No tool output found for function call ${open}.`, 'input');
}

/** Reasoning belongs to what follows it; a call that names itself as ours must bring the reasoning before it. */
function checkReasoning(input: readonly Json[]): Problem | null {
  for (const [index, item] of input.entries()) {
    const next = input[index + 1];
    const id = textOf(item['id']);
    if (item['type'] === 'reasoning') {
      const block = textOf(item['encrypted_content']);
      if (block !== '' && !isOwnBlock(block)) {
        const message = `The encrypted content ${block.slice(0, 4)}... could not be verified. Reason: Encrypted content could not be decrypted or parsed.`;
        return badRequest(message, undefined, 'invalid_encrypted_content');
      }
      const isFollowed = ['message', 'function_call', 'reasoning', ''].includes(textOf(next?.['type']));
      if (next === undefined || !isFollowed || next['role'] === 'user') {
        return badRequest(
          `Item '${id}' of type 'reasoning' was provided without its required following item.`,
          'input',
        );
      }
    }
    // The ids of items that were thought about end in the id of their reasoning.
    const wanted = /^fc_.*_(rs_.+)$/.exec(id)?.[1];
    if (wanted === undefined) continue;
    const before = input.slice(0, index).map((other) => textOf(other['id']));
    if (before.includes(wanted)) continue;
    const message = `Item '${id}' of type 'function_call' was provided without its required 'reasoning' item: '${wanted}'.`;
    return badRequest(message, 'input');
  }
  return null;
}
