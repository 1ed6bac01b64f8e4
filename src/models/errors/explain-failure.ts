/**
 * Makes the one error of a model call out of a provider's failed answer: its reason by the table, how long to wait, and
 * a sentence for the user with the provider's own words, shortened and without secrets. Pure.
 */
import { ModelError, type ModelErrorReason } from '../model.ts';
import { rowFor } from './error-table.ts';
import { factsOf, type FailureFacts, type ProviderFailure } from './failure-facts.ts';
import { limitResetMs, retryAfterMs } from './retry-after.ts';

const wordsCharsMax = 200;
const shortestSecret = 4;

export interface Classified {
  readonly rowId: string;
  readonly reason: Exclude<ModelErrorReason, 'cancelled'>;
  /** Undefined: as the reason says. */
  readonly retryable: boolean | undefined;
  readonly retryAfterMs: number | null;
}

export interface FailureContext {
  readonly provider: string;
  /** The key that was used; it is blanked in the message. */
  readonly secret: string;
  readonly now: number;
}

export function classify(failure: ProviderFailure, now: number): Classified {
  return classifyFacts(factsOf(failure), failure, now);
}

export function explainFailure(failure: ProviderFailure, { provider, secret, now }: FailureContext): ModelError {
  const facts = factsOf(failure);
  const { reason, retryable, retryAfterMs: waitMs } = classifyFacts(facts, failure, now);
  const words = shortened(withoutSecrets(facts.words, secret));
  const status = failure.status === null ? '' : ` (HTTP ${failure.status})`;
  const said = words === '' ? '.' : `: ${words}${/[.!?…]$/.test(words) ? '' : '.'}`;
  const next = advice[reason]?.(provider) ?? '';
  return new ModelError(reason, `${provider} ${phrases[reason]}${status}${said}${next}`, {
    retryAfterMs: waitMs,
    ...(retryable === undefined ? {} : { retryable }),
  });
}

/**
 * An error object in the middle of a stream: `body` is its JSON. There are no headers and there is no clock, so only what
 * it says itself counts.
 */
export function explainStreamError(provider: string, body: string): ModelError {
  return explainFailure({ status: null, headers: {}, body }, { provider, secret: '', now: 0 });
}

/** Blanks the secret and everything else that looks like a key. */
export function withoutSecrets(text: string, secret: string): string {
  const clean = secret.length < shortestSecret ? text : text.replaceAll(secret, '[key]');
  return clean.replace(/\b(?:(?:sk|gsk|xai|pk|rk|key)[-_]|AIza|ya29\.|eyJ)[A-Za-z0-9_\-.*]{8,}/g, '[key]');
}

function classifyFacts(facts: FailureFacts, failure: ProviderFailure, now: number): Classified {
  const row = rowFor(facts);
  const waitMs =
    retryAfterMs(failure.headers, facts, now) ??
    (row.reason === 'rate-limit' ? limitResetMs(failure.headers, now) : null);
  return { rowId: row.id, reason: row.reason, retryable: retryableFor(row.retryable, failure), retryAfterMs: waitMs };
}

/** Some providers say themselves that another attempt makes no sense. */
function retryableFor(known: boolean | undefined, { headers }: ProviderFailure): boolean | undefined {
  return headers['x-should-retry'] === 'false' ? false : known;
}

function shortened(words: string): string {
  if (words.length <= wordsCharsMax) return words;
  return `${words
    .slice(0, wordsCharsMax - 1)
    .toWellFormed()
    .trimEnd()}…`;
}

const phrases: Readonly<Record<Exclude<ModelErrorReason, 'cancelled'>, string>> = {
  auth: 'refused the key',
  billing: 'wants to be paid first',
  'rate-limit': 'has had too many requests for now',
  overloaded: 'is overloaded',
  server: 'failed on its side',
  timeout: 'took too long to answer',
  connection: 'could not be reached',
  'context-overflow': 'says that the conversation is longer than the model can read',
  'payload-too-large': 'says that the request is too large',
  'model-not-found': 'does not offer this model',
  'content-refused': 'refused what was said',
  'bad-request': 'did not accept the request',
  'malformed-stream': 'sent an answer that makes no sense',
  unknown: 'failed without a known reason',
};

const advice: Readonly<Partial<Record<ModelErrorReason, (provider: string) => string>>> = {
  auth: (provider) => ` Enter another key with: talaria model set ${provider}`,
  billing: () => ' Check the balance and the plan of the account.',
  'model-not-found': () => ' See which ones it offers: talaria model list',
};
