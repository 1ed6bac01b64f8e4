/** Anthropic's errors. */
import type { Rejection } from '../dialect.ts';
import type { Json } from '../json.ts';
import type { Problem, ProblemKind } from '../problem.ts';

const rows: Record<ProblemKind, readonly [status: number, type: string, message: string]> = {
  'bad-request': [400, 'invalid_request_error', 'Invalid request'],
  auth: [401, 'authentication_error', 'invalid x-api-key'],
  billing: [
    402,
    'billing_error',
    'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.',
  ],
  forbidden: [403, 'permission_error', 'Your API key does not have permission to use the specified resource.'],
  'not-found': [404, 'not_found_error', 'model: unknown'],
  timeout: [408, 'timeout_error', 'Request timed out'],
  'too-large': [413, 'request_too_large', 'Request exceeds the maximum size'],
  'rate-limit': [
    429,
    'rate_limit_error',
    'This request would exceed your organization’s rate limit of 50 requests per minute.',
  ],
  quota: [
    400,
    'invalid_request_error',
    'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.',
  ],
  server: [500, 'api_error', 'Internal server error'],
  unavailable: [503, 'api_error', 'Service temporarily unavailable'],
  overloaded: [529, 'overloaded_error', 'Overloaded'],
  context: [400, 'invalid_request_error', 'prompt is too long: 210000 tokens > 200000 maximum'],
  policy: [400, 'invalid_request_error', 'Output blocked by content filtering policy'],
};

export function anthropicError(problem: Problem): Json {
  const [, type, message] = rows[problem.kind];
  return {
    type: 'error',
    error: { type, message: problem.message ?? message },
    request_id: 'req_011CSHoEeqs5C35K2UUqR7Fy',
  };
}

export function anthropicRejection(problem: Problem): Rejection {
  return { status: rows[problem.kind][0], body: anthropicError(problem) };
}
