/**
 * A model call beside the conversation: for a title, for a judgement. It is recorded and paid for like any other, and is no
 * part of the session's prompt. It may fail, and then there is no answer; it is never tried twice.
 */
import { localDay } from '../lib/local-day.ts';
import { ModelError, type ModelRequest, type Runtime } from '../models/model.ts';
import type { TurnId } from '../protocol/ids.ts';
import type { ImagePart } from '../protocol/messages.ts';
import type { ModelCallPurpose, Usage } from '../protocol/usage.ts';
import { StoreError, type SessionWrite } from '../store/store.ts';
import { estimateTokens, priced, reservation } from './call-cost.ts';
import { imageTokens } from './prompt-size.ts';
import type { TurnDeps } from './turn-deps.ts';

const patienceDefaultMs = 30_000;

export interface SideImages {
  readonly parts: readonly ImagePart[];
  /** By their hash. */
  readonly contents: ReadonlyMap<string, Uint8Array>;
}

export interface SideCall {
  readonly purpose: Extract<ModelCallPurpose, 'title' | 'approval' | 'compression' | 'vision'>;
  readonly runtime: Runtime;
  /** Null between turns. */
  readonly turnId: TurnId | null;
  readonly instructions: string;
  readonly text: string;
  readonly images?: SideImages;
  /** How long the model may take. */
  readonly patienceMs?: number;
  /** Stored together with the start of the call, or alone if it can't be paid for. */
  readonly before?: readonly SessionWrite[];
  /** What follows from an answer; stored together with its end. */
  readonly after?: (answer: string) => readonly SessionWrite[];
}

/** What the model said; null if it failed, was cut short, or may not be paid for. Throws a `StoreError`. */
export async function sideCall(
  deps: Pick<TurnDeps, 'agent' | 'models' | 'settings' | 'commit' | 'ids' | 'clock'>,
  {
    purpose,
    runtime,
    turnId,
    instructions,
    text,
    images = { parts: [], contents: new Map() },
    patienceMs = patienceDefaultMs,
    before = [],
    after = () => [],
  }: SideCall,
  signal: AbortSignal,
): Promise<string | null> {
  const modelCallId = deps.ids.next('mdl');
  const request = requestOf(purpose, instructions, text, images);
  const key = (await deps.models.nextKey(runtime, new Set())) ?? runtime.keys[0];
  const start: SessionWrite = {
    verb: 'start-model-call',
    modelCallId,
    turnId,
    purpose,
    provider: runtime.provider,
    model: runtime.model,
    keyId: key.id,
    // A prompt of its own: none goes on from another.
    prompt: {
      runtime: `${purpose} ${modelCallId}`,
      kept: 0,
      added: [],
      prefixBreak: 'first-call',
      headSeq: 0,
      effort: null,
    },
    day: localDay(deps.clock.now()),
    reservedUsd: reservation(
      runtime,
      estimateTokens([JSON.stringify(request.messages)]) + images.parts.length * imageTokens,
    ),
    budget: deps.settings.budget,
  };
  try {
    await deps.commit([...before, start]);
  } catch (error) {
    if (!(error instanceof StoreError) || error.reason !== 'over-budget') throw error;
    if (before.length > 0) await deps.commit(before);
    return null;
  }
  const ended = (outcome: 'completed' | 'failed' | 'cancelled', usage: Usage | null, error: string | null) =>
    ({ verb: 'end-model-call', modelCallId, outcome, usage, error }) as const;
  const answer = await ask(deps, { runtime, request, key, patienceMs }, signal);
  if (answer instanceof ModelError) {
    await deps.commit([ended(signal.aborted ? 'cancelled' : 'failed', null, answer.message)]);
    return null;
  }
  await deps.commit([ended('completed', answer.usage, null), ...after(answer.text)]);
  return answer.text;
}

interface Question {
  readonly runtime: Runtime;
  readonly request: ModelRequest;
  readonly key: Runtime['keys'][0];
  readonly patienceMs: number;
}

async function ask(
  deps: Pick<TurnDeps, 'agent' | 'clock'>,
  { runtime, request, key, patienceMs }: Question,
  signal: AbortSignal,
): Promise<{ readonly text: string; readonly usage: Usage } | ModelError> {
  const limit = new AbortController();
  const cancel = deps.clock.setTimer(patienceMs, () => limit.abort());
  try {
    const model = await deps.agent.clients.get(runtime);
    let text = '';
    for await (const event of model.stream(model.prepare(request), key, AbortSignal.any([signal, limit.signal]))) {
      if (event.kind === 'text-delta') text += event.text;
      if (event.kind === 'failed') return event.error;
      if (event.kind !== 'end') continue;
      // What it says then is no answer: a title or a summary must not be made of it.
      if (event.stop === 'refused') return new ModelError('content-refused', 'The model declined to answer this.');
      return { text, usage: priced(event.usage, event.usd, runtime.price, 'short') };
    }
    return new ModelError('malformed-stream', 'The model stopped in mid-answer.');
  } catch (error) {
    if (error instanceof ModelError) return error;
    throw error;
  } finally {
    cancel();
  }
}

function requestOf(purpose: string, systemPrompt: string, text: string, { parts, contents }: SideImages): ModelRequest {
  return {
    systemPrompt,
    tools: [],
    messages: [{ role: 'user', parts: [{ kind: 'text', text }, ...parts] }],
    effort: 'none',
    cacheKey: purpose,
    cachePace: 'short',
    contents,
  };
}
