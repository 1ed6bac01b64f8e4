/**
 * An answer as a chat completion, whole or in chunks. Its content is everything that the assistant said in the turn, its
 * messages apart by an empty line, so that both ways give the same text. What happens on the way shows in chunks with an
 * empty delta and a field of our own, `talaria`, which other clients pass over.
 */
import type { SentEvent } from '../../http/server-sent-events.ts';
import { errorObject, OpenAiError } from './api-error.ts';
import type { Answering } from './ask-question.ts';
import { completionId, receivedAtSeconds } from './reply-ids.ts';
import { resultOf, type TurnResult } from './turn-result.ts';
import type { TurnEnd } from './turn-watch.ts';

const betweenMessages = '\n\n';

/** Throws an `OpenAiError` if the turn fails. */
export async function chatCompletion(answering: Answering, model: string, end: TurnEnd) {
  const result = resultOf(end, await answering.facts(end));
  const message = {
    role: 'assistant',
    content: end.texts.join(betweenMessages),
    refusal: result.refusal,
    annotations: [],
  };
  return {
    ...commonOf(answering, model, 'chat.completion'),
    choices: [{ index: 0, message, logprobs: null, finish_reason: result.finish }],
    usage: usageOf(result),
  };
}

export async function* chatChunks(
  answering: Answering,
  { model, includeUsage }: { model: string; includeUsage: boolean },
): AsyncGenerator<SentEvent> {
  const common = commonOf(answering, model, 'chat.completion.chunk');
  // With usage asked for, every chunk has the field, and the last one has the numbers.
  const noUsage = includeUsage ? { usage: null } : {};
  const chunk = (delta: object, finish: string | null = null, extra: object = {}): SentEvent => {
    const choices = [{ index: 0, delta, logprobs: null, finish_reason: finish }];
    return sent({ ...common, choices, ...noUsage, ...extra });
  };
  yield chunk({ role: 'assistant', content: '', refusal: null });
  try {
    let hasEnded = false;
    for await (const step of answering.steps) {
      switch (step.kind) {
        case 'text':
          yield chunk({ content: hasEnded ? betweenMessages + step.text : step.text });
          hasEnded = false;
          break;
        case 'message-ended':
          hasEnded = true;
          break;
        case 'progress':
          yield chunk({}, null, { talaria: step.progress });
          break;
        case 'ended': {
          const result = resultOf(step.end, await answering.facts(step.end));
          yield chunk(result.refusal === null ? {} : { refusal: result.refusal }, result.finish);
          if (includeUsage) yield sent({ ...common, choices: [], usage: usageOf(result) });
          yield { data: '[DONE]' };
        }
      }
    }
  } catch (error) {
    if (!(error instanceof OpenAiError)) throw error;
    yield sent(errorObject(error));
    yield { data: '[DONE]' };
  }
}

function commonOf({ inboxId }: Answering, model: string, object: 'chat.completion' | 'chat.completion.chunk') {
  return { id: completionId(inboxId), object, created: receivedAtSeconds(inboxId), model };
}

function usageOf({ usage }: TurnResult) {
  return {
    prompt_tokens: usage.inputTokens,
    completion_tokens: usage.outputTokens,
    total_tokens: usage.inputTokens + usage.outputTokens,
    prompt_tokens_details: { cached_tokens: usage.cachedTokens },
    completion_tokens_details: { reasoning_tokens: usage.reasoningTokens },
  };
}

function sent(value: unknown): SentEvent {
  return { data: JSON.stringify(value) };
}
