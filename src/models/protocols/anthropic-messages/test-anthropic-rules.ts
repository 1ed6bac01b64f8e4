/**
 * What Anthropic's API refuses, written down as far as it is documented or known from its errors. Reads a body as it is
 * sent; the names of broken rules come back, none for a good one.
 */
type Fields = Readonly<Record<string, unknown>>;
type Block = Fields & { readonly type: string };

interface WireMessage {
  readonly role: string;
  readonly content: readonly Block[];
}

const idPattern = /^[a-zA-Z0-9_-]{1,64}$/;
const thoughtTypes = ['thinking', 'redacted_thinking'];
const typesOfRole: Readonly<Record<string, readonly string[]>> = {
  user: ['text', 'image', 'tool_result'],
  assistant: ['text', 'tool_use', ...thoughtTypes],
};

export function anthropicProblems(bodyText: string): string[] {
  const body = JSON.parse(bodyText) as Fields;
  const messages = body['messages'] as WireMessage[];
  const tools = (body['tools'] ?? []) as Fields[];
  return [
    ...limitProblems(body),
    ...toolProblems(tools),
    ...roleProblems(messages),
    ...messages.flatMap(contentProblems),
    ...callProblems(messages, tools),
    ...markProblems(body, messages),
    ...thinkingProblems(body, messages),
    ...(isWellFormed(body) ? [] : ['half a surrogate pair']),
  ];
}

function limitProblems(body: Fields): string[] {
  const { max_tokens: max, stream, system = [{ text: 'x' }], tools = [{}] } = body;
  return [
    ...(typeof max === 'number' && max > 0 ? [] : ['max_tokens']),
    ...(stream === true ? [] : ['not streaming']),
    ...((system as Fields[]).every(({ text }) => String(text).trim() !== '') ? [] : ['blank system prompt']),
    ...((system as Fields[]).length > 0 && (tools as Fields[]).length > 0 ? [] : ['empty system or tools']),
  ];
}

function toolProblems(tools: readonly Fields[]): string[] {
  return tools.flatMap(({ name, input_schema: schema }) => [
    ...(idPattern.test(String(name)) ? [] : [`tool name ${String(name)}`]),
    ...((schema as Fields)['type'] === 'object' ? [] : ['input_schema is no object']),
  ]);
}

function roleProblems(messages: readonly WireMessage[]): string[] {
  return [
    ...(messages[0]?.role === 'user' ? [] : ['does not begin with user']),
    ...(messages.at(-1)?.role === 'user' ? [] : ['does not end with user']),
    ...(messages.every(({ role }, index) => role !== messages[index + 1]?.role) ? [] : ['roles do not alternate']),
  ];
}

function contentProblems({ role, content }: WireMessage): string[] {
  const last = content.at(-1);
  return [
    ...(last === undefined ? ['empty content'] : []),
    ...(last !== undefined && thoughtTypes.includes(last.type) ? ['ends with a thought'] : []),
    ...content.flatMap((block) => [
      ...(typesOfRole[role]?.includes(block.type) === true ? [] : [`${block.type} in ${role}`]),
      ...(block.type === 'text' && String(block['text']).trim() === '' ? ['blank text'] : []),
      ...(block.type === 'tool_result' ? resultProblems(block) : []),
      ...(block.type === 'thinking' && typeof block['signature'] !== 'string' ? ['thought without signature'] : []),
    ]),
  ];
}

function resultProblems({ content, is_error: isError }: Block): string[] {
  if (typeof content === 'string') return content.trim() === '' ? ['blank result'] : [];
  const parts = content as Block[];
  return [
    ...(parts.every(({ type }) => type === 'text' || type === 'image') ? [] : ['content of a result']),
    ...(parts.every(({ type, text }) => type !== 'text' || String(text).trim() !== '') ? [] : ['blank result']),
    ...(isError === true && parts.some(({ type }) => type !== 'text') ? ['failed result with more than text'] : []),
  ];
}

function callProblems(messages: readonly WireMessage[], tools: readonly Fields[]): string[] {
  const seen = new Set<unknown>();
  return messages.flatMap(({ content }, index) => {
    const calls = content.filter(({ type }) => type === 'tool_use');
    const results = content.filter(({ type }) => type === 'tool_result');
    const before = messages[index - 1]?.content.filter(({ type }) => type === 'tool_use') ?? [];
    const answered = new Set(results.map((block) => block['tool_use_id']));
    const problems = calls.flatMap(({ id, name, input }) => [
      ...(seen.has(id) ? ['call id twice'] : []),
      ...(idPattern.test(String(id)) && idPattern.test(String(name)) ? [] : ['call id or name']),
      ...(typeof input === 'object' && input !== null && !Array.isArray(input) ? [] : ['input is no object']),
      ...(tools.length > 0 ? [] : ['call without tools']),
    ]);
    for (const { id } of calls) seen.add(id);
    return [
      ...problems,
      ...(before.every(({ id }) => answered.has(id)) ? [] : ['call without result']),
      ...(results.length === before.length && answered.size === results.length ? [] : ['result without call']),
      ...(content.slice(0, results.length).every(({ type }) => results.length === 0 || type === 'tool_result')
        ? []
        : ['results not first']),
    ];
  });
}

function markProblems(body: Fields, messages: readonly WireMessage[]): string[] {
  const all = [body['tools'] ?? [], body['system'] ?? [], ...messages.map(({ content }) => content)] as Block[][];
  const marked = all.flat().filter((block) => block['cache_control'] !== undefined);
  return [
    ...(marked.length <= 4 ? [] : ['more than four marks']),
    ...(marked.some(({ type }) => thoughtTypes.includes(type)) ? ['mark on a thought'] : []),
  ];
}

function thinkingProblems(body: Fields, messages: readonly WireMessage[]): string[] {
  const { type, budget_tokens: budget } = (body['thinking'] ?? {}) as Fields;
  if (type !== 'enabled') return [];
  const isAsking = ({ role, content }: WireMessage) =>
    role === 'user' && content.some((block) => block.type !== 'tool_result');
  const turn = messages.slice(messages.findLastIndex(isAsking) + 1);
  const first = turn.find(({ role }) => role === 'assistant')?.content[0];
  return [
    ...(Number(budget) >= 1_024 && Number(budget) < Number(body['max_tokens']) ? [] : ['budget']),
    ...(first === undefined || thoughtTypes.includes(first.type) ? [] : ['turn does not begin with a thought']),
  ];
}

function isWellFormed(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([key, inner]) => key.isWellFormed() && isWellFormed(inner));
}
