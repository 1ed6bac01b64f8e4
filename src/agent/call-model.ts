/**
 * One step of a turn that asks the model: records that it asks, listens to the stream, and returns what to store.
 * A stop keeps what was streamed so far. A failure that is worth it is tried again; one that is not ends the turn
 * with a sentence for the user.
 */
import { retryDelayMs, type RetryPolicy } from '../lib/retry.ts';
import { sleep } from '../lib/clock.ts';
import { ModelError, type ModelEvent, type ModelRequest } from '../models/model.ts';
import type { TurnId } from '../protocol/ids.ts';
import type { AssistantMessage, ReasoningPart, TextPart, ToolCallPart } from '../protocol/messages.ts';
import type { Usage } from '../protocol/usage.ts';
import type { PlannedCall, SessionWrite } from '../store/store.ts';
import { ActionCut, type TurnDeps } from './turn-deps.ts';

const retryPolicy = { firstDelayMs: 2_000, delayMaxMs: 60_000 };

export type ModelStep =
  /** The model spoke: these writes belong together. */
  | { readonly kind: 'spoke'; readonly writes: readonly SessionWrite[] }
  /** Cut short with nothing to keep. */
  | { readonly kind: 'cancelled'; readonly writes: readonly SessionWrite[] }
  | { readonly kind: 'failed'; readonly writes: readonly SessionWrite[]; readonly error: ModelError };

export interface ModelQuestion {
  readonly turnId: TurnId;
  readonly purpose: 'answer' | 'summarise';
  readonly request: ModelRequest;
}

export async function callModel(deps: TurnDeps, question: ModelQuestion, signal: AbortSignal): Promise<ModelStep> {
  const policy: RetryPolicy = { ...retryPolicy, attemptsMax: deps.agent.modelRetriesMax + 1 };
  for (let attempt = 1; ; attempt++) {
    const step = await callOnce(deps, question, signal);
    if (step.kind !== 'failed' || !step.error.retryable || attempt >= policy.attemptsMax) return step;
    await deps.commit(step.writes);
    deps.log.warn('model call failed, trying again', { reason: step.error.reason, attempt });
    try {
      await sleep(deps.clock, retryDelayMs(policy, attempt, deps.random), signal);
    } catch {
      return { kind: 'cancelled', writes: [] };
    }
  }
}

async function callOnce(deps: TurnDeps, question: ModelQuestion, signal: AbortSignal): Promise<ModelStep> {
  const { turnId, purpose, request } = question;
  const { model } = deps.agent;
  const modelCallId = deps.ids.next('mdl');
  const { provider, name } = model;
  await deps.commit([{ verb: 'start-model-call', modelCallId, turnId, purpose, provider, model: name }]);

  const draft = new Draft(deps, turnId);
  const end = await listen(model.stream(request, signal), draft);
  const ended = (outcome: 'completed' | 'failed' | 'cancelled', usage: Usage | null, error: string | null) =>
    ({ verb: 'end-model-call', modelCallId, outcome, usage, error }) as const;

  if (end.kind === 'end') {
    const message = draft.message();
    const calls = planCalls(deps, message);
    const append = { verb: 'append-answer', turnId, modelCallId, message, calls } as const;
    return { kind: 'spoke', writes: [ended('completed', end.usage, null), append] };
  }
  if (end.error.reason === 'cancelled') {
    const stopped = signal.reason instanceof ActionCut && signal.reason.why === 'stop';
    const message = stopped ? draft.spokenOnly() : null;
    const writes: SessionWrite[] = [ended('cancelled', null, null)];
    if (message === null) return { kind: 'cancelled', writes };
    return { kind: 'spoke', writes: [...writes, { verb: 'append-answer', turnId, modelCallId, message, calls: [] }] };
  }
  deps.sink({ kind: 'draft-cleared', turnId });
  return { kind: 'failed', writes: [ended('failed', null, end.error.message)], error: end.error };
}

type TerminalEvent = Extract<ModelEvent, { kind: 'end' | 'failed' }>;

async function listen(stream: AsyncIterable<ModelEvent>, draft: Draft): Promise<TerminalEvent> {
  for await (const event of stream) {
    if (event.kind === 'end' || event.kind === 'failed') return event;
    draft.add(event);
  }
  // The contract forbids it, but a turn must not hang on a model that breaks it.
  return { kind: 'failed', error: new ModelError('malformed-stream', 'The model stopped in mid-answer.', true) };
}

/** Tools' declarations are stored with the call, so that a later version of a tool can't change what a crash means. */
function planCalls(deps: TurnDeps, message: AssistantMessage): PlannedCall[] {
  return message.parts
    .filter((part) => part.kind === 'tool-call')
    .map((part) => {
      const tool = deps.agent.tools.get(part.name);
      return {
        id: part.callId,
        name: part.name,
        arguments: part.arguments,
        effect: tool?.effect ?? 'read',
        replay: tool?.replay ?? 'safe',
      };
    });
}

/** The message as it grows. Neighbouring pieces of the same kind become one part. */
class Draft {
  readonly #deps: TurnDeps;
  readonly #turnId: TurnId;
  readonly #parts: (TextPart | ReasoningPart | ToolCallPart)[] = [];

  constructor(deps: TurnDeps, turnId: TurnId) {
    this.#deps = deps;
    this.#turnId = turnId;
  }

  add(event: Exclude<ModelEvent, TerminalEvent>): void {
    const last = this.#parts.at(-1);
    switch (event.kind) {
      case 'text-delta':
        if (last?.kind === 'text') this.#parts[this.#parts.length - 1] = { kind: 'text', text: last.text + event.text };
        else this.#parts.push({ kind: 'text', text: event.text });
        this.#deps.sink({ kind: 'text-delta', turnId: this.#turnId, text: event.text });
        return;
      case 'reasoning-delta':
        if (last?.kind === 'reasoning') {
          this.#parts[this.#parts.length - 1] = { kind: 'reasoning', text: last.text + event.text };
        } else this.#parts.push({ kind: 'reasoning', text: event.text });
        this.#deps.sink({ kind: 'reasoning-delta', turnId: this.#turnId, text: event.text });
        return;
      case 'reasoning-end':
        if (last?.kind === 'reasoning' && event.opaque !== undefined) {
          this.#parts[this.#parts.length - 1] = { ...last, opaque: event.opaque };
        }
        return;
      case 'tool-call':
        this.#parts.push({
          kind: 'tool-call',
          callId: this.#deps.ids.next('cal'),
          providerCallId: event.providerCallId,
          name: event.name,
          arguments: event.arguments,
        });
    }
  }

  message(): AssistantMessage {
    return { role: 'assistant', parts: this.#parts };
  }

  /** What a person saw before the stop: a call that was asked for but cut off is left out; null if nothing remains. */
  spokenOnly(): AssistantMessage | null {
    const parts = this.#parts.filter((part) => part.kind === 'text' && part.text.trim() !== '');
    return parts.length > 0 ? { role: 'assistant', parts } : null;
  }
}
