/** Runtimes and requests for the tests of the protocols: plain ones, with what a test cares about put in. */
import type { CallId } from '../../protocol/ids.ts';
import type {
  AssistantMessage,
  StoredContent,
  CallOutcome,
  Message,
  ToolDefinition,
  UserMessage,
} from '../../protocol/messages.ts';
import type { ModelEvent, ModelRequest, Runtime } from '../model.ts';
import type { Decoder } from './protocol.ts';

export function testRuntime(changes: Partial<Runtime> = {}): Runtime {
  return {
    provider: 'anthropic',
    model: 'claude-sonnet-4-5',
    baseUrl: 'https://api.anthropic.com',
    apiMode: 'anthropic_messages',
    keys: [{ id: 'k1', secret: 'sk-test' }],
    contextLength: 200_000,
    outputTokensMax: 16_000,
    caching: 'breakpoints',
    reach: 'direct',
    stallMs: 180_000,
    price: null,
    seesImages: true,
    reasons: true,
    quirks: [],
    compressor: null,
    ...changes,
  };
}

export const echoTool: ToolDefinition = {
  name: 'echo',
  description: 'Says it again.',
  parameters: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
};

export function testRequest(messages: readonly Message[], changes: Partial<ModelRequest> = {}): ModelRequest {
  return {
    systemPrompt: 'Be kind.',
    tools: [echoTool],
    messages,
    effort: null,
    cacheKey: 'ses_1',
    cachePace: 'short',
    contents: new Map(),
    ...changes,
  };
}

export function user(text: string): UserMessage {
  return { role: 'user', parts: [{ kind: 'text', text }] };
}

export function assistant(...parts: AssistantMessage['parts']): AssistantMessage {
  return { role: 'assistant', parts };
}

export function call(callId: CallId, args = '{"text":"a"}', name = 'echo'): AssistantMessage['parts'][number] {
  return { kind: 'tool-call', callId, name, arguments: args };
}

export function result(callId: CallId, text: string, outcome: CallOutcome = 'finished'): Message {
  return { role: 'tool', parts: [{ kind: 'tool-result', callId, outcome, text }] };
}

export function resultWith(callId: CallId, text: string, images: readonly StoredContent[]): Message {
  return { role: 'tool', parts: [{ kind: 'tool-result', callId, outcome: 'finished', text, images }] };
}

/** The same in every run: `callId(1)`, `callId(2)`. */
export function callId(number: number): CallId {
  return `cal_${String(number).padStart(26, '0')}` as CallId;
}

/** All that a decoder makes of these payloads; a string is sent as it is. */
export function decodeAll(decoder: Decoder, payloads: readonly unknown[]): ModelEvent[] {
  const events = payloads.flatMap((payload) => {
    const data = typeof payload === 'string' ? payload : JSON.stringify(payload);
    const { type } = typeof payload === 'object' ? (payload as { type?: unknown }) : {};
    return decoder.push({ name: typeof type === 'string' ? type : '', data });
  });
  // The second one must have nothing left to say.
  return [...events, ...decoder.finish(), ...decoder.finish()];
}

/** Events with an error in them, as plain values that can be compared whole. */
export function plain(events: readonly ModelEvent[]): unknown[] {
  return events.map((event) => {
    if (event.kind !== 'failed') return event;
    const { reason, message, retryable } = event.error;
    return { kind: 'failed', reason, message, retryable };
  });
}
