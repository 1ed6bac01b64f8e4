/**
 * What OpenAI's responses API refuses, written down as far as it is documented or known from its errors. Reads a body as
 * it is sent; the names of broken rules come back, none for a good one.
 */
type Fields = Readonly<Record<string, unknown>>;

const idPattern = /^[a-zA-Z0-9_-]{1,64}$/;

export function responsesProblems(bodyText: string): string[] {
  const body = JSON.parse(bodyText) as Fields;
  const input = body['input'] as Fields[];
  return [
    ...(body['stream'] === true && body['store'] === false ? [] : ['stream or store']),
    ...((body['prompt_cache_key'] as string | undefined)?.match(/^.{65,}$/s) ? ['cache key too long'] : []),
    ...((body['instructions'] as string | undefined)?.trim() === '' ? ['blank instructions'] : []),
    ...(input.length > 0 ? [] : ['empty input']),
    ...((body['tools'] ?? []) as Fields[]).flatMap(toolProblems),
    ...input.flatMap((item, index) => itemProblems(item, input[index + 1])),
    ...pairProblems(input),
    ...(isWellFormed(body) ? [] : ['half a surrogate pair']),
  ];
}

function toolProblems({ type, name, parameters, strict }: Fields): string[] {
  const isGood = type === 'function' && idPattern.test(String(name)) && strict === false;
  return isGood && (parameters as Fields)['type'] === 'object' ? [] : ['tool'];
}

function itemProblems(item: Fields, next: Fields | undefined): string[] {
  switch (item['type']) {
    case 'message':
      return contentProblems(item);
    case 'function_call':
      return [
        ...(idPattern.test(String(item['call_id'])) && idPattern.test(String(item['name'])) ? [] : ['call id or name']),
        ...(isObjectText(item['arguments']) ? [] : ['arguments are no object']),
      ];
    case 'function_call_output':
      if (typeof item['output'] === 'string') return [];
      return contentProblems({ role: 'user', content: item['output'] });
    case 'reasoning': {
      const leads =
        next?.['type'] === 'reasoning' || next?.['type'] === 'function_call' || next?.['role'] === 'assistant';
      return [
        ...(leads ? [] : ['thought that leads nowhere']),
        ...(item['encrypted_content'] ? [] : ['unsealed thought']),
      ];
    }
    default:
      return [`item ${String(item['type'])}`];
  }
}

function contentProblems({ role, content }: Fields): string[] {
  const types = role === 'user' ? ['input_text', 'input_image'] : ['output_text'];
  const parts = content as Fields[];
  return [
    ...(parts.length > 0 ? [] : ['empty content']),
    ...(parts.every(({ type }) => types.includes(String(type))) ? [] : [`content of ${String(role)}`]),
    ...(parts.every(({ type, text }) => type === 'input_image' || String(text).trim() !== '') ? [] : ['blank text']),
  ];
}

function pairProblems(input: readonly Fields[]): string[] {
  const open = new Set<unknown>();
  const seen = new Set<unknown>();
  const problems: string[] = [];
  for (const { type, call_id: id, role } of input) {
    if (type === 'function_call') {
      if (seen.has(id)) problems.push('call id twice');
      seen.add(id);
      open.add(id);
    } else if (type === 'function_call_output') {
      if (!open.delete(id)) problems.push('result without call');
    } else if (type === 'message' && open.size > 0 && role === 'user') problems.push('call without result');
  }
  return open.size > 0 ? [...problems, 'call without result'] : problems;
}

function isObjectText(text: unknown): boolean {
  const value: unknown = JSON.parse(String(text));
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isWellFormed(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([key, inner]) => key.isWellFormed() && isWellFormed(inner));
}
