/**
 * What failures mean: one row for each thing that providers and what stands before them say. The first row that fits
 * decides, so what is told in codes and words stands before what only the status says. A row fits if each of its
 * conditions does. Every row has a sample in the test beside this file.
 */
import type { ModelErrorReason } from '../model.ts';
import type { FailureFacts } from './failure-facts.ts';

export interface ErrorRow {
  readonly id: string;
  readonly reason: Exclude<ModelErrorReason, 'cancelled'>;
  readonly status?: readonly number[];
  /** One of the body's codes, types or status names is one of these. */
  readonly code?: readonly string[];
  readonly words?: RegExp;
  readonly html?: true;
  /** As the reason says, unless it is known better. */
  readonly retryable?: boolean;
}

export const errorTable: readonly ErrorRow[] = [
  // --- what is longer than the model can read
  {
    id: 'context-code',
    reason: 'context-overflow',
    code: ['context_length_exceeded', 'context_window_exceeded', 'model_context_window_exceeded', '1261'],
  },
  {
    id: 'context-words',
    reason: 'context-overflow',
    words:
      /prompt is too long|maximum context length|exceeds? (?:the |this model's )?(?:maximum |available )?context(?: window| size| length)|input (?:is too long|length and `max_tokens` exceed)|input token count.*exceeds the maximum|maximum prompt length is \d|context (?:window|length) (?:exceeds|exceeded|is too small)|exceed(?:ed|s) model token limit|greater than the context length|context the overflows|prompt exceeds max length|too many input tokens|max_prompt_tokens/i,
  },
  {
    // Limits of tokens a minute that one request alone is above: waiting does not help, a shorter prompt does.
    id: 'context-of-a-minute',
    reason: 'context-overflow',
    words: /request too large for (?:model )?.*tokens per min|reduce the length of the messages/i,
  },
  // --- what is more bytes than the server takes
  { id: 'payload-code', reason: 'payload-too-large', code: ['request_too_large', 'payload_too_large'] },
  {
    id: 'payload-words',
    reason: 'payload-too-large',
    words:
      /request entity too large|payload too large|request body too large|image exceeds \d+ ?mb|request (?:payload )?size exceeds|total image size/i,
  },
  { id: 'payload-status', reason: 'payload-too-large', status: [413] },
  // --- money
  {
    // Google says "check your plan and billing" for limits of a minute, too.
    id: 'rate-google',
    reason: 'rate-limit',
    code: ['resource_exhausted'],
  },
  { id: 'billing-status', reason: 'billing', status: [402] },
  {
    id: 'billing-code',
    reason: 'billing',
    code: [
      'insufficient_quota',
      'billing_error',
      'billing_not_active',
      'billing_hard_limit_reached',
      'exceeded_current_quota_error',
      'insufficient_balance',
      'credit_balance_too_low',
      'usage_not_included',
      '1113',
    ],
  },
  {
    id: 'billing-words',
    reason: 'billing',
    words:
      /credit balance is too low|insufficient (?:account )?(?:balance|credits?|funds)|exceeded your current quota, please check your plan|reached your specified (?:api|workspace api) usage limits|doesn't have any credits|used all available credits|monthly spending limit|requires more credits|account (?:is |has been )?suspended.*(?:billing|balance|recharge)|account balance is negative|extra usage is required|negative credit/i,
  },
  // --- what is refused for what it says
  {
    id: 'refused-code',
    reason: 'content-refused',
    code: [
      'content_filter',
      'content_policy_violation',
      'contentfilter',
      'data_inspection_failed',
      'cyber_policy',
      '1301',
    ],
  },
  {
    id: 'refused-words',
    reason: 'content-refused',
    words:
      /flagged as potentially violating|content (?:management|filtering|usage) polic|blocked by content filter|input was flagged|requires moderation|considered high risk|safety (?:system|guidelines|check)|violat(?:es|ing) (?:our |the )?usage (?:policy|guidelines)|prohibited[_ ]content|sensitive content/i,
  },
  // --- who is asking
  {
    id: 'key-code',
    reason: 'auth',
    code: [
      'invalid_api_key',
      'api_key_invalid',
      'authentication_error',
      'invalid_authentication_error',
      'incorrect_api_key',
      'unauthenticated',
      'token_expired',
      'token_invalidated',
      'account_deactivated',
      'invalid_organization',
      '1000',
      '1001',
      '1002',
      '1003',
      '1004',
    ],
  },
  {
    id: 'key-words',
    reason: 'auth',
    words:
      /(?:incorrect|invalid|missing|no|wrong|expired|revoked) (?:or missing )?api[ -]?key|api key (?:not valid|expired|is invalid|not found)|organization has been disabled|oauth token has (?:expired|been revoked)|no auth credentials found|user not found\.?$|authentication fails/i,
  },
  {
    id: 'region',
    reason: 'auth',
    code: ['unsupported_country_region_territory'],
  },
  {
    id: 'region-words',
    reason: 'auth',
    words:
      /location is not supported|country, region,? or territory not supported|not available in your (?:country|region)/i,
  },
  // --- which model
  {
    id: 'model-code',
    reason: 'model-not-found',
    code: ['model_not_found', 'model_decommissioned', 'model_not_available', 'unknown_model', 'invalid_model', '1211'],
  },
  {
    id: 'model-words',
    reason: 'model-not-found',
    words:
      /model ['"`]?[^'"`\s]*['"`]? (?:does not exist|not found|is not found|was not found|has been deprecated|is not available|is not supported when)|models?\/\S+ is not found|not a valid model id|no endpoints found|model not exist|no models? loaded|not found the model|invalid model(?::| name)|'[^']+' model is not supported|unknown model|^model: \S+$/i,
  },
  { id: 'model-permission', reason: 'model-not-found', words: /does not have access to model/i },
  // --- too much for now
  {
    id: 'overloaded-code',
    reason: 'overloaded',
    code: [
      'overloaded_error',
      'engine_overloaded_error',
      'overloaded',
      'slow_down',
      'server_is_overloaded',
      'unavailable',
      '1305',
    ],
  },
  {
    id: 'overloaded-words',
    reason: 'overloaded',
    words:
      /\boverloaded\b|over capacity|at capacity|capacity exceeded|server (?:is )?busy|temporarily (?:unavailable|rate-limited upstream)|high demand/i,
  },
  {
    id: 'rate-code',
    reason: 'rate-limit',
    code: [
      'rate_limit_exceeded',
      'rate_limit_error',
      'rate_limit_reached_error',
      'rate_limited',
      'usage_limit_reached',
      'too_many_requests',
      '1302',
      '1303',
      '1304',
      '1308',
    ],
  },
  { id: 'rate-status', reason: 'rate-limit', status: [429] },
  { id: 'rate-words', reason: 'rate-limit', words: /rate limit(?:ed| exceeded| reached)|too many requests/i },
  // --- what no other attempt will mend
  {
    id: 'memory-words',
    reason: 'server',
    words: /requires more system memory|out of memory|cuda error/i,
    retryable: false,
  },
  // --- the model's own slip: another attempt says something else
  {
    id: 'call-unreadable',
    reason: 'malformed-stream',
    code: ['tool_use_failed', 'malformed_function_call', 'output_parse_failed'],
  },
  // --- who stands before the provider
  { id: 'proxy-key', reason: 'auth', status: [407] },
  { id: 'moved', reason: 'bad-request', status: [300, 301, 302, 303, 307, 308] },
  { id: 'no-such-page', reason: 'bad-request', status: [404], html: true },
  {
    id: 'no-such-route',
    reason: 'bad-request',
    status: [404, 405],
    words: /^(?:404 page )?not found$|method not allowed/i,
  },
  // --- what only the status says
  { id: 'status-auth', reason: 'auth', status: [401, 403] },
  { id: 'status-model', reason: 'model-not-found', status: [404] },
  { id: 'status-timeout', reason: 'timeout', status: [408, 504, 522, 524] },
  { id: 'status-overloaded', reason: 'overloaded', status: [503, 529, 498] },
  { id: 'status-retry', reason: 'server', status: [409, 425] },
  {
    id: 'status-server',
    reason: 'server',
    status: [500, 501, 502, 505, 507, 508, 520, 521, 523, 525, 526, 527, 530],
  },
  { id: 'status-request', reason: 'bad-request', status: [400, 405, 406, 410, 411, 414, 415, 422, 431, 451] },
  // --- inside a stream, where there is no status
  { id: 'code-model', reason: 'model-not-found', code: ['not_found_error', 'not_found'] },
  { id: 'code-auth', reason: 'auth', code: ['permission_error', 'permission_denied', 'forbidden', 'unauthorized'] },
  { id: 'code-timeout', reason: 'timeout', code: ['timeout_error', 'deadline_exceeded', 'timeout'] },
  {
    id: 'code-server',
    reason: 'server',
    code: [
      'server_error',
      'api_error',
      'internal_error',
      'internal',
      'internal_server_error',
      'internalservererror',
      'upstream_error',
    ],
  },
  {
    id: 'code-request',
    reason: 'bad-request',
    code: [
      'invalid_request_error',
      'invalid_argument',
      'invalid_prompt',
      'failed_precondition',
      'badrequesterror',
      'unsupported_value',
    ],
  },
  {
    id: 'words-server',
    reason: 'server',
    words: /internal server error|upstream|something went wrong|error occurred while processing/i,
  },
  { id: 'anything', reason: 'unknown' },
];

/** Never without one: the last row fits everything. */
export function rowFor(facts: FailureFacts): ErrorRow {
  const row = errorTable.find((candidate) => fits(candidate, facts));
  return row ?? { id: 'anything', reason: 'unknown' };
}

function fits(row: ErrorRow, facts: FailureFacts): boolean {
  if (row.status !== undefined && (facts.status === null || !row.status.includes(facts.status))) return false;
  if (row.code !== undefined && !facts.codes.some((code) => row.code?.includes(code))) return false;
  if (row.html === true && !facts.isHtml) return false;
  return row.words === undefined || row.words.test(facts.words);
}
