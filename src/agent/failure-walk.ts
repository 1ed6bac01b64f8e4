/**
 * What to do after a model call has failed: another key, the same again later, the same over a fresh connection, another
 * model, or tell the user. Pure. Each way has a budget of its own: using one up leaves the others as they are.
 */
import { retryDelayMs } from '../lib/retry.ts';
import type { RandomSource } from '../lib/random.ts';
import type { ModelError, ModelErrorReason, Runtime, TransportFailure } from '../models/model.ts';

export type Step =
  | { readonly kind: 'other-key' }
  | { readonly kind: 'retry'; readonly delayMs: number }
  | { readonly kind: 'recover-transport'; readonly delayMs: number }
  | { readonly kind: 'fall-back' }
  | { readonly kind: 'give-up' };

/** What was tried already on the runtime in use, and what is left. */
export interface Walk {
  readonly runtime: Runtime;
  readonly isOnPrimary: boolean;
  /** Keys of the runtime that were not tried in this call. */
  readonly keysLeft: number;
  readonly retries: number;
  readonly retriesMax: number;
  readonly isTransportRecovered: boolean;
  readonly hasFallback: boolean;
  /** How much longer the turn may go on trying. */
  readonly troubleLeftMs: number;
}

type Way = 'other-key' | 'retry' | 'recover-transport' | 'fall-back';

/** The ways worth going after each kind of failure, in this order. */
const waysAfter: Record<ModelErrorReason, readonly Way[]> = {
  auth: ['other-key', 'fall-back'],
  billing: ['other-key', 'fall-back'],
  'rate-limit': ['other-key', 'fall-back', 'retry'],
  overloaded: ['retry', 'fall-back'],
  server: ['retry', 'fall-back'],
  timeout: ['retry', 'recover-transport', 'fall-back'],
  connection: ['retry', 'recover-transport', 'fall-back'],
  'context-overflow': ['fall-back'],
  'payload-too-large': [],
  'model-not-found': ['fall-back'],
  'content-refused': [],
  'bad-request': ['fall-back'],
  'malformed-stream': ['retry', 'fall-back'],
  cancelled: [],
  unknown: ['retry', 'fall-back'],
};

const retryDelays = { attemptsMax: Infinity, firstDelayMs: 2_000, delayMaxMs: 60_000 };
/** A provider that wants to be left alone for longer is not waited for. */
export const retryAfterMaxMs = 600_000;
/** With another model at hand, a wait longer than this costs more than it wins. */
const patienceWithFallbackMs = 5_000;
const retriesWithFallbackMax = 1;

export function afterFailure(error: ModelError, walk: Walk, random: RandomSource): Step {
  for (const way of waysAfter[error.reason]) {
    const step = tryWay(way, error, walk, random);
    if (step !== null && (!('delayMs' in step) || step.delayMs <= walk.troubleLeftMs)) return step;
  }
  return { kind: 'give-up' };
}

function tryWay(way: Way, error: ModelError, walk: Walk, random: RandomSource): Step | null {
  switch (way) {
    case 'other-key':
      return walk.keysLeft > 0 ? { kind: 'other-key' } : null;
    case 'fall-back':
      return walk.hasFallback ? { kind: 'fall-back' } : null;
    case 'retry':
      return retryStep(error, walk, random);
    case 'recover-transport':
      if (walk.isTransportRecovered || !mayRecoverTransport(error, walk)) return null;
      return { kind: 'recover-transport', delayMs: recoveryWaitMs(walk.retries) };
  }
}

function retryStep(error: ModelError, walk: Walk, random: RandomSource): Step | null {
  const retriesMax = walk.hasFallback ? Math.min(retriesWithFallbackMax, walk.retriesMax) : walk.retriesMax;
  if (!error.retryable || walk.retries >= retriesMax) return null;
  const wanted = error.retryAfterMs ?? 0;
  if (wanted > (walk.hasFallback ? patienceWithFallbackMs : retryAfterMaxMs)) return null;
  return { kind: 'retry', delayMs: Math.max(wanted, retryDelayMs(retryDelays, walk.retries + 1, random)) };
}

const recoverable: ReadonlySet<TransportFailure> = new Set([
  'read-timeout',
  'connect-timeout',
  'pool-timeout',
  'connect-error',
]);

/** Only the primary gets a fresh connection, and only where nobody on the way tries again by itself. */
export function mayRecoverTransport(error: ModelError, walk: Pick<Walk, 'runtime' | 'isOnPrimary'>): boolean {
  if (!walk.isOnPrimary || walk.runtime.reach === 'aggregator') return false;
  return error.transport !== null && recoverable.has(error.transport);
}

/** Before the one attempt over a fresh connection. */
export function recoveryWaitMs(retries: number): number {
  return Math.min(3 + retries, 8) * 1_000;
}

/** How long a key is left alone after this failure; null if it is not the key's fault. */
export function keyRestMs(error: ModelError): number | null {
  switch (error.reason) {
    case 'rate-limit':
      return error.retryAfterMs ?? 3_600_000;
    case 'auth':
      return 300_000;
    case 'billing':
      return 86_400_000;
    default:
      return null;
  }
}
