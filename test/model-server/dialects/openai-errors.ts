/** OpenAI's errors, as its own API and those that imitate it word them. */
import type { Rejection } from '../dialect.ts';
import type { Problem, ProblemKind } from '../problem.ts';

interface Row {
  readonly status: number;
  readonly type: string;
  readonly code: string | null;
  readonly message: string;
}

const rows: Record<ProblemKind, Row> = {
  'bad-request': { status: 400, type: 'invalid_request_error', code: null, message: 'Invalid request.' },
  auth: {
    status: 401,
    type: 'invalid_request_error',
    code: 'invalid_api_key',
    message:
      'Incorrect API key provided: sk-*****. You can find your API key at https://platform.openai.com/account/api-keys.',
  },
  billing: {
    status: 402,
    type: 'insufficient_balance',
    code: 'invalid_request_error',
    message: 'Insufficient Balance',
  },
  forbidden: {
    status: 403,
    type: 'request_forbidden',
    code: 'unsupported_country_region_territory',
    message: 'Country, region, or territory not supported',
  },
  'not-found': {
    status: 404,
    type: 'invalid_request_error',
    code: 'model_not_found',
    message: 'The model does not exist or you do not have access to it.',
  },
  timeout: { status: 408, type: 'timeout', code: null, message: 'The request timed out.' },
  'too-large': {
    status: 413,
    type: 'invalid_request_error',
    code: null,
    message: 'Request body too large.',
  },
  'rate-limit': {
    status: 429,
    type: 'requests',
    code: 'rate_limit_exceeded',
    message:
      'Rate limit reached for gpt-5 in organization org-x on requests per min (RPM): Limit 3, Used 3, Requested 1. Please try again in 20s.',
  },
  quota: {
    status: 429,
    type: 'insufficient_quota',
    code: 'insufficient_quota',
    message: 'You exceeded your current quota, please check your plan and billing details.',
  },
  server: {
    status: 500,
    type: 'server_error',
    code: null,
    message: 'The server had an error while processing your request. Sorry about that!',
  },
  unavailable: {
    status: 503,
    type: 'service_unavailable_error',
    code: null,
    message: 'The engine is currently overloaded, please try again later.',
  },
  overloaded: { status: 529, type: 'overloaded_error', code: 'server_is_overloaded', message: 'Overloaded' },
  context: {
    status: 400,
    type: 'invalid_request_error',
    code: 'context_length_exceeded',
    message: 'Your input exceeds the context window of this model. Please adjust your input and try again.',
  },
  policy: {
    status: 400,
    type: 'invalid_request_error',
    code: 'content_policy_violation',
    message: 'Your request was rejected as a result of our safety system.',
  },
};

export function openaiError(problem: Problem): {
  type: string;
  code: string | null;
  message: string;
  param: string | null;
} {
  const row = rows[problem.kind];
  return {
    message: problem.message ?? row.message,
    type: row.type,
    param: problem.param ?? null,
    code: problem.code ?? row.code,
  };
}

export function openaiRejection(problem: Problem): Rejection {
  return { status: rows[problem.kind].status, body: { error: openaiError(problem) } };
}
