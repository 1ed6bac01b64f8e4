/** What the end of a turn means to a client: an answer with a reason why it stops there, or a failure. Pure. */
import type { TokenUsage } from '../../protocol/usage.ts';
import { OpenAiError } from './api-error.ts';
import type { TurnFacts } from './port.ts';
import type { TurnEnd } from './turn-watch.ts';

export type FinishReason = 'stop' | 'length' | 'content_filter';

export interface TurnResult {
  readonly finish: FinishReason;
  /** Why the model declined, in words; null if it did not. */
  readonly refusal: string | null;
  readonly usage: TokenUsage;
}

/** Throws an `OpenAiError` for a turn that came to nothing. */
export function resultOf(end: TurnEnd, { usage }: TurnFacts): TurnResult {
  const { stop } = end;
  if (stop === 'refused') return { finish: 'content_filter', refusal: end.notice ?? 'The model declined.', usage };
  switch (end.outcome) {
    case 'answered':
      return { finish: stop === 'length' ? 'length' : 'stop', refusal: null, usage };
    case 'stopped':
      if (end.texts.length > 0) return { finish: 'stop', refusal: null, usage };
      throw new OpenAiError('The turn was stopped before anything was said.', {
        status: 409,
        type: 'invalid_request_error',
        code: 'turn_stopped',
      });
    case 'failed':
      throw new OpenAiError(end.notice ?? 'The turn failed.', {
        status: 502,
        type: 'server_error',
        code: 'turn_failed',
      });
    case 'parked':
      throw new OpenAiError(end.notice ?? 'The turn is parked.', {
        status: 500,
        type: 'server_error',
        code: 'turn_parked',
      });
  }
}
