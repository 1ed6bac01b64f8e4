/** What single providers of chat completions want besides: known by the name of their models. */
import type { Memory } from '../dialect.ts';
import { listOf, objectOf, textOf, type Json } from '../json.ts';
import { badRequest, type Problem } from '../problem.ts';
import { sealOf } from '../seal.ts';

/** Some must be given back what their model thought before a call. */
const wantsReasoningBack = /^(deepseek|kimi|glm)/;
export const signsCalls = /^gemini-3/;
export const signsThoughts = /^anthropic\//;
/** Google's word for a call that another model made. */
const unsigned = 'skip_thought_signature_validator';

export function checkVendor(body: Json, memory: Memory): Problem | null {
  const model = textOf(body['model']);
  const messages = listOf(body['messages']).map(objectOf);
  if (wantsReasoningBack.test(model)) return checkReasoning(model, messages, memory);
  if (signsCalls.test(model)) return checkCallSignatures(model, messages, memory);
  if (signsThoughts.test(model)) return checkThoughtSignatures(messages);
  return model.startsWith('mistral') ? checkMistral(body, messages) : null;
}

/** The messages since the user spoke last, with their places. */
function turnOf(messages: readonly Json[]): [number, Json][] {
  const start = messages.findLastIndex((message) => message['role'] === 'user');
  return [...messages.entries()].slice(start + 1);
}

function callsOf(message: Json): { name: string; arguments: string; signature: string }[] {
  return listOf(message['tool_calls']).map((call) => {
    const { function: asked, extra_content: extra } = objectOf(call);
    return {
      name: textOf(objectOf(asked)['name']),
      arguments: textOf(objectOf(asked)['arguments']),
      signature: textOf(objectOf(objectOf(extra)['google'])['thought_signature']),
    };
  });
}

function checkReasoning(model: string, messages: readonly Json[], memory: Memory): Problem | null {
  for (const [index, message] of turnOf(messages)) {
    const isThought = callsOf(message).some((call) => memory.isThoughtOf(model, call.name, call.arguments));
    if (!isThought || textOf(message['reasoning_content']) !== '') continue;
    return badRequest(
      `thinking is enabled but reasoning_content is missing in assistant tool call message at index ${index}`,
    );
  }
  return null;
}

/** Arguments that are no JSON come back changed, so they are not signed. */
export function callSignature(name: string): string {
  return sealOf(`the call of ${name}`);
}

/** The first call of each answer of the turn is signed; a signature is the call's own. */
function checkCallSignatures(model: string, messages: readonly Json[], memory: Memory): Problem | null {
  for (const [index, message] of turnOf(messages)) {
    const [first] = callsOf(message);
    if (first === undefined) continue;
    const isOurs = memory.isThoughtOf(model, first.name, first.arguments);
    const isRight = first.signature === callSignature(first.name);
    if (isRight || (first.signature === unsigned && !isOurs)) continue;
    return badRequest(
      `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call \`default_api:${first.name}\`, position ${index}.`,
    );
  }
  return null;
}

function checkThoughtSignatures(messages: readonly Json[]): Problem | null {
  for (const [index, message] of messages.entries()) {
    const details = listOf(message['reasoning_details']).map(objectOf);
    if (details.length === 0) continue;
    const text = details.map((detail) => textOf(detail['text'])).join('');
    const signature = details.map((detail) => textOf(detail['signature'])).join('');
    if (signature !== sealOf(text)) {
      return badRequest(`messages.${index}.content.0: Invalid \`signature\` in \`thinking\` block`);
    }
  }
  return null;
}

function checkMistral(body: Json, messages: readonly Json[]): Problem | null {
  if (body['stream_options'] !== undefined) return badRequest('body.stream_options: Extra inputs are not permitted');
  for (const [index, message] of messages.entries()) {
    const before = messages[index - 1]?.['role'];
    if (before === 'tool' && message['role'] === 'user') return badRequest("Unexpected role 'user' after role 'tool'");
    for (const call of listOf(message['tool_calls']).map(objectOf)) {
      if (/^[a-zA-Z0-9]{9}$/.test(textOf(call['id']))) continue;
      return badRequest(
        `Tool call id was ${textOf(call['id'])} but must be a-z, A-Z, 0-9, with a length of 9.`,
        undefined,
        '3280',
      );
    }
  }
  return null;
}
