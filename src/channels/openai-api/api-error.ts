/**
 * Failures as OpenAI's clients expect them: `{ error: { message, type, param, code } }` with a fitting status. The
 * official client repeats a request by itself after 409, 429 and 5xx; a turn may have done things to the world by then,
 * so that is forbidden (`x-should-retry`) unless the request was turned away before anything happened.
 */
import { HttpProblem, json, type HttpResponse } from '../../http/http-message.ts';
import { ApiError, type ApiErrorReason } from '../../protocol/api.ts';
import type { RefusalReason } from './port.ts';

const retryAfterSecondsOtherwise = 5;

export type ErrorType =
  | 'invalid_request_error'
  | 'authentication_error'
  | 'permission_error'
  | 'rate_limit_error'
  | 'server_error';

export interface ErrorDetails {
  readonly status: number;
  readonly type: ErrorType;
  readonly code: string | null;
  readonly param?: string | null;
  /** Whether the same request may be answered a little later. */
  readonly retryable?: boolean;
  /** How much later; by default a few seconds. */
  readonly retryAfterSeconds?: number;
}

/** A request that can't be answered, with a sentence for whoever sent it. */
export class OpenAiError extends Error {
  override readonly name = 'OpenAiError';
  readonly details: ErrorDetails;

  constructor(message: string, details: ErrorDetails) {
    super(message);
    this.details = details;
  }
}

/** The request itself is wrong: `param` names the field. */
export function badRequest(message: string, param: string | null, code: string | null = null): OpenAiError {
  return new OpenAiError(message, { status: 400, type: 'invalid_request_error', code, param });
}

export function unsupported(message: string, param: string): OpenAiError {
  return badRequest(message, param, 'unsupported_parameter');
}

export function errorObject({ message, details }: OpenAiError) {
  return { error: { message, type: details.type, param: details.param ?? null, code: details.code } };
}

export function errorResponse(error: OpenAiError): HttpResponse {
  const { status, retryable = false, retryAfterSeconds = retryAfterSecondsOtherwise } = error.details;
  const response = json(errorObject(error), status);
  const advice: Record<string, string> = retryable
    ? { 'retry-after': String(retryAfterSeconds) }
    : { 'x-should-retry': 'false' };
  return { ...response, headers: { ...response.headers, ...advice } };
}

/** Nothing has happened yet: it may be repeated. */
export function tooFast(waitMs: number): OpenAiError {
  const seconds = Math.max(1, Math.ceil(waitMs / 1_000));
  return new OpenAiError(`Too many requests came with this key. Try again in ${seconds} s.`, {
    status: 429,
    type: 'rate_limit_error',
    code: 'rate_limit_exceeded',
    retryable: true,
    retryAfterSeconds: seconds,
  });
}

const detailsOfRefusal: Record<RefusalReason, ErrorDetails> = {
  'too-large': { status: 413, type: 'invalid_request_error', code: 'message_too_large', param: 'messages' },
  'queue-full': { status: 429, type: 'rate_limit_error', code: 'queue_full', retryable: true },
  'not-allowed': { status: 403, type: 'permission_error', code: 'not_allowed' },
  draining: { status: 503, type: 'server_error', code: 'draining', retryable: true },
  empty: { status: 400, type: 'invalid_request_error', code: 'empty_message', param: 'messages' },
  'asked-otherwise': { status: 422, type: 'invalid_request_error', code: 'idempotency_key_reused' },
};

/** `param`: where the message was given. */
export function refusal(reason: RefusalReason, text: string, param: string): OpenAiError {
  const details = detailsOfRefusal[reason];
  return new OpenAiError(text, details.param === undefined ? details : { ...details, param });
}

/** What the local API calls the same failures. */
const detailsOfApiError: Record<ApiErrorReason, ErrorDetails> = {
  'bad-request': { status: 400, type: 'invalid_request_error', code: null },
  unauthorized: { status: 401, type: 'authentication_error', code: 'invalid_api_key' },
  forbidden: { status: 403, type: 'permission_error', code: 'not_allowed' },
  'not-found': { status: 404, type: 'invalid_request_error', code: 'not_found' },
  'too-large': { status: 413, type: 'invalid_request_error', code: 'message_too_large' },
  busy: { status: 409, type: 'invalid_request_error', code: 'conflict' },
  draining: { status: 503, type: 'server_error', code: 'draining', retryable: true },
  unreachable: { status: 502, type: 'server_error', code: 'unreachable' },
  failed: { status: 500, type: 'server_error', code: 'failed' },
};

const detailsOfProblems: Readonly<Record<number, Pick<ErrorDetails, 'type' | 'code'>>> = {
  400: { type: 'invalid_request_error', code: 'invalid_request' },
  401: { type: 'authentication_error', code: 'invalid_api_key' },
  403: { type: 'permission_error', code: 'not_allowed' },
  404: { type: 'invalid_request_error', code: 'unknown_url' },
  405: { type: 'invalid_request_error', code: 'method_not_supported' },
  408: { type: 'invalid_request_error', code: 'request_timeout' },
  413: { type: 'invalid_request_error', code: 'request_too_large' },
  415: { type: 'invalid_request_error', code: 'unsupported_media_type' },
  429: { type: 'rate_limit_error', code: 'rate_limit_exceeded' },
};

/** What the server itself says, by its status. */
export function problemError(status: number, message: string): OpenAiError {
  const otherwise = { type: status >= 500 ? 'server_error' : 'invalid_request_error', code: null } as const;
  return new OpenAiError(message, { status, ...(detailsOfProblems[status] ?? otherwise) });
}

/** Runs a handler; what it throws that a client can understand becomes an error object, the rest goes on upwards. */
export async function answeringErrors(handle: () => Promise<HttpResponse> | HttpResponse): Promise<HttpResponse> {
  try {
    return await handle();
  } catch (error) {
    if (error instanceof OpenAiError) return errorResponse(error);
    if (error instanceof HttpProblem) return errorResponse(problemError(error.status, error.message));
    if (error instanceof ApiError)
      return errorResponse(new OpenAiError(error.message, detailsOfApiError[error.reason]));
    throw error;
  }
}
