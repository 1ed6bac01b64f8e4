/**
 * The step of a turn that asks a model, however many calls that takes: another key, a retry, a fresh connection, another
 * model. A stop ends it at every moment and keeps what was streamed so far. The user sees what it waits for; when
 * everything was tried, the turn ends with a sentence that says what failed and what to do.
 */
import { present } from '../lib/assert.ts';
import { sleep } from '../lib/clock.ts';
import { ModelError, type ApiKey, type ModelErrorReason, type Runtime } from '../models/model.ts';
import type { TurnId } from '../protocol/ids.ts';
import type { SessionWrite } from '../store/store.ts';
import { attemptModelCall, type Attempt, type ModelQuestion } from './attempt-model-call.ts';
import { estimateTokens } from './call-cost.ts';
import type { Journal } from './journal.ts';
import { afterFailure, keyRestMs, type Step } from './failure-walk.ts';
import type { TurnDeps } from './turn-deps.ts';
import { nameOf } from './turn-models.ts';

/** What was tried on the runtime in use. */
interface Tries {
  retries: number;
  readonly keys: Set<string>;
}

export type ModelStep =
  | Exclude<Attempt, { kind: 'refused' }>
  /** The prompt is too long for the model, and can be made shorter. */
  | { readonly kind: 'overflowed'; readonly writes: readonly SessionWrite[] };

export async function callModel(deps: TurnDeps, question: ModelQuestion, signal: AbortSignal): Promise<ModelStep> {
  const { chain } = deps.agent;
  const { turnId, journal } = question;
  const told = await deps.models.begin(present(journal.openTurn, 'an open turn'));
  if (told !== null) await deps.tell(turnId, told);
  let tries: Tries = { retries: 0, keys: new Set() };
  let isTransportRecovered = false;

  for (let key = await firstKey(deps, tries); ;) {
    const runtime = chain.current;
    tries.keys.add(key.id);
    const startedAt = deps.clock.now();
    const bounded = troubleBound(deps, signal);
    const attempt = bounded.judge(await attemptModelCall(deps, question, runtime, key, bounded.signal));
    if (attempt.kind === 'refused') return { kind: 'failed', writes: [], error: attempt.error };
    if (attempt.kind !== 'failed') {
      deps.sink({ kind: 'status', turnId, text: '' });
      if (attempt.kind === 'spoke') await wakeIfResting(deps, runtime, key);
      return attempt;
    }
    const { error } = attempt;
    // Pictures make a request too large in bytes long before they are many tokens.
    const isTooLong = error.reason === 'context-overflow' || error.reason === 'payload-too-large';
    if (isTooLong && (await canShorten(deps, journal, runtime))) {
      return { kind: 'overflowed', writes: attempt.writes };
    }
    deps.models.troubleMs += deps.clock.now() - startedAt;
    await restIfAtFault(deps, runtime, key, error);

    const isFit = fitFor(question, error, runtime);
    const step = afterFailure(
      error,
      {
        runtime,
        isOnPrimary: chain.isOnPrimary,
        keysLeft: await deps.models.keysLeft(runtime, tries.keys),
        retries: tries.retries,
        retriesMax: deps.settings.modelRetriesMax,
        isTransportRecovered,
        hasFallback: chain.hasNext(isFit),
        troubleLeftMs: deps.settings.troubleMaxMs - deps.models.troubleMs,
      },
      deps.random,
    );
    deps.log.warn('model call failed', { model: nameOf(runtime), reason: error.reason, next: step.kind });
    if (step.kind === 'give-up') return { ...attempt, error: withAdvice(error) };
    if (attempt.writes.length > 0) await deps.commit(attempt.writes);
    if (!(await prepareStep(deps, turnId, runtime, error, step, signal))) return { kind: 'cancelled', writes: [] };

    switch (step.kind) {
      case 'other-key':
        key = (await deps.models.nextKey(runtime, tries.keys)) ?? key;
        break;
      case 'retry':
        tries.retries += 1;
        break;
      case 'recover-transport':
        isTransportRecovered = true;
        await deps.agent.clients.rebuild(runtime);
        break;
      case 'fall-back':
        chain.fallBack(isFit);
        await deps.tell(turnId, fallbackNotice(error, chain.current));
        tries = { retries: 0, keys: new Set() };
        key = await firstKey(deps, tries);
        break;
    }
  }
}

async function firstKey(deps: TurnDeps, tries: Tries): Promise<ApiKey> {
  const { current } = deps.agent.chain;
  return (await deps.models.nextKey(current, tries.keys)) ?? current.keys[0];
}

/** Says what happens next and waits for it; false if that was cut short. */
async function prepareStep(
  deps: TurnDeps,
  turnId: TurnId,
  runtime: Runtime,
  error: ModelError,
  step: Exclude<Step, { kind: 'give-up' }>,
  signal: AbortSignal,
): Promise<boolean> {
  deps.sink({ kind: 'status', turnId, text: `${error.message} ${nextInWords(runtime, step)}` });
  if (signal.aborted) return false;
  if (!('delayMs' in step)) return true;
  const from = deps.clock.now();
  try {
    await sleep(deps.clock, step.delayMs, signal);
    return true;
  } catch {
    return false;
  } finally {
    deps.models.troubleMs += deps.clock.now() - from;
  }
}

function nextInWords(runtime: Runtime, step: Exclude<Step, { kind: 'give-up' }>): string {
  switch (step.kind) {
    case 'other-key':
      return 'Trying another key.';
    case 'retry':
      return `Trying again in ${seconds(step.delayMs)} s.`;
    case 'recover-transport':
      return `Trying once more over a fresh connection in ${seconds(step.delayMs)} s.`;
    case 'fall-back':
      return `Going on without ${nameOf(runtime)}.`;
  }
}

const seconds = (ms: number) => Math.max(1, Math.round(ms / 1_000));

const fallbackNotice = (error: ModelError, next: Runtime) => `${error.message} This turn goes on with ${nameOf(next)}.`;

/** Those that can hold the prompt; after an overflow, only those that hold more than the one that could not. */
function fitFor({ request }: ModelQuestion, error: ModelError, failed: Runtime): (runtime: Runtime) => boolean {
  const tokens = estimateTokens([
    request.systemPrompt,
    JSON.stringify(request.tools),
    JSON.stringify(request.messages),
  ]);
  return (runtime) =>
    runtime.contextLength > tokens &&
    (error.reason !== 'context-overflow' || runtime.contextLength > failed.contextLength);
}

async function restIfAtFault(deps: TurnDeps, runtime: Runtime, key: ApiKey, error: ModelError): Promise<void> {
  const restMs = keyRestMs(error);
  if (restMs === null || key.id === '') return;
  const until = deps.clock.now() + restMs;
  await deps.restKey({ provider: runtime.provider, keyId: key.id, reason: error.reason, until });
}

async function wakeIfResting(deps: TurnDeps, runtime: Runtime, key: ApiKey): Promise<void> {
  if (await deps.models.isResting(runtime, key)) await deps.wakeKey(runtime.provider, key.id);
}

/** Once there has been trouble, an attempt may take no longer than the turn may go on trying. */
function troubleBound(deps: TurnDeps, signal: AbortSignal) {
  const leftMs = deps.settings.troubleMaxMs - deps.models.troubleMs;
  if (deps.models.troubleMs === 0) return { signal, judge: (attempt: Attempt) => attempt };
  const limit = new AbortController();
  const cancel = deps.clock.setTimer(Math.max(0, leftMs), () => limit.abort());
  return {
    signal: AbortSignal.any([signal, limit.signal]),
    judge(attempt: Attempt): Attempt {
      cancel();
      if (attempt.kind !== 'cancelled' || signal.aborted || !limit.signal.aborted) return attempt;
      const minutes = Math.round(deps.settings.troubleMaxMs / 60_000);
      const error = new ModelError('timeout', `Models have been failing for ${minutes} minutes.`, { retryable: false });
      return { ...attempt, kind: 'failed', error };
    },
  };
}

/** What a user can do about it, where the failure does not say so itself. */
const advice: Partial<Record<ModelErrorReason, string>> = {
  'rate-limit': 'Try again later, add a key, or set a fallback model.',
  overloaded: 'Try again later, or set a fallback model.',
  server: 'Try again later, or set a fallback model.',
  timeout: 'Try again later; talaria doctor checks the way there.',
  connection: 'Check the network and model.base_url; talaria model test says more.',
  'context-overflow': 'Take it back with /undo, begin a new session, or use a model that can read more at once.',
  'payload-too-large': 'Take it back with /undo, begin a new session, or send less at once.',
  'malformed-stream': 'Try again, or use another model.',
};

function withAdvice(error: ModelError): ModelError {
  const words = advice[error.reason];
  if (words === undefined) return error;
  const { reason, retryable, retryAfterMs, message } = error;
  return new ModelError(reason, `${message} ${words}`, { retryable, retryAfterMs, cause: error });
}

async function canShorten(deps: TurnDeps, journal: Journal, runtime: Runtime): Promise<boolean> {
  // Rare: most processes never need it.
  const compressing = await import('./compress.ts');
  return compressing.canShorten(deps, journal, runtime);
}
