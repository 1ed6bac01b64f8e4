/**
 * What can go wrong between here and a server, as model errors that say exactly where: while waiting for a place, while
 * connecting, while waiting for bytes, or later. Pure.
 */
import { ModelError } from '../model.ts';

/** How far a request had come when it failed. */
export type Stage = 'connecting' | 'waiting' | 'reading';

const timeoutCodes = new Set(['ETIMEDOUT', 'ESOCKETTIMEDOUT', 'ERR_SOCKET_CONNECTION_TIMEOUT']);

export function cancelled(): ModelError {
  return new ModelError('cancelled', 'The answer was stopped.');
}

export function clientClosed(): ModelError {
  return new ModelError('connection', 'The connection to the model was closed.', { transport: 'reset' });
}

export function poolTimeout(host: string, waitedMs: number): ModelError {
  return new ModelError('timeout', `No connection to ${host} became free within ${seconds(waitedMs)}.`, {
    transport: 'pool-timeout',
  });
}

export function connectTimeout(host: string, waitedMs: number): ModelError {
  return new ModelError('timeout', `${host} could not be connected to within ${seconds(waitedMs)}.`, {
    transport: 'connect-timeout',
  });
}

export function readTimeout(host: string, waitedMs: number): ModelError {
  return new ModelError('timeout', `${host} sent nothing for ${seconds(waitedMs)}.`, { transport: 'read-timeout' });
}

/** An error of the socket or of the HTTP parser. */
export function wireError(error: unknown, host: string, stage: Stage): ModelError {
  const code = codeOf(error);
  const told = code === '' ? '' : ` (${code})`;
  if (code === 'ERR_INVALID_CHAR') {
    return new ModelError('auth', `The key for ${host} has characters in it that can't be sent. Enter it again.`);
  }
  if (code.startsWith('HPE_')) {
    return new ModelError('malformed-stream', `${host} sent something that is not HTTP${told}.`, { cause: error });
  }
  if (stage === 'connecting') {
    if (timeoutCodes.has(code)) {
      return new ModelError('timeout', `${host} could not be connected to${told}.`, {
        transport: 'connect-timeout',
        cause: error,
      });
    }
    return new ModelError('connection', `${host} could not be connected to${told}.`, {
      transport: 'connect-error',
      cause: error,
    });
  }
  if (timeoutCodes.has(code)) {
    return new ModelError('timeout', `${host} stopped answering${told}.`, { transport: 'read-timeout', cause: error });
  }
  const when = stage === 'waiting' ? 'before it answered' : 'in the middle of the answer';
  return new ModelError('connection', `${host} ended the connection ${when}${told}.`, {
    transport: 'reset',
    cause: error,
  });
}

export function codeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('code' in error)) return '';
  return typeof error.code === 'string' ? error.code : '';
}

function seconds(ms: number): string {
  return ms < 1_000 ? `${ms} ms` : `${Math.round(ms / 1_000)} s`;
}
