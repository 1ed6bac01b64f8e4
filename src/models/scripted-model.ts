/**
 * A model for tests: plays the responses it was given, one per request, and keeps what it was asked. It keeps to the
 * contract whatever the script says: one end and nothing after it, `cancelled` on abort, no exception. A request beyond
 * the script fails and says so.
 */
import type { TokenUsage } from '../protocol/usage.ts';
import { ModelError, type ApiKey, type Model, type ModelEvent, type ModelRequest, type Runtime } from './model.ts';
import { plainUnits } from './plain-units.ts';

/** A place in a stream that waits until the test lets it go on. A rejected gate fails the stream. */
export interface Gate {
  readonly kind: 'gate';
  readonly opened: Promise<unknown>;
}

/** Without a last event of its own a response ends as one does: for its calls if it has any, else as an answer. */
export type ScriptedEvents = readonly (ModelEvent | Gate)[];
export type ScriptedResponse = ScriptedEvents | ((request: ModelRequest) => ScriptedEvents | Promise<ScriptedEvents>);

export interface ScriptedModel extends Model {
  /** Copies of the requests so far, frozen all the way down. */
  readonly requests: readonly ModelRequest[];
  /** The fingerprints of the keys that came with them. */
  readonly keyIds: readonly string[];
  /** How often it was closed. */
  readonly closeCount: number;
}

export interface ScriptedModelOptions {
  readonly responses: readonly ScriptedResponse[];
}

export const scriptedUsage: TokenUsage = {
  inputTokens: 10,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 5,
  reasoningTokens: 0,
};

export function createScriptedModel(options: ScriptedModelOptions): ScriptedModel {
  const requests: ModelRequest[] = [];
  const keyIds: string[] = [];
  const closing = new AbortController();
  let closeCount = 0;
  return {
    requests,
    keyIds,
    get closeCount() {
      return closeCount;
    },
    prepare: (request) => ({ request, units: plainUnits(request), body: '' }),
    async *stream({ request }, key, signal) {
      const response = options.responses[requests.length];
      requests.push(deepFreeze(structuredClone(request)));
      keyIds.push(key.id);
      const ended = AbortSignal.any([signal, closing.signal]);
      try {
        ended.throwIfAborted();
        if (response === undefined) throw new Error(`the script has no response to request ${requests.length}`);
        yield* play(typeof response === 'function' ? await response(request) : response, ended);
      } catch (error) {
        yield { kind: 'failed', error: asModelError(error, signal) };
      }
    },
    close() {
      closeCount++;
      closing.abort(new ModelError('connection', 'The connection to the model was closed.'));
    },
  };
}

async function* play(events: ScriptedEvents, signal: AbortSignal): AsyncGenerator<ModelEvent> {
  for (const event of events) {
    if (event.kind === 'gate') {
      await openedOrAborted(event, signal);
      continue;
    }
    signal.throwIfAborted();
    yield event;
    if (event.kind === 'end' || event.kind === 'failed') return;
  }
  signal.throwIfAborted();
  const stop = events.some((event) => event.kind === 'tool-call') ? 'tool-calls' : 'answer';
  yield { kind: 'end', stop, usage: scriptedUsage, usd: null };
}

async function openedOrAborted(gate: Gate, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason as Error);
  signal.addEventListener('abort', onAbort);
  try {
    await Promise.race([gate.opened, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

function asModelError(error: unknown, signal: AbortSignal): ModelError {
  if (signal.aborted) return new ModelError('cancelled', 'The answer was stopped.');
  if (error instanceof ModelError) return error;
  return new ModelError('unknown', error instanceof Error ? error.message : String(error), { retryable: false });
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) deepFreeze(inner);
  }
  return value;
}

/** A response that only says this. */
export function says(text: string): ScriptedEvents {
  return [{ kind: 'text-delta', text }];
}

/** A response that calls these tools, in one round. */
export function callsTools(...calls: readonly { name: string; arguments: string | object }[]): ScriptedEvents {
  return calls.map((call, index) => ({
    kind: 'tool-call',
    providerCallId: `call_${index + 1}`,
    name: call.name,
    arguments: typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments),
  }));
}

/** A gate, and what opens it. */
export function createGate(): Gate & { open(): void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { kind: 'gate', opened: promise, open: resolve };
}

export const testKey: ApiKey = { id: 'test-key', secret: 'sk-test-0123456789' };

/** A runtime for tests: complete, without price, caching or quirks. */
export function scriptedRuntime(overrides: Partial<Runtime> = {}): Runtime {
  return {
    provider: 'scripted',
    model: 'script',
    baseUrl: 'http://127.0.0.1:9',
    apiMode: 'chat_completions',
    keys: [testKey],
    contextLength: 200_000,
    outputTokensMax: 8_000,
    caching: 'none',
    reach: 'direct',
    stallMs: 180_000,
    price: null,
    seesImages: true,
    reasons: false,
    quirks: [],
    compressor: null,
    ...overrides,
  };
}

/** A request for tests: one that says hello. */
export function testRequest(overrides: Partial<ModelRequest> = {}): ModelRequest {
  return {
    systemPrompt: 'You are a test.',
    tools: [],
    messages: [{ role: 'user', parts: [{ kind: 'text', text: 'hello' }] }],
    effort: null,
    cacheKey: 'test-session',
    cachePace: 'short',
    contents: new Map(),
    ...overrides,
  };
}
