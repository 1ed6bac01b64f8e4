/** An answer as the events of OpenAI's responses, and as one response. */
import { frame, piecesOf, type Answer, type Frame } from '../dialect.ts';
import { stopOf, type TokenFigures } from '../dialogue.ts';
import { listOf, type Json } from '../json.ts';
import { encrypt } from '../seal.ts';
import { callIdsOf, pieceCharsOf } from './answer-parts.ts';

type Place = Frame['place'];
/** An event before it has its number. */
type Event = readonly [place: Place, type: string, fields: Json];

export function responseFrames(answer: Answer): Frame[] {
  const items = itemsOf(answer);
  const end = responseOf(answer, items);
  const events: Event[] = [
    ['start', 'response.created', { response: startOf(answer) }],
    ['start', 'response.in_progress', { response: startOf(answer) }],
    ...items.flatMap((item, index) => itemEvents(answer, item, index)),
    ['done', end['status'] === 'completed' ? 'response.completed' : 'response.incomplete', { response: end }],
  ];
  return events.map(([place, type, fields], number) =>
    frame(place, { type, sequence_number: number, ...fields }, type),
  );
}

export function responseTextFrame(text: string, answer: Answer): Frame {
  const index = itemsOf(answer).findIndex((item) => item['type'] === 'message');
  const type = 'response.output_text.delta';
  const fields = {
    item_id: `msg_${answer.id}`,
    output_index: Math.max(0, index),
    content_index: 0,
    delta: text,
    logprobs: [],
  };
  return frame('content', { type, sequence_number: 900, ...fields }, type);
}

export function wholeResponse(answer: Answer): Json {
  return responseOf(answer, itemsOf(answer));
}

function itemsOf(answer: Answer): Json[] {
  const { reply, id, body } = answer;
  const items: Json[] = [];
  const reasoningId = `rs_${id}`;
  if (reply.reasoning !== undefined) {
    const wantsBlock = listOf(body['include']).includes('reasoning.encrypted_content');
    items.push({
      id: reasoningId,
      type: 'reasoning',
      summary: reply.reasoning === '' ? [] : [{ type: 'summary_text', text: reply.reasoning }],
      ...(wantsBlock ? { encrypted_content: encrypt(reply.reasoning) } : {}),
    });
  }
  if ((reply.text ?? '') !== '') items.push(messageOf(answer));
  for (const [index, callId] of callIdsOf(answer, 'call').entries()) {
    const call = reply.calls?.[index];
    items.push({
      id: `fc_${id}_${index}${reply.reasoning === undefined ? '' : `_${reasoningId}`}`,
      type: 'function_call',
      status: 'completed',
      arguments: call?.arguments ?? '',
      call_id: callId,
      name: call?.name ?? '',
    });
  }
  return items;
}

function messageOf({ id, reply }: Answer): Json {
  const part =
    stopOf(reply) === 'refused'
      ? { type: 'refusal', refusal: reply.text }
      : { type: 'output_text', annotations: [], logprobs: [], text: reply.text };
  const status = stopOf(reply) === 'length' ? 'incomplete' : 'completed';
  return { id: `msg_${id}`, type: 'message', status, content: [part], role: 'assistant' };
}

function itemEvents(answer: Answer, item: Json, index: number): Event[] {
  const place: Place = item['type'] === 'function_call' ? 'call-end' : 'content';
  return [
    ['content', 'response.output_item.added', { output_index: index, item: emptied(item) }],
    ...innerEvents(answer, item, index),
    [place, 'response.output_item.done', { output_index: index, item }],
  ];
}

function emptied(item: Json): Json {
  switch (item['type']) {
    case 'reasoning':
      return { ...item, summary: [] };
    case 'message':
      return { ...item, status: 'in_progress', content: [] };
    default:
      return { ...item, status: 'in_progress', arguments: '' };
  }
}

function innerEvents(answer: Answer, item: Json, index: number): Event[] {
  const { reply } = answer;
  const at = { item_id: item['id'], output_index: index };
  const deltas = (type: string, text: string, more: Json): Event[] =>
    piecesOf(text, pieceCharsOf(reply)).map((delta) => ['content', type, { ...at, ...more, delta }]);
  switch (item['type']) {
    case 'reasoning': {
      const text = reply.reasoning ?? '';
      if (text === '') return [];
      const where = { ...at, summary_index: 0 };
      return [
        ['content', 'response.reasoning_summary_part.added', { ...where, part: { type: 'summary_text', text: '' } }],
        ...deltas('response.reasoning_summary_text.delta', text, { summary_index: 0 }),
        ['content', 'response.reasoning_summary_text.done', { ...where, text }],
        ['content', 'response.reasoning_summary_part.done', { ...where, part: { type: 'summary_text', text } }],
      ];
    }
    case 'message': {
      const text = reply.text ?? '';
      const part = listOf(item['content'])[0] as Json;
      const where = { ...at, content_index: 0 };
      const isRefusal = part['type'] === 'refusal';
      const kind = isRefusal ? 'response.refusal' : 'response.output_text';
      const empty = isRefusal ? { ...part, refusal: '' } : { ...part, text: '' };
      return [
        ['content', 'response.content_part.added', { ...where, part: empty }],
        ...deltas(`${kind}.delta`, text, { content_index: 0, ...(isRefusal ? {} : { logprobs: [] }) }),
        ['content', `${kind}.done`, { ...where, ...(isRefusal ? { refusal: text } : { text, logprobs: [] }) }],
        ['content', 'response.content_part.done', { ...where, part }],
      ];
    }
    default: {
      const text = String(item['arguments']);
      return [
        ...deltas('response.function_call_arguments.delta', text, {}),
        ['content', 'response.function_call_arguments.done', { ...at, name: item['name'], arguments: text }],
      ];
    }
  }
}

function startOf(answer: Answer): Json {
  const { id, model, createdS, body } = answer;
  return {
    id: `resp_${id}`,
    object: 'response',
    created_at: createdS,
    status: 'in_progress',
    error: null,
    incomplete_details: null,
    instructions: null,
    max_output_tokens: body['max_output_tokens'] ?? null,
    model,
    output: [],
    parallel_tool_calls: true,
    previous_response_id: null,
    prompt_cache_key: body['prompt_cache_key'] ?? null,
    reasoning: body['reasoning'] ?? { effort: null, summary: null },
    store: body['store'] ?? true,
    temperature: 1,
    text: { format: { type: 'text' } },
    tool_choice: 'auto',
    tools: [],
    top_p: 1,
    truncation: 'disabled',
    usage: null,
    user: null,
    metadata: {},
  };
}

function responseOf(answer: Answer, items: readonly Json[]): Json {
  const stop = stopOf(answer.reply);
  // A refusal with words is an answer of its own kind; one without them is a filter that cut it off.
  const cutBy =
    stop === 'length'
      ? 'max_output_tokens'
      : stop === 'refused' && (answer.reply.text ?? '') === ''
        ? 'content_filter'
        : null;
  return {
    ...startOf(answer),
    status: cutBy === null ? 'completed' : 'incomplete',
    incomplete_details: cutBy === null ? null : { reason: cutBy },
    output: items,
    usage: usageOf(answer.tokens),
  };
}

function usageOf({ input, cached, output, reasoning }: TokenFigures): Json {
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + output,
  };
}
