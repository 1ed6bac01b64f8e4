/**
 * The HTTP client. Every failure is an `ApiError` whose message can be shown as it is; `unreachable` means that the
 * request may or may not have arrived. Retries nothing.
 */
import {
  ApiError,
  apiPrefix,
  type ApiErrorReason,
  type ParkedAction,
  type PressReceipt,
  type SayReceipt,
  type SearchHit,
  type SendRequest,
  type SessionSummary,
  type StatusReport,
} from '../../src/protocol/api.ts';
import type { CallId } from '../../src/protocol/ids.ts';

const requestTimeoutMs = 20_000;

export interface Api {
  status(): Promise<StatusReport>;
  sessions(page: { limit: number; before?: number }): Promise<readonly SessionSummary[]>;
  session(ref: string): Promise<SessionSummary>;
  send(request: SendRequest): Promise<SayReceipt>;
  press(ref: string, value: string, externalId: string): Promise<PressReceipt>;
  stop(ref: string): Promise<boolean>;
  answer(ref: string, callId: CallId, text: string): Promise<boolean>;
  parked(ref: string, action: ParkedAction): Promise<boolean>;
  delete(ref: string): Promise<boolean>;
  search(query: string, limit: number, signal: AbortSignal): Promise<readonly SearchHit[]>;
  login(key: string): Promise<void>;
}

export function createApi(): Api {
  return {
    status: () => request<StatusReport>('GET', '/status'),
    async sessions({ limit, before }) {
      const page = before === undefined ? '' : `&before=${before}`;
      return (await request<{ sessions: SessionSummary[] }>('GET', `/sessions?limit=${limit}${page}`)).sessions;
    },
    session: (ref) => request<SessionSummary>('GET', sessionPath(ref)),
    send: (message) => request<SayReceipt>('POST', '/say', { body: message }),
    press: (ref, value, externalId) =>
      request<PressReceipt>('POST', `${sessionPath(ref)}/press`, { body: { value, externalId } }),
    stop: async (ref) => (await request<{ stopped: boolean }>('POST', `${sessionPath(ref)}/stop`)).stopped,
    async answer(ref, callId, text) {
      const body = { callId, text };
      return (await request<{ answered: boolean }>('POST', `${sessionPath(ref)}/answers`, { body })).answered;
    },
    parked: async (ref, action) =>
      (await request<{ done: boolean }>('POST', `${sessionPath(ref)}/parked`, { body: { action } })).done,
    delete: async (ref) => (await request<{ deleted: boolean }>('DELETE', sessionPath(ref))).deleted,
    async search(query, limit, signal) {
      const path = `/search?q=${encodeURIComponent(query)}&limit=${limit}`;
      return (await request<{ hits: SearchHit[] }>('GET', path, { signal })).hits;
    },
    login: (key) => request<void>('POST', '/login', { body: { key } }),
  };
}

export function eventsUrl(ref: string, after: number): string {
  return `${apiPrefix}${sessionPath(ref)}/events?after=${after}`;
}

function sessionPath(ref: string): string {
  return `/sessions/${encodeURIComponent(ref)}`;
}

async function request<T>(
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  options: { body?: unknown; signal?: AbortSignal } = {},
): Promise<T> {
  const timeout = AbortSignal.timeout(requestTimeoutMs);
  try {
    const response = await fetch(apiPrefix + path, {
      method,
      signal: options.signal === undefined ? timeout : AbortSignal.any([options.signal, timeout]),
      ...(options.body === undefined
        ? {}
        : { body: JSON.stringify(options.body), headers: { 'content-type': 'application/json' } }),
    });
    if (!response.ok) throw await errorOf(response);
    return response.status === 204 ? (undefined as T) : ((await response.json()) as T);
  } catch (error) {
    if (error instanceof ApiError || options.signal?.aborted) throw error;
    throw new ApiError('unreachable', 'Talaria does not answer. Is the gateway running?');
  }
}

const reasonByStatus: Readonly<Record<number, ApiErrorReason>> = {
  400: 'bad-request',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not-found',
  413: 'too-large',
  429: 'busy',
  502: 'unreachable',
  503: 'draining',
  504: 'unreachable',
};

async function errorOf(response: Response): Promise<ApiError> {
  // A proxy in between answers with a page of its own; then the status has to do.
  const body = (await response.json().catch(() => null)) as { error?: { reason?: string; message?: string } } | null;
  const reason = (body?.error?.reason as ApiErrorReason | undefined) ?? reasonByStatus[response.status] ?? 'failed';
  return new ApiError(reason, body?.error?.message ?? `Talaria answered with status ${response.status}.`);
}
