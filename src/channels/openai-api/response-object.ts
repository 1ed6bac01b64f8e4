/** An answer as OpenAI's `response` object, at any moment of its life. Pure. */
import type { TokenUsage } from '../../protocol/usage.ts';
import type { OpenAiError } from './api-error.ts';
import type { Answering } from './ask-question.ts';
import { messageId, receivedAtSeconds, responseId } from './reply-ids.ts';
import type { ResponsesRequest } from './responses-request.ts';
import type { TurnResult } from './turn-result.ts';

export type ResponseStatus = 'in_progress' | 'completed' | 'incomplete' | 'failed';
type ItemStatus = 'in_progress' | 'completed' | 'incomplete';

/** What of the request shows in the response. */
export type Echoed = Pick<ResponsesRequest, 'instructions' | 'previousResponseId' | 'store' | 'metadata'> & {
  readonly model: string;
};

export type Identity = Pick<Answering, 'inboxId' | 'sessionId'>;

export type ResponseState =
  | { readonly kind: 'going-on' }
  | { readonly kind: 'done'; readonly result: TurnResult }
  | { readonly kind: 'failed'; readonly error: OpenAiError };

export function responseObject(
  { inboxId, sessionId }: Identity,
  echoed: Echoed,
  output: readonly OutputMessage[],
  state: ResponseState,
) {
  const { model, instructions, previousResponseId, store, metadata } = echoed;
  return {
    id: responseId(inboxId, store ? sessionId : null),
    object: 'response',
    created_at: receivedAtSeconds(inboxId),
    status: statusOf(state),
    background: false,
    error: state.kind === 'failed' ? { code: 'server_error', message: state.error.message } : null,
    incomplete_details: state.kind === 'done' ? incompleteOf(state.result) : null,
    instructions,
    max_output_tokens: null,
    model,
    output,
    parallel_tool_calls: true,
    previous_response_id: previousResponseId,
    reasoning: { effort: null, summary: null },
    store,
    temperature: null,
    text: { format: { type: 'text' } },
    tool_choice: 'auto',
    tools: [],
    top_p: null,
    truncation: 'disabled',
    usage: state.kind === 'done' ? usageOf(state.result.usage) : null,
    user: null,
    metadata,
  };
}

function statusOf(state: ResponseState): ResponseStatus {
  if (state.kind === 'going-on') return 'in_progress';
  if (state.kind === 'failed') return 'failed';
  return state.result.finish === 'stop' ? 'completed' : 'incomplete';
}

function incompleteOf({ finish }: TurnResult): { reason: string } | null {
  if (finish === 'stop') return null;
  return { reason: finish === 'length' ? 'max_output_tokens' : 'content_filter' };
}

function usageOf(usage: TokenUsage) {
  return {
    input_tokens: usage.inputTokens,
    input_tokens_details: { cached_tokens: usage.cachedTokens },
    output_tokens: usage.outputTokens,
    output_tokens_details: { reasoning_tokens: usage.reasoningTokens },
    total_tokens: usage.inputTokens + usage.outputTokens,
  };
}

export interface OutputMessage {
  readonly id: string;
  readonly type: 'message';
  readonly status: ItemStatus;
  readonly role: 'assistant';
  readonly content: readonly OutputPart[];
}

export type OutputPart =
  | { readonly type: 'output_text'; readonly text: string; readonly annotations: []; readonly logprobs: [] }
  | { readonly type: 'refusal'; readonly refusal: string };

export const textOutput = (text: string): OutputPart => ({ type: 'output_text', text, annotations: [], logprobs: [] });

export function outputMessage(
  { inboxId }: Identity,
  index: number,
  status: ItemStatus,
  content: readonly OutputPart[],
): OutputMessage {
  return { id: messageId(inboxId, index), type: 'message', status, role: 'assistant', content };
}

/** One item for each message of the assistant, and one for what it declined. */
export function outputOf(identity: Identity, texts: readonly string[], result: TurnResult | null): OutputMessage[] {
  const spoken = texts.map((text, index) => outputMessage(identity, index, 'completed', [textOutput(text)]));
  const refusal = result?.refusal ?? null;
  if (refusal === null) return spoken;
  return [...spoken, outputMessage(identity, texts.length, 'completed', [{ type: 'refusal', refusal }])];
}
