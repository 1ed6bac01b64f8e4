/**
 * The contract of a model. A runtime is the immutable value that says everything about how one model is called; a model
 * is the client that belongs to one runtime. One request, one stream, exactly one end: a stream never throws and never
 * ends silently; its last event is `end` or `failed`, also after an abort (`failed`, reason `cancelled`). A model does
 * not retry, does not change keys, does not fall back and reads nothing but the request.
 */
import type { Message, ToolDefinition } from '../protocol/messages.ts';
import type { Effort, TokenUsage } from '../protocol/usage.ts';

// --- runtimes ------------------------------------------------------------------------------------------------------

/** The dialect that an API speaks; `offline` is inside the program. */
export type ApiMode = 'offline' | 'chat_completions' | 'responses' | 'anthropic_messages';

export interface ApiKey {
  /** A fingerprint of the whole secret: tells keys apart, can't be turned back. Empty for no key. */
  readonly id: string;
  readonly secret: string;
  /** Anthropic messages only: whether it is an OAuth token, which is sent in another header. */
  readonly oauth?: boolean;
}

/** Dollars for a million tokens. */
export interface Price {
  readonly input: number;
  readonly cachedInput: number;
  /** Where writing to the cache is charged apart. */
  readonly cacheWrite: number;
  readonly cacheWriteLong: number;
  readonly output: number;
  /** What a call costs, all of it, whose prompt is longer than this. */
  readonly above?: { readonly inputTokens: number; readonly price: Price };
}

/** Everything a call of a model needs. Immutable and complete: falling back and coming back is choosing a value. */
export interface Runtime {
  readonly provider: string;
  readonly model: string;
  readonly baseUrl: string;
  readonly apiMode: ApiMode;
  /** At least one; where no key is needed, one with an empty secret. */
  readonly keys: readonly [ApiKey, ...ApiKey[]];
  /** Tokens that the model can read and write in one call. */
  readonly contextLength: number;
  /** The longest answer that is asked for. */
  readonly outputTokensMax: number;
  /** `breakpoints`: parts of the prompt are marked for the provider's cache; `automatic`: it finds them itself. */
  readonly caching: 'none' | 'automatic' | 'breakpoints';
  /** `aggregator`: it tries again by itself behind the scenes. `local`: on this machine or network. */
  readonly reach: 'direct' | 'aggregator' | 'local';
  /** A stream without a byte for so long has stalled. */
  readonly stallMs: number;
  /** Null: unknown. */
  readonly price: Price | null;
  readonly seesImages: boolean;
  readonly reasons: boolean;
  /** Ways in which the API differs from its dialect; known to the protocols only. */
  readonly quirks: readonly string[];
  /** Who shortens conversations that this runtime leads, and from how many tokens on; null if nobody does. */
  readonly compressor: {
    readonly provider: string;
    readonly model: string;
    readonly contextLength: number;
    readonly thresholdTokens: number;
  } | null;
}

/** Tells runtimes apart whose prompts are not the same bytes or not in the same cache. No secret in it. */
export function runtimeId(runtime: Runtime): string {
  return `${runtime.provider}/${runtime.model} ${runtime.apiMode} ${runtime.baseUrl}`;
}

/** Who thought it, as reasoning is marked with. */
export function reasoningOrigin(runtime: Runtime): string {
  return `${runtime.provider}/${runtime.model}`;
}

// --- requests ------------------------------------------------------------------------------------------------------

export interface ModelRequest {
  readonly systemPrompt: string;
  readonly tools: readonly ToolDefinition[];
  readonly messages: readonly Message[];
  readonly effort: Effort | null;
  /** The same for all requests that begin alike: the session. */
  readonly cacheKey: string;
  /** How long the prompt is likely to be wanted again: `long` where people answer after minutes or hours. */
  readonly cachePace: 'short' | 'long';
  /** The bytes of images in the messages, by their hash; one that is missing is named to the model instead. */
  readonly contents: ReadonlyMap<string, Uint8Array>;
}

/** A request as it will be sent. The same request gives the same bytes, in every process. */
export interface PreparedRequest {
  readonly request: ModelRequest;
  /**
   * The units that a provider's cache works by, in the order it reads them: tools, system prompt, what else counts, then
   * one per message. Without marks that are no part of the prompt.
   */
  readonly units: readonly string[];
  /** Which unit says how to think, if one does: it may change because the model left its thought out, not by choice. */
  readonly settingUnit?: number;
  /** What is sent. Empty for a model without a wire. */
  readonly body: string;
}

// --- streams -------------------------------------------------------------------------------------------------------

export type ModelEvent =
  | { readonly kind: 'text-delta'; readonly text: string }
  | { readonly kind: 'reasoning-delta'; readonly text: string }
  /** A reasoning block is complete, possibly without words; `opaque` is what the provider wants back with it. */
  | { readonly kind: 'reasoning-end'; readonly opaque?: string }
  /** A whole call; arguments are the model's own text. */
  | { readonly kind: 'tool-call'; readonly providerCallId: string; readonly name: string; readonly arguments: string }
  /** `usd`: what the provider itself says it cost; null if it doesn't. */
  | { readonly kind: 'end'; readonly stop: StopReason; readonly usage: TokenUsage; readonly usd: number | null }
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

/** What is worth trying again as it is. */
const retryableReasons: ReadonlySet<ModelErrorReason> = new Set([
  'rate-limit',
  'overloaded',
  'server',
  'timeout',
  'connection',
  'malformed-stream',
  'unknown',
]);

/** How the way to the provider failed. Only for the reasons `timeout` and `connection`. */
export type TransportFailure = 'connect-timeout' | 'read-timeout' | 'pool-timeout' | 'connect-error' | 'reset';

export interface ModelErrorOptions extends ErrorOptions {
  /** As the reason says, unless the provider says otherwise. */
  readonly retryable?: boolean;
  /** How long the provider wants to be left alone. */
  readonly retryAfterMs?: number | null;
  readonly transport?: TransportFailure;
}

export class ModelError extends Error {
  override readonly name = 'ModelError';
  readonly reason: ModelErrorReason;
  readonly retryable: boolean;
  readonly retryAfterMs: number | null;
  readonly transport: TransportFailure | null;

  /** `message` is for the user: what happened, with no secret in it. */
  constructor(reason: ModelErrorReason, message: string, options: ModelErrorOptions = {}) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.reason = reason;
    this.retryable = options.retryable ?? retryableReasons.has(reason);
    this.retryAfterMs = options.retryAfterMs ?? null;
    this.transport = options.transport ?? null;
  }
}

// --- the client ----------------------------------------------------------------------------------------------------

export interface Model {
  /** Pure: reads nothing but the request and the runtime. */
  prepare(request: ModelRequest): PreparedRequest;
  /** Aborting ends the stream soon, with `failed` and reason `cancelled`. */
  stream(prepared: PreparedRequest, key: ApiKey, signal: AbortSignal): AsyncIterable<ModelEvent>;
  /** Ends its connections; a stream under way fails. Idempotent. */
  close(): void;
}

/** Builds the client of a runtime. Throws a `ModelError` if it can't be built. Opens no connection. */
export type OpenModel = (runtime: Runtime) => Promise<Model>;
