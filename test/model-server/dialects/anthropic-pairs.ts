/** Anthropic: a message with calls is followed by one that begins with their results, each once, in any order. */
import { listOf, objectOf, textOf, type Json } from '../json.ts';
import { badRequest, type Problem } from '../problem.ts';

export function checkPairs(messages: readonly Json[]): Problem | null {
  const seen = new Set<string>();
  for (const [index, message] of messages.entries()) {
    const calls = idsOf(message, 'tool_use', 'id');
    for (const id of calls) {
      if (seen.has(id)) return badRequest(`messages.${index}: \`tool_use\` ids must be unique`);
      seen.add(id);
    }
    const problem =
      checkResults(messages[index - 1], message, index) ?? checkAnswered(calls, messages[index + 1], index);
    if (problem !== null) return problem;
  }
  return null;
}

function checkAnswered(calls: readonly string[], next: Json | undefined, index: number): Problem | null {
  const blocks = listOf(next?.['content']).map(objectOf);
  const firstOther = blocks.findIndex((block) => block['type'] !== 'tool_result');
  const leading = firstOther === -1 ? blocks : blocks.slice(0, firstOther);
  const answered = new Set(leading.map((block) => textOf(block['tool_use_id'])));
  const open = calls.filter((id) => !answered.has(id));
  if (open.length === 0) return null;
  return badRequest(
    `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${open.join(', ')}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`,
  );
}

function checkResults(before: Json | undefined, message: Json, index: number): Problem | null {
  const asked = new Set(before === undefined ? [] : idsOf(before, 'tool_use', 'id'));
  const answered = new Set<string>();
  for (const [place, block] of listOf(message['content']).map(objectOf).entries()) {
    if (block['type'] !== 'tool_result') continue;
    const id = textOf(block['tool_use_id']);
    if (!asked.has(id)) {
      return badRequest(
        `messages.${index}.content.${place}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`,
      );
    }
    if (answered.has(id)) {
      return badRequest(
        `messages.${index}.content.${place}: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${id}`,
      );
    }
    answered.add(id);
  }
  return null;
}

function idsOf(message: Json, type: string, field: string): string[] {
  return listOf(message['content'])
    .map(objectOf)
    .filter((block) => block['type'] === type)
    .map((block) => textOf(block[field]));
}
