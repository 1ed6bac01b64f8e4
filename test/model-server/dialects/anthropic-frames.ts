/** An answer as the events of Anthropic's messages, and as one message. */
import { frame, piecesOf, type Answer, type Frame } from '../dialect.ts';
import { stopOf, type Stop, type TokenFigures } from '../dialogue.ts';
import { objectOf, parsedOr, type Json } from '../json.ts';
import { sealOf } from '../seal.ts';
import { callIdsOf, pieceCharsOf } from './answer-parts.ts';

const stopReasons: Record<Stop, string> = {
  answer: 'end_turn',
  'tool-calls': 'tool_use',
  length: 'max_tokens',
  refused: 'refusal',
};

export function messageFrames(answer: Answer): Frame[] {
  const { reply, tokens } = answer;
  const stop = { stop_reason: stopReasons[stopOf(reply)], stop_sequence: null };
  const start = messageOf(answer, [], { ...usageOf(tokens), output_tokens: 1 });
  return [
    event('start', 'message_start', { message: { ...start, stop_reason: null } }),
    event('start', 'ping', {}),
    ...blocksOf(answer).flatMap(({ empty, deltas, isCall }, index) => [
      event('content', 'content_block_start', { index, content_block: empty }),
      ...deltas.map((delta) => event('content', 'content_block_delta', { index, delta })),
      event(isCall ? 'call-end' : 'content', 'content_block_stop', { index }),
    ]),
    event('stop', 'message_delta', { delta: stop, usage: usageOf(tokens) }),
    event('done', 'message_stop', {}),
  ];
}

export function messageTextFrame(text: string, answer: Answer): Frame {
  const index = (answer.reply.reasoning ?? '') === '' ? 0 : 1;
  return event('content', 'content_block_delta', { index, delta: { type: 'text_delta', text } });
}

export function event(place: Frame['place'], type: string, fields: Json): Frame {
  return frame(place, { type, ...fields }, type);
}

interface Block {
  readonly empty: Json;
  readonly deltas: readonly Json[];
  readonly whole: Json;
  readonly isCall: boolean;
}

function blocksOf(answer: Answer): Block[] {
  const { reply } = answer;
  const pieces = (text: string) => piecesOf(text, pieceCharsOf(reply));
  const blocks: Block[] = [];
  if (reply.reasoning !== undefined) {
    const signature = sealOf(reply.reasoning);
    const thoughts = pieces(reply.reasoning).map((thinking) => ({ type: 'thinking_delta', thinking }));
    blocks.push({
      empty: { type: 'thinking', thinking: '', signature: '' },
      deltas: [...thoughts, { type: 'signature_delta', signature }],
      whole: { type: 'thinking', thinking: reply.reasoning, signature },
      isCall: false,
    });
  }
  if ((reply.text ?? '') !== '') {
    blocks.push({
      empty: { type: 'text', text: '' },
      deltas: pieces(reply.text ?? '').map((text) => ({ type: 'text_delta', text })),
      whole: { type: 'text', text: reply.text },
      isCall: false,
    });
  }
  for (const [index, id] of callIdsOf(answer, 'toolu').entries()) {
    const { name = '', arguments: text = '' } = reply.calls?.[index] ?? {};
    blocks.push({
      empty: { type: 'tool_use', id, name, input: {} },
      deltas: ['', ...pieces(text)].map((piece) => ({ type: 'input_json_delta', partial_json: piece })),
      whole: { type: 'tool_use', id, name, input: objectOf(parsedOr(text, {})) },
      isCall: true,
    });
  }
  return blocks;
}

export function wholeMessage(answer: Answer): Json {
  const content = blocksOf(answer).map(({ whole }) => whole);
  return messageOf(answer, content, usageOf(answer.tokens));
}

function messageOf({ id, model, reply }: Answer, content: readonly Json[], usage: Json): Json {
  return {
    id: `msg_${id}`,
    type: 'message',
    role: 'assistant',
    model,
    content,
    stop_reason: stopReasons[stopOf(reply)],
    stop_sequence: null,
    usage,
  };
}

/** What was read from the cache or written to it is not counted among the input. */
function usageOf({ input, cached, written5m, written1h, output }: TokenFigures): Json {
  return {
    input_tokens: input - cached - written5m - written1h,
    cache_creation_input_tokens: written5m + written1h,
    cache_read_input_tokens: cached,
    cache_creation: { ephemeral_5m_input_tokens: written5m, ephemeral_1h_input_tokens: written1h },
    output_tokens: output,
    service_tier: 'standard',
  };
}
