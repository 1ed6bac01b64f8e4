/**
 * The contract of a model: one request, one stream, exactly one end. A stream never throws and never ends silently;
 * its last event is `end` or `failed`, also after an abort (`failed`, reason `cancelled`). A model does not retry,
 * does not fall back and reads nothing but the request.
 */
import type { Message, ToolDefinition } from '../protocol/messages.ts';
import type { Usage } from '../protocol/usage.ts';

export interface ModelRequest {
  readonly systemPrompt: string;
  readonly tools: readonly ToolDefinition[];
  readonly messages: readonly Message[];
}

export type ModelEvent =
  | { readonly kind: 'text-delta'; readonly text: string }
  | { readonly kind: 'reasoning-delta'; readonly text: string }
  /** A reasoning block is complete; `opaque` is what the provider wants back with it. */
  | { readonly kind: 'reasoning-end'; readonly opaque?: string }
  /** A whole call; arguments are the model's own text. */
  | { readonly kind: 'tool-call'; readonly providerCallId: string; readonly name: string; readonly arguments: string }
  | { readonly kind: 'end'; readonly stop: StopReason; readonly usage: Usage }
  | { readonly kind: 'failed'; readonly error: ModelError };

export type StopReason = 'answer' | 'tool-calls' | 'length' | 'refused';

export type ModelErrorReason =
  | 'auth'
  | 'billing'
  | 'rate-limit'
  | 'overloaded'
  | 'server'
  | 'timeout'
  | 'connection'
  | 'context-overflow'
  | 'payload-too-large'
  | 'model-not-found'
  | 'content-refused'
  | 'bad-request'
  | 'malformed-stream'
  | 'cancelled'
  | 'unknown';

export class ModelError extends Error {
  override readonly name = 'ModelError';
  readonly reason: ModelErrorReason;
  readonly retryable: boolean;

  /** `message` is for the user. */
  constructor(reason: ModelErrorReason, message: string, retryable: boolean) {
    super(message);
    this.reason = reason;
    this.retryable = retryable;
  }
}

export interface Model {
  readonly provider: string;
  readonly name: string;
  /** Aborting ends the stream soon, with `failed` and reason `cancelled`. */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>;
}
