/** Why a server could not be connected, as an `McpError`: what happened and what to do, in our words. */
import type { Sdk } from './open-connection.ts';
import { connectTimeoutMs } from './open-connection.ts';
import { McpError } from './mcp-server.ts';

const causesMax = 5;

export interface FailedAttempt {
  readonly name: string;
  readonly sdk: Sdk;
  readonly signal: AbortSignal;
  /** Who could have signed in. */
  readonly person: { readonly signal: AbortSignal } | null;
}

export function signInNeeded(name: string): McpError {
  return new McpError('sign-in-needed', `Somebody has to sign in first: talaria mcp test ${name}`);
}

export function connectFailure({ name, sdk, signal, person }: FailedAttempt, error: unknown): Error {
  if (person?.signal.aborted === true) return person.signal.reason as Error;
  if (signal.aborted) return cutShort(signal, error);
  if (error instanceof McpError) {
    return error.reason === 'sign-in-needed' && person === null ? signInNeeded(name) : error;
  }
  if (sdk.UnauthorizedError.isInstance(error)) return signInNeeded(name);
  const why = { cause: error, said: innermost(error) };
  if (person !== null && sdk.OAuthError.isInstance(error)) {
    return new McpError('sign-in-needed', 'The sign-in was refused.', why);
  }
  if (sdk.SdkHttpError.isInstance(error)) {
    const { status } = error;
    if (status !== 401 && status !== 403) {
      return new McpError('unreachable', `It answers with HTTP ${status}; is the address right?`, why);
    }
    const way = `headers in mcp_servers.${name}.headers, or auth: oauth`;
    return new McpError('sign-in-needed', `It refuses us (HTTP ${status}); it may need ${way}.`, why);
  }
  if (sdk.SdkError.isInstance(error) && error.code === sdk.SdkErrorCode.RequestTimeout) {
    return new McpError('timeout', 'It does not answer.', why);
  }
  return new McpError('unreachable', 'It can not be reached.', why);
}

function cutShort(signal: AbortSignal, cause: unknown): McpError {
  const isTimeout = signal.reason instanceof DOMException && signal.reason.name === 'TimeoutError';
  const message = isTimeout ? `It did not answer within ${connectTimeoutMs / 1_000} seconds.` : 'It was closed.';
  return new McpError(isTimeout ? 'timeout' : 'closed', message, { cause });
}

/** What really happened, below what was made of it on the way. */
function innermost(error: unknown): string {
  let found = error;
  for (let depth = 0; depth < causesMax && found instanceof Error && found.cause instanceof Error; depth += 1) {
    found = found.cause;
  }
  return found instanceof Error ? found.message : String(found);
}
