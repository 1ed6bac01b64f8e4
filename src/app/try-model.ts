/** Asks a model one small thing with each of its keys, for real: how long it took, what it used, or what went wrong. */
import type { Clock } from '../lib/clock.ts';
import { ModelError, type ApiKey, type Model, type ModelErrorReason, type Runtime } from '../models/model.ts';
import { noTokens, type TokenUsage } from '../protocol/usage.ts';
import type { Environment } from './build-runtimes.ts';

export type ModelTrial =
  | {
      readonly kind: 'answered';
      /** Which key, by its fingerprint; empty where none is needed. */
      readonly key: string;
      readonly first_ms: number;
      readonly total_ms: number;
      readonly usage: TokenUsage;
      readonly text: string;
    }
  | {
      readonly kind: 'failed';
      readonly key: string;
      readonly reason: ModelErrorReason;
      /** What happened and what to do. */
      readonly problem: string;
    };

export interface TryModelDeps {
  readonly clock: Clock;
  readonly environment: Environment;
}

/** Enough for a word and for what models think before they say it. */
const outputTokensMax = 1_024;
const patienceMs = 60_000;

/** Never throws. */
export async function tryModel(deps: TryModelDeps, runtime: Runtime, signal: AbortSignal): Promise<ModelTrial[]> {
  const small = { ...runtime, outputTokensMax: Math.min(runtime.outputTokensMax, outputTokensMax) };
  let model: Model;
  try {
    const { createOpenModel } = await import('../models/open-model.ts');
    model = await createOpenModel({ clock: deps.clock, env: deps.environment })(small);
  } catch (error) {
    return [failed(runtime.keys[0], error)];
  }
  try {
    const trials: ModelTrial[] = [];
    for (const key of small.keys) trials.push(await tryKey(deps.clock, model, key, signal));
    return trials;
  } finally {
    model.close();
  }
}

async function tryKey(clock: Clock, model: Model, key: ApiKey, signal: AbortSignal): Promise<ModelTrial> {
  const tooLong = new AbortController();
  const cancel = clock.setTimer(patienceMs, () => tooLong.abort());
  try {
    return await ask(clock, model, key, AbortSignal.any([signal, tooLong.signal]));
  } catch (error) {
    if (!tooLong.signal.aborted) return failed(key, error);
    const message = `No whole answer came within ${patienceMs / 1_000} seconds. Try again later, or another model.`;
    return failed(key, new ModelError('timeout', message));
  } finally {
    cancel();
  }
}

async function ask(clock: Clock, model: Model, key: ApiKey, signal: AbortSignal): Promise<ModelTrial> {
  const prepared = model.prepare({
    systemPrompt: 'You are being tested. Answer as shortly as you can.',
    tools: [],
    messages: [{ role: 'user', parts: [{ kind: 'text', text: 'Say the word: ready' }] }],
    effort: null,
    cacheKey: 'model-test',
    cachePace: 'short',
    contents: new Map(),
  });
  const startedAt = clock.now();
  let firstAt: number | null = null;
  let text = '';
  let usage: TokenUsage = noTokens;
  for await (const event of model.stream(prepared, key, signal)) {
    firstAt ??= clock.now();
    if (event.kind === 'failed') throw event.error;
    if (event.kind === 'text-delta') text += event.text;
    if (event.kind === 'end') usage = event.usage;
  }
  const endedAt = clock.now();
  const times = { first_ms: (firstAt ?? endedAt) - startedAt, total_ms: endedAt - startedAt };
  return { kind: 'answered', key: key.id, ...times, usage, text };
}

function failed(key: ApiKey, error: unknown): ModelTrial {
  if (!(error instanceof ModelError)) throw error;
  return { kind: 'failed', key: key.id, reason: error.reason, problem: error.message };
}
