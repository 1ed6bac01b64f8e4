/** An answer as OpenAI's chat completion chunks, and as one chat completion. */
import { frame, piecesOf, type Answer, type Frame } from '../dialect.ts';
import { stopOf, type Stop, type TokenFigures } from '../dialogue.ts';
import { objectOf, type Json } from '../json.ts';
import { sealOf } from '../seal.ts';
import { callIdsOf, pieceCharsOf } from './answer-parts.ts';
import { callSignature, signsCalls, signsThoughts } from './chat-completions-vendors.ts';

const finishReasons: Record<Stop, string> = {
  answer: 'stop',
  'tool-calls': 'tool_calls',
  length: 'length',
  refused: 'content_filter',
};

export function chatCompletionFrames(answer: Answer): Frame[] {
  const { reply, body, tokens } = answer;
  const frames = [
    chunk('start', answer, { role: 'assistant', content: (reply.calls ?? []).length > 0 ? null : '', refusal: null }),
    ...reasoningDeltas(answer).map((delta) => chunk('content', answer, delta)),
    ...piecesOf(reply.text ?? '', pieceCharsOf(reply)).map((content) => chunk('content', answer, { content })),
    ...callFrames(answer),
    chunk('stop', answer, {}, finishReasons[stopOf(reply)]),
  ];
  if (objectOf(body['stream_options'])['include_usage'] === true || objectOf(body['usage'])['include'] === true) {
    frames.push(frame('usage', { ...envelope(answer), choices: [], usage: chatUsage(tokens) }));
  }
  return [...frames, { name: '', data: '[DONE]', place: 'done' }];
}

export function chatTextFrame(text: string, answer: Answer): Frame {
  return chunk('content', answer, { content: text });
}

function callFrames(answer: Answer): Frame[] {
  const ids = callIdsOf(answer, 'call');
  return (answer.reply.calls ?? []).flatMap((call, index) => {
    const isSigned = signsCalls.test(answer.model) && index === 0;
    const signature = { google: { thought_signature: callSignature(call.name) } };
    const first = {
      index,
      id: ids[index],
      type: 'function',
      function: { name: call.name, arguments: '' },
      ...(isSigned ? { extra_content: signature } : {}),
    };
    const pieces = piecesOf(call.arguments, pieceCharsOf(answer.reply));
    return [
      chunk(pieces.length === 0 ? 'call-end' : 'content', answer, { tool_calls: [first] }),
      ...pieces.map((piece, place) =>
        chunk(place === pieces.length - 1 ? 'call-end' : 'content', answer, {
          tool_calls: [{ index, function: { arguments: piece } }],
        }),
      ),
    ];
  });
}

/** Aggregators call it `reasoning` and give details; the others have taken over one provider's name. */
function reasoningDeltas({ reply, model }: Answer): Json[] {
  const text = reply.reasoning ?? '';
  const pieces = piecesOf(text, pieceCharsOf(reply));
  if (!model.includes('/')) return pieces.map((piece) => ({ reasoning_content: piece }));
  const isSigned = signsThoughts.test(model);
  const common = { type: 'reasoning.text', format: isSigned ? 'anthropic-claude-v1' : 'unknown', index: 0 };
  const deltas = pieces.map((piece) => ({ reasoning: piece, reasoning_details: [{ ...common, text: piece }] }));
  if (!isSigned || text === '') return deltas;
  return [...deltas, { reasoning_details: [{ ...common, signature: sealOf(text) }] }];
}

function chunk(place: Frame['place'], answer: Answer, delta: Json, finish: string | null = null): Frame {
  return frame(place, {
    ...envelope(answer),
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
    usage: null,
  });
}

function envelope({ id, model, createdS }: Answer): Json {
  return {
    id: `chatcmpl-${id}`,
    object: 'chat.completion.chunk',
    created: createdS,
    model,
    service_tier: 'default',
    system_fingerprint: 'fp_560af6e559',
  };
}

function chatUsage({ input, cached, written5m, written1h, output, reasoning }: TokenFigures): Json {
  const written = written5m + written1h;
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: {
      cached_tokens: cached,
      audio_tokens: 0,
      ...(written > 0 ? { cache_write_tokens: written } : {}),
    },
    completion_tokens_details: {
      reasoning_tokens: reasoning,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}

export function wholeChatCompletion(answer: Answer): Json {
  const { reply } = answer;
  const ids = callIdsOf(answer, 'call');
  const calls = (reply.calls ?? []).map(({ name, arguments: text }, index) => ({
    id: ids[index],
    type: 'function',
    function: { name, arguments: text },
  }));
  const message = {
    role: 'assistant',
    content: reply.text ?? null,
    ...(reply.reasoning === undefined ? {} : { reasoning_content: reply.reasoning }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
    refusal: null,
    annotations: [],
  };
  return {
    ...envelope(answer),
    object: 'chat.completion',
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishReasons[stopOf(reply)] }],
    usage: chatUsage(answer.tokens),
  };
}
